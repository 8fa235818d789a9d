//! Rows of a bucket → the pairs within a radius, none lost.
//!
//! A bucket holds rows that agree under a mask. A large one is cut again, in the bits that are left, into one piece more than the radius: rows that are within it
//! agree in a whole piece, since the bits in which they differ cannot be in all of them. That goes on as long as it leaves less to compare; rows are distinct, so
//! they cannot share all their bits. A pair is reported where it meets first, which is decided by looking at the pair.

use super::masks::{Mask, Masks};
use super::{Apart, Bound, Rows, apart, blocks, for_each_count};
use crate::hash;
use crate::simd::{Lanes, Level};

/// Up to so many rows are compared one by one: to set anything up would cost more.
const HANDFUL: usize = 16;
/// Up to so many rows a piece are compared each with each, without a thought: to hash and sort a row takes as long as to compare it with a thousand.
const FEW: usize = 1024;
/// Pieces of fewer bits put too many rows together.
const LEAST_BITS: usize = 4;

/// What pairs of buckets are asked for.
pub struct Buckets<'a> {
    pub level: Level,
    pub rows: Rows<'a>,
    pub radius: u32,
    /// Rows from here on are of a second collection, and only pairs across count; by `numbers`.
    pub boundary: Option<u32>,
    /// What each row is called.
    pub numbers: &'a [u32],
}

/// Masks under which the rows of a pair must differ, for else they met there.
struct Differ<'a> {
    earlier: &'a [Mask],
    cut: Vec<Mask>,
}

impl Differ<'_> {
    fn met(&self, a: &[u64], b: &[u64]) -> bool {
        self.earlier.iter().chain(&self.cut).any(|mask| mask.agree(a, b))
    }
}

impl Buckets<'_> {
    /// Appends the pairs within the radius among rows that agree under a mask, and under none before it; lower number first.
    pub fn covered(&self, places: &[u32], masks: &Masks, mask: usize, out: &mut Vec<Apart>) {
        let mut differ = Differ { earlier: &masks.masks()[..mask], cut: Vec::new() };
        let free = if places.len() > self.few() { masks.outside(mask) } else { Vec::new() };
        self.pairs(places, &free, &mut differ, out);
    }

    /// Appends the pairs within the radius among some rows; lower number first.
    pub fn each_with_each(&self, places: &[u32], out: &mut Vec<Apart>) {
        self.pairs(places, &[], &mut Differ { earlier: &[], cut: Vec::new() }, out);
    }

    /// `free` are the positions in which the rows may differ at all. Empty: compare all with all.
    fn pairs(&self, places: &[u32], free: &[u32], differ: &mut Differ<'_>, out: &mut Vec<Apart>) {
        if places.len() < 2 || !self.reaches_across(places) {
            return;
        }
        let count = self.radius as usize + 1;
        if places.len() <= self.few() || free.len() < LEAST_BITS * count {
            return self.compare(places, differ, out);
        }
        let cuts: Vec<usize> = (0..=count).map(|piece| free.len() * piece / count).collect();
        let masks: Vec<Mask> = cuts.windows(2).map(|cut| Mask::new(&free[cut[0]..cut[1]])).collect();
        let parts: Vec<Vec<Vec<u32>>> = masks.iter().map(|mask| self.sharing(places, mask)).collect();
        let to_compare: usize = parts.iter().flatten().map(|part| part.len() * part.len()).sum();
        // Where pieces tell few rows apart there is nothing to gain, and every level would look at all of them again.
        if 2 * to_compare > places.len() * places.len() {
            return self.compare(places, differ, out);
        }
        let before = differ.cut.len();
        for ((cut, mask), parts) in cuts.windows(2).zip(masks).zip(parts) {
            let left: Vec<u32> = [&free[..cut[0]], &free[cut[1]..]].concat();
            for part in parts {
                self.pairs(&part, &left, differ, out);
            }
            differ.cut.push(mask);
        }
        differ.cut.truncate(before);
    }

    fn few(&self) -> usize {
        FEW * (self.radius as usize + 1)
    }

    /// Whether both collections are here, if there are two.
    fn reaches_across(&self, places: &[u32]) -> bool {
        let Some(boundary) = self.boundary else { return true };
        let first = places.iter().filter(|&&place| self.numbers[place as usize] < boundary).count();
        0 < first && first < places.len()
    }

    /// The rows that agree under a mask with another, together.
    fn sharing(&self, places: &[u32], mask: &Mask) -> Vec<Vec<u32>> {
        let mut keyed: Vec<(u64, u32)> =
            places.iter().map(|&place| (mask.hash(self.rows.get(place as usize), hash::begin(0, 8)), place)).collect();
        keyed.sort_unstable();
        keyed
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|part| part.len() > 1)
            .map(|part| part.iter().map(|&(_, place)| place).collect())
            .collect()
    }

    fn compare(&self, places: &[u32], differ: &Differ<'_>, out: &mut Vec<Apart>) {
        let mut found = Vec::new();
        if places.len() <= HANDFUL {
            handful(self.level, self.rows, places, self.radius, &mut found);
        } else {
            let gathered: Vec<u64> = places.iter().flat_map(|&place| self.rows.get(place as usize)).copied().collect();
            let rows = Rows::new(&gathered, self.rows.words());
            found = blocks::pairs(self.level, rows, None, Bound::Hamming(self.radius));
            found.iter_mut().for_each(|pair| (pair.a, pair.b) = (places[pair.a as usize], places[pair.b as usize]));
        }
        for pair in found {
            if differ.met(self.rows.get(pair.a as usize), self.rows.get(pair.b as usize)) {
                continue;
            }
            let (a, b) = (self.numbers[pair.a as usize], self.numbers[pair.b as usize]);
            if self.boundary.is_none_or(|boundary| (a < boundary) != (b < boundary)) {
                out.push(Apart { a: a.min(b), b: a.max(b), bits: pair.bits });
            }
        }
    }
}

#[inline(always)]
fn handful_on<L: Lanes>(rows: Rows<'_>, places: &[u32], radius: u32, out: &mut Vec<Apart>) {
    for (i, &a) in places.iter().enumerate() {
        for &b in &places[..i] {
            let bits = apart(rows.get(a as usize), rows.get(b as usize));
            if bits <= radius {
                out.push(Apart { a, b, bits });
            }
        }
    }
}

for_each_count! {
    /// Appends the pairs of some rows within a radius, by their places.
    fn handful(level; rows: Rows<'_>, places: &[u32], radius: u32, out: &mut Vec<Apart>) => handful_on
}

#[cfg(test)]
mod tests {
    use super::super::{clustered, covering::covering};
    use super::*;

    fn brute(rows: Rows<'_>, numbers: &[u32], radius: u32, boundary: Option<u32>) -> Vec<Apart> {
        let mut found = Vec::new();
        blocks::every_pair(Level::Scalar, rows, rows, true, Bound::Hamming(radius), &mut found);
        let mut found: Vec<Apart> = found
            .into_iter()
            .map(|pair| {
                let (a, b) = (numbers[pair.a as usize], numbers[pair.b as usize]);
                Apart { a: a.min(b), b: a.max(b), bits: pair.bits }
            })
            .filter(|pair| boundary.is_none_or(|boundary| (pair.a < boundary) != (pair.b < boundary)))
            .collect();
        found.sort_unstable();
        found
    }

    fn found(cover: &Buckets<'_>, parts: u32) -> Vec<Apart> {
        let (positions, offsets) = covering(64 * cover.rows.words() as u32, cover.radius, parts, 1);
        let masks = Masks::new(&positions, &offsets);
        let mut found = Vec::new();
        for mask in 0..masks.len() {
            let everybody: Vec<u32> = (0..cover.rows.len() as u32).collect();
            for bucket in cover.sharing(&everybody, &masks.masks()[mask]) {
                cover.covered(&bucket, &masks, mask, &mut found);
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn cutting_again_loses_no_pair_and_reports_none_twice() {
        for (words, radius, flips) in [(1, 0, 4), (1, 1, 8), (1, 2, 10), (1, 3, 40), (2, 1, 9), (5, 2, 30)] {
            let values = clustered(9001, words, flips, 77);
            let rows = Rows::new(&values, words);
            let numbers: Vec<u32> = (0..9001).map(|row| (row * 7) % 9001).collect();
            for boundary in [None, Some(900)] {
                let buckets = Buckets { level: Level::detect(), rows, radius, boundary, numbers: &numbers };
                let truth = brute(rows, &numbers, radius, boundary);
                assert!(!truth.is_empty());
                for parts in [1, 2, radius + 1].into_iter().filter(|&parts| parts <= radius + 1) {
                    assert_eq!(found(&buckets, parts), truth, "{words} {radius} {boundary:?} {parts}");
                }
            }
        }
    }

    #[test]
    fn rows_that_share_nearly_everything_are_compared_once() {
        // All 4,096 values of the last twelve bits, the rest the same: hardly a mask of the others tells any two apart.
        let values: Vec<u64> = (0..4096).collect();
        let numbers: Vec<u32> = (0..4096).collect();
        let rows = Rows::new(&values, 1);
        let buckets = Buckets { level: Level::detect(), rows, radius: 2, boundary: None, numbers: &numbers };
        assert_eq!(found(&buckets, 3).len(), 4096 * (12 + 66) / 2);
        assert_eq!(found(&buckets, 1).len(), 4096 * (12 + 66) / 2);
    }

    #[test]
    fn a_few_rows_are_compared_as_many_are() {
        let values = clustered(HANDFUL + 1, 2, 9, 4);
        let numbers: Vec<u32> = (0..=HANDFUL as u32).collect();
        for level in Level::available() {
            let rows = Rows::new(&values, 2);
            let buckets = Buckets { level, rows, radius: 9, boundary: None, numbers: &numbers };
            let (mut all, mut few) = (Vec::new(), Vec::new());
            buckets.each_with_each(&numbers, &mut all);
            buckets.each_with_each(&numbers[..HANDFUL], &mut few);
            all.retain(|pair| pair.b < HANDFUL as u32);
            all.sort_unstable();
            few.sort_unstable();
            assert_eq!(all, few);
            assert!(!few.is_empty());
        }
    }
}
