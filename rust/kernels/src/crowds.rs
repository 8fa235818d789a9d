//! Buckets of any size → candidates, so many a row at most.
//!
//! A bucket of `n` rows has n²/2 pairs, and where all of a crowd are alike every band has such a bucket. So a row is paired with no more than
//! `most` of those that follow it, in the order in which the bucket's rows stand; behind the last comes the first again. Buckets of up to 2·most + 1
//! rows give all their pairs that way. Of two collections, each row of the larger side is paired with `most` of the smaller one.

/// Pairs of rows that share a bucket, packed as a·2³² + b with a < b, and how many pairs were left out.
///
/// `runs` says where each bucket begins in `rows`, and ends with their number. With a `boundary` only pairs across it are made.
pub fn pairs(rows: &[u32], runs: &[i64], boundary: Option<u32>, most: usize) -> (Vec<u64>, u64) {
    let mut found = Vec::new();
    let mut left_out = 0;
    let mut sides: (Vec<u32>, Vec<u32>) = Default::default();
    for run in runs.windows(2) {
        let bucket = &rows[run[0] as usize..run[1] as usize];
        left_out += match boundary {
            None => within(bucket, most, &mut found),
            Some(boundary) => {
                sides.0.clear();
                sides.1.clear();
                for &row in bucket {
                    if row < boundary { sides.0.push(row) } else { sides.1.push(row) }
                }
                across(&sides.0, &sides.1, most, &mut found)
            }
        };
    }
    (found, left_out)
}

fn packed(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

fn within(bucket: &[u32], most: usize, found: &mut Vec<u64>) -> u64 {
    let n = bucket.len();
    if n <= 2 * most + 1 {
        for (i, &a) in bucket.iter().enumerate() {
            found.extend(bucket[i + 1..].iter().map(|&b| packed(a, b)));
        }
        return 0;
    }
    for (i, &a) in bucket.iter().enumerate() {
        found.extend(bucket[i + 1..].iter().chain(bucket).take(most).map(|&b| packed(a, b)));
    }
    (n as u64 * (n as u64 - 1)) / 2 - (n * most) as u64
}

fn across(first: &[u32], second: &[u32], most: usize, found: &mut Vec<u64>) -> u64 {
    let (large, small) = if first.len() >= second.len() { (first, second) } else { (second, first) };
    if small.is_empty() {
        return 0;
    }
    let each = most.min(small.len());
    for (i, &a) in large.iter().enumerate() {
        let turned = &small[i % small.len()..];
        found.extend(turned.iter().chain(small).take(each).map(|&b| packed(a, b)));
    }
    (large.len() * (small.len() - each)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn small_buckets_give_all_pairs_and_large_ones_so_many_a_row() {
        for (n, most) in [(0u32, 3), (1, 3), (2, 3), (7, 3), (8, 3), (50, 3), (50, 25), (50, 24)] {
            let rows: Vec<u32> = (0..n).map(|i| (i * 37) % 101).collect();
            let (found, left_out) = pairs(&rows, &[0, i64::from(n)], None, most);
            let distinct: BTreeSet<u64> = found.iter().copied().collect();
            assert_eq!(distinct.len(), found.len());
            assert_eq!(found.len() as u64 + left_out, u64::from(n) * u64::from(n.saturating_sub(1)) / 2);
            assert_eq!(left_out == 0, n as usize <= 2 * most + 1);
        }
    }

    #[test]
    fn across_a_boundary_a_small_side_meets_everyone() {
        for (first, second, most) in
            [(1u32, 1000u32, 4), (4, 1000, 4), (5, 1000, 4), (1000, 6, 4), (30, 30, 40), (0, 9, 2)]
        {
            let rows: Vec<u32> = (0..first + second).rev().collect();
            let (found, left_out) = pairs(&rows, &[0, rows.len() as i64], Some(first), most);
            let distinct: BTreeSet<u64> = found.iter().copied().collect();
            assert_eq!(distinct.len(), found.len());
            assert!(
                found.iter().all(|pair| (pair >> 32) < u64::from(first) && (pair & 0xFFFF_FFFF) >= u64::from(first))
            );
            assert_eq!(found.len() as u64 + left_out, u64::from(first) * u64::from(second));
            assert_eq!(left_out == 0, first.min(second) as usize <= most);
        }
    }
}
