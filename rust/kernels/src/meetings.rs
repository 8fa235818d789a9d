//! Runs of rows → how often every two rows meet, as much of it at a time as memory allows.
//!
//! A run is the rows that share something: an element, a slot's value, a bucket. A run of n rows has n²/2 pairs, so a call takes only
//! those whose places in the run are so and so far apart; n rows then give n pairs a place of distance, however long the run, and the
//! calls for all distances together give every pair once.

use std::ops::RangeInclusive;

/// The pairs of rows that share runs, packed as `a << 32 | b` and sorted, each with the number of runs it shares.
///
/// `runs` says where each run begins in `rows`, and ends with their number. Places are those of the run's rows in ascending order, and pairs
/// stand `apart` places apart, one or more. With a `boundary`, `a` is below it and `b` is not. A row that is twice in a run does not meet itself.
/// Only pairs whose `a` is one of `lower` are made: what all pairs together would take is bounded by calls for one range after the other.
pub fn meetings(
    rows: &[u32],
    runs: &[i64],
    apart: RangeInclusive<usize>,
    boundary: Option<u32>,
    lower: RangeInclusive<u32>,
) -> (Vec<u64>, Vec<u32>) {
    let (mut pairs, mut run) = (Vec::new(), Vec::new());
    for edge in runs.windows(2) {
        run.clear();
        run.extend_from_slice(&rows[edge[0] as usize..edge[1] as usize]);
        run.sort_unstable();
        // Rows of the first collection come first, and meet only what comes after all of them.
        let across = boundary.map(|boundary| run.partition_point(|&row| row < boundary));
        let start = run.partition_point(|row| row < lower.start());
        let end = run.partition_point(|row| row <= lower.end()).min(across.unwrap_or(run.len()));
        for (place, &a) in run.iter().enumerate().take(end).skip(start) {
            let first = place.saturating_add(*apart.start()).max(across.unwrap_or(0));
            let end = place.saturating_add(*apart.end()).saturating_add(1).min(run.len());
            let others = run.get(first..end).unwrap_or_default();
            pairs.extend(others.iter().filter(|&&b| b != a).map(|&b| u64::from(a) << 32 | u64::from(b)));
        }
    }
    counted(pairs)
}

/// Packed pairs sorted, each once, and how often each was there.
pub(crate) fn counted(mut pairs: Vec<u64>) -> (Vec<u64>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.chunk_by(|one, next| one == next).map(|same| (same[0], same.len() as u32)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::{BTreeMap, BTreeSet};

    fn double_loop(rows: &[u32], runs: &[i64], boundary: Option<u32>) -> BTreeMap<u64, u32> {
        let mut found = BTreeMap::new();
        for edge in runs.windows(2) {
            let run = &rows[edge[0] as usize..edge[1] as usize];
            for &a in run {
                for &b in run {
                    if a < b && boundary.is_none_or(|boundary| a < boundary && boundary <= b) {
                        *found.entry(u64::from(a) << 32 | u64::from(b)).or_default() += 1;
                    }
                }
            }
        }
        found
    }

    #[test]
    fn steps_of_any_width_give_every_pair_of_a_double_loop() {
        let mut rows = Vec::new();
        let mut runs = vec![0];
        for (run, length) in [0, 1, 2, 5, 40, 40, 7].into_iter().enumerate() {
            let some: BTreeSet<u64> = (0..length).map(|i| mix(mix(i + 100 * run as u64) % 60)).collect();
            // In no order: the places of a run are those of its rows when sorted.
            rows.extend(some.into_iter().map(|row| row as u32 % 60));
            runs.push(rows.len() as i64);
        }
        for boundary in [None, Some(0), Some(30), Some(u32::MAX)] {
            for width in [1, 3, 100] {
                let mut found = BTreeMap::new();
                for first in (1..=40).step_by(width) {
                    let apart = first..=first + width - 1;
                    let (pairs, times) = meetings(&rows, &runs, apart.clone(), boundary, 0..=u32::MAX);
                    assert!(pairs.is_sorted());
                    // Ranges of lower rows one after the other are the same, in the same order.
                    let parts = [0..=6, 7..=7, 8..=29, 30..=u32::MAX]
                        .map(|lower| meetings(&rows, &runs, apart.clone(), boundary, lower));
                    let (part_pairs, part_times): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                    assert_eq!((part_pairs.concat(), part_times.concat()), (pairs.clone(), times.clone()));
                    for (pair, count) in pairs.into_iter().zip(times) {
                        *found.entry(pair).or_default() += count;
                    }
                }
                assert_eq!(found, double_loop(&rows, &runs, boundary), "{boundary:?} {width}");
            }
        }
    }

    #[test]
    fn a_row_does_not_meet_itself() {
        assert_eq!(meetings(&[4, 4, 9], &[0, 3], 1..=2, None, 0..=u32::MAX), (vec![4 << 32 | 9], vec![2]));
    }
}
