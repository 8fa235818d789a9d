//! The whole road, held against brute force.

use std::collections::BTreeMap;

use super::entries::{Asking, Cut, entries, everybody};
use super::pairs::{Candidates, Runs, candidates};
use super::shared::{Met, shared};
use super::{Bound, entries, order};
use crate::hash::mix;
use crate::simd::Level;
use crate::verify::Rows;

/// Sets of up to `size` elements, low numbers more often than high ones.
fn sets(seed: u64, count: u64, size: u64, universe: u64) -> (Vec<u64>, Vec<i64>) {
    let (mut elements, mut offsets) = (Vec::new(), vec![0]);
    for row in 0..count {
        let draw = |i: u64| {
            let x = mix(mix(seed * 1000 + row) + i) % universe;
            mix(mix(x) % (x + 1) + 77)
        };
        let mut set: Vec<u64> = (0..mix(seed + row) % (size + 1)).map(draw).collect();
        // Every third set is like the one before, so that there are pairs at every similarity.
        if row % 3 == 2 {
            let before: &[u64] = &elements[offsets[row as usize - 1] as usize..];
            set = before.iter().copied().filter(|x| x % 7 != row % 7).chain(set.into_iter().take(1)).collect();
        }
        set.sort_unstable();
        set.dedup();
        elements.extend(set);
        offsets.push(elements.len() as i64);
    }
    (elements, offsets)
}

fn joined(
    sets: &(Vec<u64>, Vec<i64>),
    bound: Bound,
    block: u32,
    boundary: Option<u32>,
    suffix: bool,
    whole: bool,
) -> Found {
    let (elements, offsets) = sets;
    let mut counts = vec![0; 1 << 8];
    order::count(elements, &mut counts);
    let codes = order::ordered(elements, offsets, &order::ranks(&counts));
    // Whole sets are prefixes that are long enough for any bound.
    let sizes: Vec<u32> = offsets.windows(2).map(|o| (o[1] - o[0]) as u32).collect();
    let mut counts = vec![0; 1 << 8];
    entries::count(&codes, offsets, &sizes, &mut counts);
    let rows: Vec<u32> = (0..sizes.len() as u32).collect();
    // Of containment, sets ask by what they must share with one of their own size, or with any other of a second collection.
    let lengths: Vec<u32> =
        rows.iter().zip(&sizes).map(|(&row, &size)| asking_length(bound, row, size, boundary)).collect();
    let mut asking_counts = vec![0; 1 << 8];
    entries::count(&codes, offsets, &lengths, &mut asking_counts);
    let asking = matches!(bound, Bound::Containment(_)).then_some(Asking { lengths: &lengths, counts: &asking_counts });
    let cut = Cut { counts: &counts, block, boundary, asking };
    let made = if whole {
        everybody(&codes, offsets, &rows, &sizes, rows.len() as u32, &cut)
    } else {
        entries(&codes, offsets, &rows, &sizes, &cut)
    };
    let mut places: Vec<usize> = (0..made.key.len()).collect();
    places.sort_by_key(|&i| made.key[i]);
    fn by<T: Copy>(column: &[T], places: &[usize]) -> Vec<T> {
        places.iter().map(|&i| column[i]).collect()
    }
    let (key, row, size) = (by(&made.key, &places), by(&made.row, &places), by(&made.size, &places));
    let (position, previous) = (by(&made.position, &places), by(&made.previous, &places));
    let (bits, side) = (by(&made.bits, &places), by(&made.side, &places));
    let runs =
        Runs { key: &key, row: &row, size: &size, position: &position, previous: &previous, bits: &bits, side: &side };
    let across = boundary.is_some();
    let mut found = BTreeMap::new();
    for level in Level::available() {
        let Candidates { a, b, at_a, at_b } = candidates(level, runs, bound, across);
        let held = Rows::new(vec![(&codes[..], &offsets[..])]);
        let counts = shared(&held, Met { a: &a, b: &b, at_a: &at_a, at_b: &at_b }, bound, across, suffix, whole);
        let mut once = BTreeMap::new();
        for ((&a, &b), counts) in a.iter().zip(&b).zip(&counts) {
            if counts.shared > 0 {
                assert_eq!(once.insert((a, b), counts.shared), None, "a pair was found twice");
            }
        }
        assert!(found.is_empty() || found == once);
        found = once;
    }
    found
}

fn asking_length(bound: Bound, row: u32, size: u32, boundary: Option<u32>) -> u32 {
    match boundary {
        _ if size == 0 => 0,
        Some(boundary) if row >= boundary => 0,
        Some(_) => size,
        None => (size + 1).saturating_sub(bound.least(size, size, false)).min(size),
    }
}

type Found = BTreeMap<(u32, u32), u32>;

fn brute(sets: &(Vec<u64>, Vec<i64>), bound: Bound, boundary: Option<u32>) -> Found {
    let (elements, offsets) = sets;
    let rows = offsets.len() as u32 - 1;
    let set = |row: u32| &elements[offsets[row as usize] as usize..offsets[row as usize + 1] as usize];
    let mut found = BTreeMap::new();
    for (a, b) in (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b))) {
        if boundary.is_some_and(|boundary| (a < boundary) == (b < boundary)) {
            continue;
        }
        let shared = set(a).iter().filter(|x| set(b).contains(x)).count() as u32;
        let least = bound.least(set(a).len() as u32, set(b).len() as u32, boundary.is_some());
        if shared > 0 && least > 0 && shared >= least {
            found.insert((a, b), shared);
        }
    }
    found
}

#[test]
fn pairs_are_those_of_brute_force_each_once() {
    let mut all = 0;
    for seed in 0..40 {
        let sets = sets(seed, 40, 1 + seed % 15, 5 + seed * 7);
        for t in [0.05, 0.5, 0.8, 1.0] {
            for bound in [
                Bound::Jaccard(t),
                Bound::Containment(t),
                Bound::Cosine(t),
                Bound::Overlap(1.0 + t * 4.0),
                Bound::Levenshtein { apart: 2, lost: 4 },
                Bound::Indel { apart: 2, lost: 6 },
            ] {
                for boundary in [None, Some(15)] {
                    let expected = brute(&sets, bound, boundary);
                    all += expected.len();
                    let ways = [(1, false, false), (3, true, false), (4096, false, false), (4, true, true)];
                    for (block, suffix, whole) in ways {
                        let found = joined(&sets, bound, block, boundary, suffix, whole);
                        assert_eq!(found, expected, "{bound:?} {boundary:?} block {block}");
                    }
                }
            }
        }
    }
    assert!(all > 10_000);
}
