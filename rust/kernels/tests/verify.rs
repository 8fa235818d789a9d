//! Exact counts are those of brute force, and giving up never loses a pair at or over the floor.

mod given;

use std::collections::BTreeSet;

use given::{on_threads, plain_words, ragged, spec, text, variants};
use lookalike_kernels::sets::shingles;
use lookalike_kernels::shingle::Spec;
use lookalike_kernels::simd::Level;
use lookalike_kernels::verify::{Counts, Rows, compare_sets, compare_texts};
use proptest::prelude::*;

fn brute_force(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> Counts {
    Counts { shared: a.intersection(b).count() as u32, union: a.union(b).count() as u32 }
}

/// Either the exact counts, or none at all of a pair under the floor.
fn check(found: Counts, exact: Counts, at_least: f64) -> Result<(), TestCaseError> {
    if found == Counts::default() {
        let reaches = f64::from(exact.shared) / f64::from(exact.union) >= at_least;
        prop_assert!(exact.union == 0 || !reaches, "gave up {exact:?} at a floor of {at_least}");
    } else {
        prop_assert_eq!(found, exact);
    }
    Ok(())
}

/// Floors of every kind: none, all, quotients that pairs hit exactly, and the least there is.
fn floor() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(f64::MIN_POSITIVE),
        0.0..1.0,
        (1..30u32, 1..30u32).prop_map(|(a, b)| f64::from(a.min(b)) / f64::from(a.max(b))),
    ]
}

fn counts_of_texts(level: Level, texts: &[String], pairs: &[(u32, u32)], spec: &Spec, at_least: f64) -> Vec<Counts> {
    let (values, offsets) = ragged::<u8>(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
    counts(pairs, |left, right, out| {
        compare_texts(level, &Rows::new(vec![(&values, &offsets)]), left, right, spec, at_least, out)
    })
}

fn counts(pairs: &[(u32, u32)], compare: impl FnOnce(&[u32], &[u32], &mut [Counts])) -> Vec<Counts> {
    let (left, right): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
    let mut out = vec![Counts::default(); pairs.len()];
    compare(&left, &right, &mut out);
    out
}

fn check_texts(texts: &[String], pairs: &[(u32, u32)], spec: &Spec, at_least: f64) -> Result<(), TestCaseError> {
    let sets: Vec<BTreeSet<u64>> =
        texts.iter().map(|text| shingles(Level::Scalar, text.as_bytes(), spec).into_iter().collect()).collect();
    let scalar = counts_of_texts(Level::Scalar, texts, pairs, spec, at_least);
    for (&found, &(a, b)) in scalar.iter().zip(pairs) {
        check(found, brute_force(&sets[a as usize], &sets[b as usize]), at_least)?;
    }
    for level in Level::available() {
        prop_assert_eq!(&counts_of_texts(level, texts, pairs, spec, at_least), &scalar);
    }
    Ok(())
}

/// All pairs of rows, a left row's together: the order candidates come in.
fn all_pairs(rows: usize) -> Vec<(u32, u32)> {
    (0..rows as u32).flat_map(|a| (0..rows as u32).map(move |b| (a, b))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn texts_are_counted_like_sets_of_their_shingles(
        texts in prop::collection::vec(text(25), 1..6),
        spec in spec(),
        at_least in floor(),
    ) {
        check_texts(&texts, &all_pairs(texts.len()), &spec, at_least)?;
    }

    #[test]
    fn edited_copies_are_counted_like_sets_of_their_shingles(
        texts in variants(60, 7),
        spec in spec(),
        at_least in floor(),
    ) {
        check_texts(&texts, &all_pairs(texts.len()), &spec, at_least)?;
    }

    #[test]
    fn edited_copies_share_what_they_share_at_any_window(
        texts in variants(40, 7),
        k in 1..12usize,
        at_least in floor(),
    ) {
        check_texts(&texts, &all_pairs(texts.len()), &plain_words(k), at_least)?;
    }

    #[test]
    fn pairs_may_come_in_any_order(
        texts in variants(30, 5),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
        k in 1..6usize,
    ) {
        let pairs: Vec<(u32, u32)> =
            pairs.iter().map(|(a, b)| (a.index(texts.len()) as u32, b.index(texts.len()) as u32)).collect();
        check_texts(&texts, &pairs, &plain_words(k), 0.5)?;
    }

    #[test]
    fn bytes_that_are_no_text_are_counted_alike_on_every_path(
        texts in prop::collection::vec(prop::collection::vec(prop_oneof![select_byte(), any::<u8>()], 0..150), 1..4),
        spec in spec(),
    ) {
        let (values, offsets) = ragged::<u8>(&texts);
        let of = |level| counts(&all_pairs(texts.len()), |left, right, out| {
            compare_texts(level, &Rows::new(vec![(&values, &offsets)]), left, right, &spec, 0.0, out)
        });
        let scalar = of(Level::Scalar);
        for level in Level::available() {
            prop_assert_eq!(&of(level), &scalar);
        }
    }

    #[test]
    fn sets_are_counted_by_brute_force(
        sets in prop::collection::vec(prop::collection::btree_set(0..40u64, 0..30), 1..8),
        spread in any::<bool>(),
        at_least in floor(),
    ) {
        // Elements are hashes in earnest; small numbers that fill neighbouring entries must do as well.
        let element = |x: u64| if spread { lookalike_kernels::hash::mix(x) } else { x << 60 };
        let sets: Vec<BTreeSet<u64>> = sets.iter().map(|set| set.iter().map(|&x| element(x)).collect()).collect();
        let rows: Vec<Vec<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
        let (values, offsets) = ragged(&rows);
        let pairs = all_pairs(sets.len());
        let found = counts(&pairs, |left, right, out| {
            compare_sets(&Rows::new(vec![(&values, &offsets)]), left, right, at_least, out)
        });
        for (found, (a, b)) in found.into_iter().zip(pairs) {
            check(found, brute_force(&sets[a as usize], &sets[b as usize]), at_least)?;
        }
    }

    #[test]
    fn rows_are_the_same_in_any_pieces(
        texts in prop::collection::vec(text(6), 1..12),
        cuts in prop::collection::btree_set(0..12usize, 0..4),
    ) {
        let (values, offsets) = ragged::<u8>(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
        let cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut <= texts.len()).chain([texts.len()]).collect();
        let mut begin = 0;
        let pieces: Vec<(&[u8], &[i64])> = cuts
            .iter()
            .map(|&cut| {
                let piece = (&values[..], &offsets[begin..=cut]);
                begin = cut;
                piece
            })
            .collect();
        let rows = Rows::new(pieces);
        prop_assert_eq!(rows.len(), texts.len());
        prop_assert_eq!(rows.is_empty(), texts.is_empty());
        for (row, text) in texts.iter().enumerate() {
            prop_assert_eq!(rows.get(row as u32), text.as_bytes());
        }
    }
}

fn select_byte() -> impl Strategy<Value = u8> {
    prop::sample::select("ab é漢😀 -".as_bytes().to_vec())
}

#[test]
fn a_thousand_pairs_are_counted_alike_by_one_thread_and_two() {
    let texts: Vec<String> =
        (0..60).map(|i| (0..50).map(|j| format!("w{} ", (i * j * 7 + i / 9) % 23)).collect::<String>()).collect();
    let pairs = all_pairs(texts.len());
    let of = |threads| on_threads(threads, || counts_of_texts(Level::detect(), &texts, &pairs, &plain_words(3), 0.3));
    assert_eq!(of(1), of(2));
}

#[test]
fn a_long_text_and_its_copy_with_one_word_changed_differ_in_k_windows() {
    let words: Vec<String> = (0..20_000).map(|i| format!("w{i}")).collect();
    let mut texts = vec![words.join(" ")];
    for place in [0, 9_999, 19_999] {
        let mut changed = words.clone();
        changed[place] = "other".into();
        texts.push(changed.join(" "));
    }
    let found = counts_of_texts(Level::detect(), &texts, &[(0, 1), (0, 2), (0, 3), (0, 0)], &plain_words(5), 0.9);
    let all = 20_000 - 4;
    let differing = |n: u32| Counts { shared: all - n, union: all + n };
    assert_eq!(found, [differing(1), differing(5), differing(1), differing(0)]);
}
