//! In how many documents each term of a collection occurs: exactly up to a number of different terms, beyond that in counters that terms share.
//!
//! Which of the two it is follows from the collection alone, however it comes in parts: a union of terms only grows, so whichever part or sum of parts first
//! has too many, the whole has too many. And counters of parts add up to those of the whole, whether terms were counted one by one before or not.

use crate::rare::{COUNTERS, Distinct, counter_of, gather};
use crate::shingle::{Scratch, Spec};
use crate::simd::Level;

/// How many documents hold a term.
pub struct Frequencies {
    counts: Counts,
    /// More different terms than so many share counters.
    most: usize,
}

enum Counts {
    Exact(Terms),
    Shared(Vec<u32>),
}

impl Frequencies {
    /// Of no documents.
    pub fn none(most: usize) -> Frequencies {
        Frequencies { counts: Counts::Exact(Terms::default()), most }
    }

    /// Of a batch of texts.
    pub fn count(level: Level, values: &[u8], offsets: &[i64], spec: &Spec, most: usize) -> Frequencies {
        let mut counted = Frequencies::none(most);
        let (mut scratch, mut found) = (Scratch::default(), Distinct::default());
        for o in offsets.windows(2) {
            gather(level, &values[o[0] as usize..o[1] as usize], spec, &mut scratch, &mut found);
            for &term in &found.words {
                counted.add(term, 1);
            }
        }
        counted
    }

    /// Of these documents and others, none of which is among these.
    pub fn merge(&mut self, mut other: Frequencies) {
        if other.held() > self.held() {
            std::mem::swap(&mut self.counts, &mut other.counts);
        }
        match other.counts {
            Counts::Exact(terms) => terms.each(|term, count| self.add(term, count)),
            Counts::Shared(added) => {
                self.share();
                let Counts::Shared(counters) = &mut self.counts else { unreachable!("just shared") };
                counters.iter_mut().zip(added).for_each(|(counter, more)| *counter = counter.saturating_add(more));
            }
        }
    }

    /// How many documents hold a term; with shared counters perhaps too many, never too few.
    #[inline]
    pub fn of(&self, term: u64) -> u32 {
        match &self.counts {
            Counts::Exact(terms) => terms.count(term),
            Counts::Shared(counters) => counters[counter_of(term)],
        }
    }

    /// Whether each term is counted by itself.
    pub fn is_exact(&self) -> bool {
        matches!(self.counts, Counts::Exact(_))
    }

    /// How many bytes this takes.
    pub fn bytes(&self) -> usize {
        match &self.counts {
            Counts::Exact(terms) => terms.counts.len() * (size_of::<u64>() + size_of::<u32>()),
            Counts::Shared(counters) => size_of_val(&counters[..]),
        }
    }

    fn held(&self) -> usize {
        match &self.counts {
            Counts::Exact(terms) => terms.len,
            Counts::Shared(_) => COUNTERS,
        }
    }

    #[inline]
    fn add(&mut self, term: u64, count: u32) {
        match &mut self.counts {
            Counts::Exact(terms) => {
                terms.add(term, count);
                if terms.len > self.most {
                    self.share();
                }
            }
            Counts::Shared(counters) => add_shared(counters, term, count),
        }
    }

    #[cold]
    fn share(&mut self) {
        if let Counts::Exact(terms) = &self.counts {
            let mut counters = vec![0; COUNTERS];
            terms.each(|term, count| add_shared(&mut counters, term, count));
            self.counts = Counts::Shared(counters);
        }
    }
}

#[inline]
fn add_shared(counters: &mut [u32], term: u64, count: u32) {
    let counter = &mut counters[counter_of(term)];
    *counter = counter.saturating_add(count);
}

/// Terms and their counts by open addressing with linear probing, at most three quarters full; terms are hashes, so their low bits are the address.
#[derive(Default)]
struct Terms {
    terms: Vec<u64>,
    /// 0 where nothing stands.
    counts: Vec<u32>,
    len: usize,
}

impl Terms {
    #[inline]
    fn add(&mut self, term: u64, count: u32) {
        if (self.len + 1) * 4 > self.counts.len() * 3 {
            self.grow();
        }
        let place = self.place(term);
        self.terms[place] = term;
        self.len += usize::from(self.counts[place] == 0);
        self.counts[place] = self.counts[place].saturating_add(count);
    }

    #[inline]
    fn count(&self, term: u64) -> u32 {
        if self.len == 0 { 0 } else { self.counts[self.place(term)] }
    }

    /// Where a term stands, or would.
    #[inline]
    fn place(&self, term: u64) -> usize {
        let mask = self.counts.len() - 1;
        let mut at = term as usize & mask;
        while self.terms[at] != term && self.counts[at] != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    /// Every term and its count, in long strides: in the order of their addresses they would fill another table of this kind from its beginning, and wait
    /// in line there before it is full enough to grow.
    fn each(&self, mut take: impl FnMut(u64, u32)) {
        const STRIDE: usize = 0x9E37_79B1;
        for i in 0..self.counts.len() {
            // Odd, so that all of a power of two are passed.
            let at = i.wrapping_mul(STRIDE) & (self.counts.len() - 1);
            if self.counts[at] != 0 {
                take(self.terms[at], self.counts[at]);
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let places = (self.counts.len() * 2).max(64);
        let old = std::mem::replace(self, Terms { terms: vec![0; places], counts: vec![0; places], len: 0 });
        old.each(|term, count| self.add(term, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::HashMap;

    /// Draws of terms, 0 among them, the first the most often.
    fn drawn(count: u64, seed: u64) -> Vec<u64> {
        let term = |i: u64| {
            let draw = mix(seed << 32 | i);
            let number = draw % (draw >> 32 & 0xFFF | 1);
            if number == 0 { 0 } else { mix(number) }
        };
        (0..count).map(term).collect()
    }

    fn counted(terms: &[u64], most: usize) -> Frequencies {
        let mut frequencies = Frequencies::none(most);
        terms.iter().for_each(|&term| frequencies.add(term, 1));
        frequencies
    }

    #[test]
    fn counts_are_those_of_a_hash_map_however_the_parts_are_merged() {
        let parts: Vec<Vec<u64>> = (0..7).map(|i| drawn(i * i * 300, i)).collect();
        let mut expected: HashMap<u64, u32> = HashMap::new();
        parts.iter().flatten().for_each(|&term| *expected.entry(term).or_default() += 1);
        for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 6, 0, 1, 5, 2, 4]] {
            for most in [expected.len() - 1, expected.len()] {
                let mut whole = Frequencies::none(most);
                order.iter().for_each(|&i: &usize| whole.merge(counted(&parts[i], most)));
                assert_eq!(whole.is_exact(), most == expected.len());
                let mut shared = vec![0; COUNTERS];
                expected.iter().for_each(|(&term, &count)| add_shared(&mut shared, term, count));
                for (&term, &count) in &expected {
                    assert_eq!(whole.of(term), if whole.is_exact() { count } else { shared[counter_of(term)] });
                }
                assert_eq!(whole.of(mix(1 << 40)), 0);
            }
        }
    }

    #[test]
    fn terms_of_one_table_spread_in_another() {
        // Both three fifths full: the second fills up when a quarter of the first is in it.
        let part = |from: u64| counted(&(from..from + 39_000).map(mix).collect::<Vec<_>>(), usize::MAX);
        let (Counts::Exact(one), Counts::Exact(mut other)) = (part(0).counts, part(1 << 40).counts) else { panic!() };
        assert_eq!((one.counts.len(), other.counts.len()), (1 << 16, 1 << 16));
        one.each(|term, count| {
            if (other.len + 1) * 4 <= other.counts.len() * 3 {
                other.add(term, count);
            }
        });
        let mask = other.counts.len() - 1;
        let far =
            (0..=mask).filter(|&at| other.counts[at] > 0).map(|at| at.wrapping_sub(other.terms[at] as usize) & mask);
        assert!(far.max() < Some(1000));
    }

    #[test]
    fn counts_that_are_full_stay_full() {
        for most in [0, 1] {
            let mut one = Frequencies::none(most);
            one.add(9, u32::MAX - 1);
            let mut other = Frequencies::none(1);
            other.add(9, 5);
            one.merge(other);
            assert_eq!((one.of(9), one.is_exact()), (u32::MAX, most == 1));
        }
    }
}
