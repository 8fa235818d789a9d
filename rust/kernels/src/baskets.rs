//! Baskets → how often two items are in one together, and which pairs cannot be frequent (Park, Chen and Yu).
//!
//! In a first pass every pair of items falls into one of 2ᵏ buckets, and only the buckets are counted. A pair is not more frequent than its
//! bucket, so the second pass counts only pairs that fell into a frequent one.

use crate::hash;
use crate::meetings::counted;

/// Pairs that are held before they are added up: 32 MB.
const AT_ONCE: usize = 1 << 22;

/// The bucket of two items by their hashes, in either order.
#[inline(always)]
fn bucket(one: u64, other: u64, bits: u32) -> usize {
    (hash::mix(one.min(other) ^ hash::mix(one.max(other))) >> (64 - bits)) as usize
}

/// How many pairs of items that are in one basket fall into each of 2^`bits` buckets. Items are distinct hashes; `bits` is 1 to 32.
pub fn bucket_counts(items: &[u64], offsets: &[i64], bits: u32) -> Vec<u32> {
    let mut counts = vec![0u32; 1 << bits];
    for edge in offsets.windows(2) {
        let basket = &items[edge[0] as usize..edge[1] as usize];
        for (i, &one) in basket.iter().enumerate() {
            for &other in &basket[i + 1..] {
                let count = &mut counts[bucket(one, other, bits)];
                *count = count.saturating_add(1);
            }
        }
    }
    counts
}

/// Which buckets are frequent, and the hash of every item by its number.
pub struct Filter<'a> {
    pub hashes: &'a [u64],
    /// One entry a bucket, 2ᵏ of them.
    pub frequent: &'a [bool],
}

/// Pairs of item numbers that are in one basket, packed as `a << 32 | b`, a < b, and in how many baskets.
///
/// Numbers are distinct and ascend within a basket. With a filter, only pairs of frequent buckets count. A pair may come several times, with a part of
/// its count each, so that few pairs need be held at once.
pub fn pair_counts(items: &[u32], offsets: &[i64], filter: Option<&Filter<'_>>) -> (Vec<u64>, Vec<u32>) {
    let (mut pairs, mut times) = (Vec::new(), Vec::new());
    let mut held = Vec::new();
    let mut put_down = |held: &mut Vec<u64>| {
        let (some, counts) = counted(std::mem::take(held));
        pairs.extend(some);
        times.extend(counts);
    };
    for edge in offsets.windows(2) {
        let basket = &items[edge[0] as usize..edge[1] as usize];
        for (i, &a) in basket.iter().enumerate() {
            let others = basket[i + 1..].iter().filter(|&&b| filter.is_none_or(|filter| filter.lets_through(a, b)));
            held.extend(others.map(|&b| u64::from(a) << 32 | u64::from(b)));
            if held.len() >= AT_ONCE {
                put_down(&mut held);
            }
        }
    }
    put_down(&mut held);
    (pairs, times)
}

impl Filter<'_> {
    #[inline(always)]
    fn lets_through(&self, a: u32, b: u32) -> bool {
        let bits = self.frequent.len().trailing_zeros();
        self.frequent[bucket(self.hashes[a as usize], self.hashes[b as usize], bits)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeMap;

    fn baskets() -> (Vec<u32>, Vec<i64>) {
        let (mut items, mut offsets) = (Vec::new(), vec![0]);
        for basket in 0..200u64 {
            let mut some: Vec<u32> = (0..basket % 9).map(|i| (mix(basket * 10 + i) % 30) as u32).collect();
            some.sort_unstable();
            some.dedup();
            items.extend(some);
            offsets.push(items.len() as i64);
        }
        (items, offsets)
    }

    fn double_loop(items: &[u32], offsets: &[i64]) -> BTreeMap<u64, u32> {
        let mut counts = BTreeMap::new();
        for edge in offsets.windows(2) {
            let basket = &items[edge[0] as usize..edge[1] as usize];
            for &a in basket {
                basket.iter().filter(|&&b| a < b).for_each(|&b| {
                    *counts.entry(u64::from(a) << 32 | u64::from(b)).or_default() += 1;
                });
            }
        }
        counts
    }

    #[test]
    fn pairs_are_counted_as_by_a_double_loop() {
        let (items, offsets) = baskets();
        let (pairs, times) = pair_counts(&items, &offsets, None);
        assert_eq!(pairs.into_iter().zip(times).collect::<BTreeMap<_, _>>(), double_loop(&items, &offsets));
    }

    #[test]
    fn no_pair_is_more_frequent_than_its_bucket_and_the_filter_keeps_frequent_buckets() {
        let (items, offsets) = baskets();
        let hashes: Vec<u64> = (0..30).map(|item| mix(item + 7)).collect();
        let hashed: Vec<u64> = items.iter().map(|&item| hashes[item as usize]).collect();
        for bits in [1, 4, 12] {
            let buckets = bucket_counts(&hashed, &offsets, bits);
            let truth = double_loop(&items, &offsets);
            assert_eq!(buckets.iter().sum::<u32>(), truth.values().sum::<u32>());
            let of = |pair: u64| buckets[bucket(hashes[(pair >> 32) as usize], hashes[pair as u32 as usize], bits)];
            assert!(truth.iter().all(|(&pair, &count)| count <= of(pair)));
            let frequent: Vec<bool> = buckets.iter().map(|&count| count >= 5).collect();
            let (pairs, times) = pair_counts(&items, &offsets, Some(&Filter { hashes: &hashes, frequent: &frequent }));
            let kept: BTreeMap<u64, u32> = truth.into_iter().filter(|&(pair, _)| of(pair) >= 5).collect();
            assert_eq!(pairs.into_iter().zip(times).collect::<BTreeMap<_, _>>(), kept);
        }
    }
}
