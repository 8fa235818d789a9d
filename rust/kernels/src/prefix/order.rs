//! One order of all elements, rarest first, without a dictionary of them.
//!
//! Elements are premixed, so their top bits are as good as a draw: elements are counted by those bits alone, in buckets. Replacing
//! a bucket's number by its rank among the buckets, least count first, is a bijection of 64-bit numbers, so a code stands for exactly one
//! element, and comparing codes is comparing (count of the bucket, element).

/// How many buckets there may be, as a power of two: ranks of 22 bits are 16 MB of table.
pub const MOST_BITS: u32 = 22;

/// Adds the elements of each bucket to `counts`, which has a power of two of entries.
pub fn count(elements: &[u64], counts: &mut [u32]) {
    let shift = 64 - counts.len().trailing_zeros();
    for &x in elements {
        let bucket = &mut counts[(x >> shift) as usize];
        *bucket = bucket.saturating_add(1);
    }
}

/// The rank of every bucket: by count, then by number.
pub fn ranks(counts: &[u32]) -> Vec<u32> {
    let mut by_count: Vec<u64> = counts.iter().enumerate().map(|(i, &c)| u64::from(c) << 32 | i as u64).collect();
    by_count.sort_unstable();
    let mut ranks = vec![0; counts.len()];
    for (rank, bucket) in by_count.iter().enumerate() {
        ranks[*bucket as u32 as usize] = rank as u32;
    }
    ranks
}

/// The sets with their elements as codes, each set sorted.
pub fn ordered(elements: &[u64], offsets: &[i64], ranks: &[u32]) -> Vec<u64> {
    let shift = 64 - ranks.len().trailing_zeros();
    let low = (1u64 << shift) - 1;
    let (first, last) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    let code = |&x: &u64| u64::from(ranks[(x >> shift) as usize]) << shift | x & low;
    let mut codes: Vec<u64> = elements[first..last].iter().map(code).collect();
    for row in offsets.windows(2) {
        codes[row[0] as usize - first..row[1] as usize - first].sort_unstable();
    }
    codes
}
