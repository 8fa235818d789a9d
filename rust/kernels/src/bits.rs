//! Rows of bits by Hamming distance and by Tanimoto similarity (the Jaccard similarity of the bits that are set).
//!
//! 1. this file: rows, counts of candidates, the linear scan, and what a threshold allows two rows to differ in;
//! 2. [`masks`]: some positions of a row → a bucket key;
//! 3. [`covering`]: masks under one of which near rows agree, pieces that share no bits among them;
//! 4. [`blocks`]: every row of a block with every row of another, most of them told apart by 64 folded bits;
//! 5. [`buckets`]: rows of a bucket → the pairs within a radius, none lost;
//! 6. [`table`]: rows held for queries, by covering masks.
//!
//! Bit `p` of a row is bit `7 − p % 8` of its byte `p / 8`, as in hexadecimal digits and in NumPy's `packbits`; rows are padded with zeros to whole
//! words of 64 bits, which are read little-endian. All counts are of integers, so every path gives the same bits.

use crate::simd::Lanes;

pub mod blocks;
pub mod buckets;
pub mod covering;
pub mod masks;
pub mod table;

/// Rows of `words` 64-bit words each, one after the other.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    values: &'a [u64],
    words: usize,
}

impl<'a> Rows<'a> {
    /// A row has a word at least.
    pub fn new(values: &'a [u64], words: usize) -> Rows<'a> {
        assert!(words > 0 && values.len().is_multiple_of(words), "rows of {words} words");
        Rows { values, words }
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.words
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn words(&self) -> usize {
        self.words
    }

    #[inline(always)]
    pub fn get(&self, row: usize) -> &'a [u64] {
        &self.values[row * self.words..][..self.words]
    }

    /// The rows from one to before another.
    pub fn part(&self, from: usize, to: usize) -> Rows<'a> {
        Rows { values: &self.values[from * self.words..to * self.words], words: self.words }
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a [u64]> + use<'a> {
        self.values.chunks_exact(self.words)
    }
}

/// Two rows, by number, and how many bits they differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Apart {
    pub a: u32,
    pub b: u32,
    pub bits: u32,
}

/// Compiles a body for every path, and once more for machines that count the bits of eight words at a time.
macro_rules! for_each_count {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($level:ident; $($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? => $body:ident) => {
        $(#[$doc])*
        $vis fn $name($level: crate::simd::Level, $($arg: $type),*) $(-> $ret)? {
            crate::simd::for_each_path! {
                fn paths(level; $($arg: $type),*) $(-> $ret)? => $body
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt")]
                fn counting($($arg: $type),*) $(-> $ret)? { $body::<crate::simd::Avx512>($($arg),*) }
                if $level == crate::simd::Level::Avx512
                    && $level <= crate::simd::Level::detect()
                    && is_x86_feature_detected!("avx512vpopcntdq")
                {
                    // SAFETY: detected just now.
                    return unsafe { counting($($arg),*) };
                }
            }
            paths($level, $($arg),*)
        }
    };
}
pub(crate) use for_each_count;

/// How many bits two rows differ in.
#[inline(always)]
pub(crate) fn apart(a: &[u64], b: &[u64]) -> u32 {
    // Added up as wide as they are counted: narrower sums would have to be packed first.
    a.iter().zip(b).map(|(x, y)| u64::from((x ^ y).count_ones())).sum::<u64>() as u32
}

/// A row's words on top of each other: 64 bits that differ in no more places than the rows do, for each bit falls on one.
#[inline(always)]
pub(crate) fn folded(row: &[u64]) -> u64 {
    row.iter().fold(0, |folded, word| folded ^ word)
}

/// What is asked of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// To differ in so many bits at most.
    Hamming(u32),
    /// To have so much of the bits set in either set in both: over 0, at most 1.
    Tanimoto(f64),
}

impl Bound {
    /// The most bits in which rows with so many bits set may differ; of Tanimoto rounded up where it is close.
    ///
    /// With n bits set in both together and d of them in one only, the similarity is (n − d)/(n + d).
    #[inline(always)]
    pub fn most_apart(self, a: u32, b: u32) -> u32 {
        match self {
            Bound::Hamming(most) => most,
            Bound::Tanimoto(least) => {
                let set = f64::from(a) + f64::from(b);
                (set * (1.0 - least) / (1.0 + least) + 1e-6) as u32
            }
        }
    }

    /// Whether a pair is one: by f64(shared) / f64(joint), so exactly.
    #[inline(always)]
    pub fn reached(self, a: u32, b: u32, apart: u32) -> bool {
        match self {
            Bound::Hamming(most) => apart <= most,
            Bound::Tanimoto(least) => {
                let set = u64::from(a) + u64::from(b);
                let (shared, joint) = ((set - u64::from(apart)) / 2, (set + u64::from(apart)) / 2);
                joint > 0 && shared as f64 / joint as f64 >= least
            }
        }
    }

    /// Whether rows with so many bits set may be a pair at all: they differ in as many bits at least as one has more.
    #[inline(always)]
    pub fn sizes_allow(self, a: u32, b: u32) -> bool {
        a.abs_diff(b) <= self.most_apart(a, b)
    }
}

#[inline(always)]
fn sizes_on<L: Lanes>(rows: Rows<'_>, out: &mut [u32]) {
    for (size, row) in out.iter_mut().zip(rows.iter()) {
        *size = row.iter().map(|word| word.count_ones()).sum();
    }
}

for_each_count! {
    /// Writes how many bits of each row are set.
    pub fn sizes(level; rows: Rows<'_>, out: &mut [u32]) => sizes_on
}

#[inline(always)]
fn compare_on<L: Lanes>(rows: Rows<'_>, a: &[u32], b: &[u32], out: &mut [(u32, u32)]) {
    for ((&a, &b), counts) in a.iter().zip(b).zip(out) {
        let (x, y) = (rows.get(a as usize), rows.get(b as usize));
        let (mut shared, mut joint) = (0, 0);
        for (x, y) in x.iter().zip(y) {
            shared += u64::from((x & y).count_ones());
            joint += u64::from((x | y).count_ones());
        }
        *counts = (shared as u32, joint as u32);
    }
}

for_each_count! {
    /// Writes how many bits are set in both rows of a candidate, and in either; they differ in the difference.
    pub fn compare(level; rows: Rows<'_>, a: &[u32], b: &[u32], out: &mut [(u32, u32)]) => compare_on
}

#[inline(always)]
fn scan_on<L: Lanes>(rows: Rows<'_>, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) {
    if rows.words == 1 {
        return near_on::<L>(query[0], rows.values, most, |row, bits| out.push((row, bits)));
    }
    for (row, bits) in rows.iter().map(|row| apart(row, query)).enumerate() {
        if bits <= most {
            out.push((row as u32, bits));
        }
    }
}

for_each_count! {
    /// Appends the rows within `most` bits of a query, and how far they are: the linear scan, every row looked at.
    pub fn scan(level; rows: Rows<'_>, query: &[u64], most: u32, out: &mut Vec<(u32, u32)>) => scan_on
}

/// Words compared before a look at whether one of them is near: four vectors of the widest unit.
const CHUNK: usize = 32;

/// Calls `found` for the words that differ from `x` in `most` bits or less, and with how many.
#[inline(always)]
pub(crate) fn near_on<L: Lanes>(x: u64, words: &[u64], most: u32, mut found: impl FnMut(u32, u32)) {
    let chunks = words.chunks_exact(CHUNK);
    let rest = words.len() - chunks.remainder().len();
    let mut look = |from: usize, some: &[u64]| {
        for (at, y) in some.iter().enumerate() {
            let bits = (x ^ y).count_ones();
            if bits <= most {
                found((from + at) as u32, bits);
            }
        }
    };
    for (at, chunk) in words.chunks_exact(CHUNK).enumerate() {
        // Most chunks hold nothing near: one look at the least of their distances is all they get.
        let mut least = u64::MAX;
        for y in chunk {
            least = least.min(u64::from((x ^ y).count_ones()));
        }
        if least <= u64::from(most) {
            look(at * CHUNK, chunk);
        }
    }
    look(rest, &words[rest..]);
}

/// Rows for tests: few originals, some bits of each flipped, so that distances are all there is between none and many.
#[cfg(test)]
pub(crate) fn clustered(rows: usize, words: usize, flips: u64, seed: u64) -> Vec<u64> {
    use crate::hash::mix;
    let mut values = Vec::new();
    for row in 0..rows as u64 {
        let original = mix(seed ^ row) % 5;
        let mut bits: Vec<u64> = (0..words as u64).map(|word| mix(seed << 20 | original << 10 | word)).collect();
        for flip in 0..mix(seed ^ row << 8) % (flips + 1) {
            let at = mix(seed ^ (row << 16 | flip << 1 | 1)) % (64 * words as u64);
            bits[(at / 64) as usize] ^= 1 << (at % 64);
        }
        values.extend(bits);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    /// By the definition, a bit at a time.
    fn counts(a: &[u64], b: &[u64]) -> (u32, u32) {
        let bit = |row: &[u64], at: usize| row[at / 64] >> (at % 64) & 1 == 1;
        let set = |both: bool| {
            (0..64 * a.len()).filter(|&at| if both { bit(a, at) & bit(b, at) } else { bit(a, at) | bit(b, at) }).count()
        };
        (set(true) as u32, set(false) as u32)
    }

    #[test]
    fn every_path_counts_what_the_definition_counts() {
        for words in [1, 2, 7, 8, 9, 32] {
            let values = clustered(70, words, 12, words as u64);
            let rows = Rows::new(&values, words);
            let (a, b): (Vec<u32>, Vec<u32>) = (0..70u32).flat_map(|a| (0..70u32).map(move |b| (a, b))).unzip();
            let expected: Vec<(u32, u32)> =
                a.iter().zip(&b).map(|(&a, &b)| counts(rows.get(a as usize), rows.get(b as usize))).collect();
            for level in Level::available() {
                let mut found = vec![(0, 0); a.len()];
                compare(level, rows, &a, &b, &mut found);
                assert_eq!(found, expected, "{level:?} {words}");
                let mut set = vec![0; rows.len()];
                sizes(level, rows, &mut set);
                assert!((0..70).all(|row| set[row] == expected[row * 70 + row].0));
                for query in [0, 33] {
                    let mut near = Vec::new();
                    scan(level, rows, rows.get(query), 9, &mut near);
                    let distance = |row: usize| expected[query * 70 + row].1 - expected[query * 70 + row].0;
                    let truth: Vec<(u32, u32)> =
                        (0..70).map(|row| (row as u32, distance(row))).filter(|&(_, bits)| bits <= 9).collect();
                    assert_eq!(near, truth);
                    assert!(!near.is_empty());
                }
            }
        }
    }

    #[test]
    fn a_bound_allows_every_pair_that_reaches_it() {
        for (a, b) in (0..40u32).flat_map(|a| (0..40u32).map(move |b| (a, b))) {
            for shared in 0..=a.min(b) {
                let bits = a + b - 2 * shared;
                for least in [0.1, 0.25, 0.5, 2.0 / 3.0, 0.8, 0.9, 1.0] {
                    let bound = Bound::Tanimoto(least);
                    let joint = a + b - shared;
                    let truth = joint > 0 && f64::from(shared) / f64::from(joint) >= least;
                    assert_eq!(bound.reached(a, b, bits), truth);
                    assert!(!truth || (bits <= bound.most_apart(a, b) && bound.sizes_allow(a, b)));
                }
                assert_eq!(Bound::Hamming(7).reached(a, b, bits), bits <= 7);
                assert!(bits > 7 || Bound::Hamming(7).sizes_allow(a, b));
            }
        }
    }
}
