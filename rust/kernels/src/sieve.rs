//! Which of many documents or sets may hold some elements of a few: those that hold too few are soon told.
//!
//! Every element of the few sets three bits of one word of a table. An element of a document that finds its three bits set is one of them, or, with four
//! words to an element, one in some ten thousand others. One word is read for each shingle, and no set is made.

use crate::shingle::{Scratch, Seen, Sink, Spec, document};
use crate::simd::{Lanes, Level, for_each_path};

/// Words of the table: two megabytes, which the second-level cache of most cores holds.
const MOST_WORDS: usize = 1 << 18;

/// A table of bits that tells most other elements from a few known ones, and how many of these it takes to pass.
pub struct Sieve {
    words: Vec<u64>,
    shift: u32,
    least: usize,
}

impl Sieve {
    /// Of these elements, of which at least so many make a set pass; premixed, so that their bits are as good as any hash of them.
    pub fn of(elements: &[u64], least: usize) -> Sieve {
        let count = (4 * elements.len()).next_power_of_two().clamp(2, MOST_WORDS);
        let mut sieve = Sieve { words: vec![0; count], shift: 64 - count.trailing_zeros(), least };
        for &element in elements {
            let place = sieve.place(element);
            sieve.words[place] |= bits_of(element);
        }
        sieve
    }

    #[inline(always)]
    fn place(&self, element: u64) -> usize {
        (element >> self.shift) as usize
    }

    /// How many of these elements may be of the few.
    #[inline(always)]
    fn count(&self, elements: &[u64]) -> usize {
        elements.iter().map(|&element| usize::from(self.may_hold(element))).sum()
    }

    /// Whether an element may be one of the few; of the few all are.
    #[inline(always)]
    pub fn may_hold(&self, element: u64) -> bool {
        let bits = bits_of(element);
        self.words[self.place(element)] & bits == bits
    }
}

/// Three bits that have nothing to do with those that name a word.
#[inline(always)]
fn bits_of(element: u64) -> u64 {
    1 << (element & 63) | 1 << (element >> 6 & 63) | 1 << (element >> 12 & 63)
}

/// How many shingles of a document passed, repeats included.
struct Sifting<'s> {
    sieve: &'s Sieve,
    passed: usize,
}

impl Sink for Sifting<'_> {
    #[inline(always)]
    fn take(&mut self, shingles: &[u64]) {
        // Without an early end: few documents pass, and a loop without branches is the faster.
        self.passed += self.sieve.count(shingles);
    }
}

#[inline(always)]
fn sift_on<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, sifting: &mut Sifting<'_>) -> Seen {
    document::<L>(text, spec, scratch, sifting)
}

for_each_path! {
    fn sift(level; text: &[u8], spec: &Spec, scratch: &mut Scratch, sifting: &mut Sifting<'_>) -> Seen => sift_on
}

/// Which documents of a batch may hold enough of the few. On one thread.
pub fn texts_that_pass(level: Level, values: &[u8], offsets: &[i64], spec: &Spec, sieve: &Sieve) -> Vec<bool> {
    let mut scratch = Scratch::default();
    offsets
        .windows(2)
        .map(|o| {
            let mut sifting = Sifting { sieve, passed: 0 };
            sift(level, &values[o[0] as usize..o[1] as usize], spec, &mut scratch, &mut sifting);
            sifting.passed >= sieve.least
        })
        .collect()
}

/// Which sets may hold enough of the few. On one thread.
pub fn sets_that_pass(elements: &[u64], offsets: &[i64], sieve: &Sieve) -> Vec<bool> {
    offsets.windows(2).map(|o| sieve.count(&elements[o[0] as usize..o[1] as usize]) >= sieve.least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::sets;
    use crate::shingle::{Folding, Unit};

    fn elements(count: u64, seed: u64) -> Vec<u64> {
        (0..count).map(|i| hash::token(i, hash::spread_seed(seed))).collect()
    }

    #[test]
    fn all_of_the_few_pass_and_few_of_the_others() {
        for count in [0, 1, 3, 1000, 40_000] {
            let few = elements(count, 1);
            let sieve = Sieve::of(&few, 1);
            assert!(few.iter().all(|&one| sieve.may_hold(one)));
            let others = elements(1_000_000, 2);
            let passed = others.iter().filter(|&&one| sieve.may_hold(one)).count();
            assert!(passed < 200, "{passed} of a million pass {count}");
        }
    }

    #[test]
    fn a_document_passes_if_a_shingle_of_it_does_on_every_path() {
        let folding = Folding { casefold: true, nfkc: false, whitespace: false, punctuation: false };
        let spec = Spec { unit: Unit::Words, k: 2, folding, bag: false, seed: hash::spread_seed(0) };
        let texts = ["", "one two three", "four five", "three one two", "x"];
        let values: Vec<u8> = texts.concat().into_bytes();
        let mut offsets = vec![0i64];
        for text in texts {
            offsets.push(offsets.last().unwrap() + text.len() as i64);
        }
        for level in Level::available() {
            let (held, starts, _) = sets::sets(level, &values, &offsets, &spec);
            let own = &held[starts[1] as usize..starts[2] as usize];
            for (least, expected) in [(1, [false, true, false, true, false]), (2, [false, true, false, false, false])] {
                let sieve = Sieve::of(own, least);
                assert_eq!(texts_that_pass(level, &values, &offsets, &spec, &sieve), expected);
                assert_eq!(sets_that_pass(&held, &starts, &sieve), expected);
            }
        }
    }
}
