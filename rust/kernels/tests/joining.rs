//! Sorting, pairing, components and stars against the plainest code that does the same.

mod given;

use std::collections::BTreeSet;

use given::on_threads;
use lookalike_kernels::components::{Forest, stars};
use lookalike_kernels::pairing::{distinct, pair_up};
use lookalike_kernels::radix::sorted_runs;
use proptest::prelude::*;

/// Keys that agree in most of their bits, in any part of the word: what a radix sort may get wrong.
fn keys() -> impl Strategy<Value = Vec<u64>> {
    let sizes = prop_oneof![0..20usize, 250..260usize, 900..2000usize];
    (sizes, any::<u64>(), prop_oneof![Just(u64::MAX), any::<u64>(), Just(0xFF), Just(0xFF << 56), Just(0)])
        .prop_flat_map(|(size, base, varying)| {
            prop::collection::vec(any::<u64>(), size)
                .prop_map(move |draws| draws.into_iter().map(|x| base & !varying | x & varying).collect())
        })
}

fn edges(rows: u32) -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0..rows, 0..rows), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn runs_are_stable_and_by_key(keys in keys(), cut in 0..2000usize, least in 1..4usize, most in 1..9usize, threads in 1..4usize) {
        let mut expected: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        expected.sort_by_key(|record| record.0);
        let wanted = |run: &&[(u64, u32)]| (least..=most).contains(&run.len());
        let expected: Vec<_> = expected.chunk_by(|a, b| a.0 == b.0).filter(wanted).flatten().copied().collect();
        let (first, second) = keys.split_at(cut.min(keys.len()));
        let (found, places) = on_threads(threads, || sorted_runs(&[first, second], least, most));
        prop_assert_eq!(found.into_iter().zip(places).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn buckets_give_every_pair_of_their_rows_lower_first(
        buckets in prop::collection::vec(prop::collection::vec(0..50u32, 0..9), 0..30),
    ) {
        let (rows, runs) = given::ragged(&buckets);
        let mut expected = Vec::new();
        for bucket in &buckets {
            for (i, &x) in bucket.iter().enumerate() {
                expected.extend(bucket[i + 1..].iter().map(|&y| (x.min(y), x.max(y))));
            }
        }
        let (a, b) = pair_up(&rows, &runs);
        prop_assert_eq!(a.into_iter().zip(b).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn distinct_pairs_are_a_sorted_set(
        pairs in prop::collection::vec((0..40u32, 0..40u32), 0..600),
        far in prop::collection::vec((any::<u32>(), any::<u32>()), 0..3),
    ) {
        let pairs: Vec<(u32, u32)> = pairs.into_iter().chain(far).collect();
        let (a, b): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        let (x, y) = distinct(&a, &b);
        let expected: BTreeSet<(u32, u32)> = pairs.into_iter().collect();
        prop_assert_eq!(x.into_iter().zip(y).collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn components_are_named_by_their_least_row(pairs in edges(40)) {
        let mut forest = Forest::new(40);
        pairs.iter().for_each(|&(a, b)| forest.join(a, b));
        let labels = forest.labels();
        // The least label spreads along edges until nothing changes.
        let mut expected: Vec<u32> = (0..40).collect();
        for _ in 0..40 {
            for &(a, b) in &pairs {
                let least = expected[a as usize].min(expected[b as usize]);
                (expected[a as usize], expected[b as usize]) = (least, least);
            }
        }
        prop_assert_eq!(&labels, &expected);
        // Joined pair by pair, in another order, and asked on the way.
        let mut forest = Forest::new(40);
        for &(a, b) in pairs.iter().rev() {
            forest.join(b, a);
            prop_assert_eq!(forest.find(a), forest.find(b));
        }
        prop_assert_eq!(forest.labels(), expected);
    }

    #[test]
    fn stars_keep_greedily_and_drop_only_neighbours(
        pairs in edges(25),
        order in Just((0..25u32).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut near = vec![BTreeSet::new(); 25];
        for (a, b) in pairs {
            near[a as usize].insert(b);
            near[b as usize].insert(a);
        }
        let rows: Vec<Vec<u32>> = near.iter().map(|row| row.iter().copied().collect()).collect();
        let (neighbours, first) = given::ragged(&rows);
        let keeper = stars(&order, &first, &neighbours);
        // By definition: a row is kept if no neighbour was kept before it, and else belongs to the first that was.
        let mut kept: Vec<u32> = Vec::new();
        for row in order {
            match kept.iter().find(|&&k| near[row as usize].contains(&k)) {
                Some(&first) => prop_assert_eq!(keeper[row as usize], first),
                None => {
                    prop_assert_eq!(keeper[row as usize], row);
                    kept.push(row);
                }
            }
        }
    }
}

#[test]
fn more_buckets_than_a_piece_holds_are_paired_alike_by_one_thread_and_two() {
    let buckets: Vec<Vec<u32>> = (0..10_000).map(|i| (0..i % 4).map(|j| i * 4 + j).collect()).collect();
    let (rows, runs) = given::ragged(&buckets);
    let one = on_threads(1, || pair_up(&rows, &runs));
    assert_eq!(one, on_threads(2, || pair_up(&rows, &runs)));
    assert_eq!(one.0.len(), 2500 + 2500 * 3);
}
