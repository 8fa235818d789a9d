//! Buckets → candidates, and candidates → distinct candidates.

use rayon::prelude::*;

use crate::radix::sorted_runs;

/// Every pair of rows that share a bucket, lower row first. `runs` says where each bucket begins in `rows`, and ends with their number.
///
/// The caller keeps large buckets away: this is quadratic in a bucket's size.
pub fn pair_up(rows: &[u32], runs: &[i64]) -> (Vec<u32>, Vec<u32>) {
    let buckets = runs.len().saturating_sub(1);
    let pieces: Vec<(Vec<u32>, Vec<u32>)> = (0..buckets.div_ceil(4096))
        .into_par_iter()
        .map(|piece| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for i in piece * 4096..((piece + 1) * 4096).min(buckets) {
                let bucket = &rows[runs[i] as usize..runs[i + 1] as usize];
                for (j, &x) in bucket.iter().enumerate() {
                    for &y in &bucket[j + 1..] {
                        a.push(x.min(y));
                        b.push(x.max(y));
                    }
                }
            }
            (a, b)
        })
        .collect();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (x, y) in pieces {
        a.extend(x);
        b.extend(y);
    }
    (a, b)
}

/// Sorts pairs by `a`, then `b`, and keeps each once.
pub fn distinct(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let keys: Vec<u64> = a.iter().zip(b).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)).collect();
    let (mut keys, _) = sorted_runs(&[&keys], 1, usize::MAX);
    keys.dedup();
    keys.iter().map(|&key| ((key >> 32) as u32, key as u32)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeSet;

    #[test]
    fn pairs_are_those_of_a_double_loop() {
        let rows: Vec<u32> = (0..60).map(|i| (mix(i) % 40) as u32).collect();
        let runs = [0, 3, 3, 10, 60];
        let (a, b) = pair_up(&rows, &runs);
        assert_eq!(a.len(), 3 + 21 + 50 * 49 / 2);
        assert!(a.iter().zip(&b).all(|(x, y)| x <= y));
    }

    #[test]
    fn distinct_pairs_are_a_sorted_set() {
        for bound in [3, 1000, u64::from(u32::MAX)] {
            let a: Vec<u32> = (0..5000).map(|i| (mix(i) % bound) as u32).collect();
            let b: Vec<u32> = (0..5000).map(|i| (mix(i + 5000) % bound) as u32).collect();
            let expected: BTreeSet<(u32, u32)> = a.iter().copied().zip(b.iter().copied()).collect();
            let (x, y) = distinct(&a, &b);
            assert_eq!(x.into_iter().zip(y).collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
