//! Rows of a bucket → the pairs within a radius, none lost.
//!
//! Cut into one piece more than the radius, two rows that are within it agree in a whole piece: the bits in which they differ cannot be in all of them. So rows
//! meet in buckets of pieces, and no pair is missed. (Covering codes, after Pagh, need fewer bits to agree, but 2^(r+1) − 1 tables; for the radii that
//! perceptual hashes are asked for, r + 1 tables of pieces are fewer and their buckets as small.)
//!
//! A bucket holds rows that share a piece. A large one is cut again in the bits that are left, which the radius still covers, as long as that leaves less to
//! compare; rows are distinct, so they cannot share all their bits. A pair is reported where it meets first, which is decided by looking at the pair.

use super::masks::Mask;
use super::{Apart, Bound, Rows, blocks};
use crate::hash;
use crate::simd::Level;

/// Up to so many rows are compared each with each, without a thought.
const FEW: usize = 512;
/// Pieces of fewer bits put too many rows together.
const LEAST_BITS: usize = 4;

/// What pairs of a bucket are asked for.
pub struct Cover<'a> {
    pub level: Level,
    pub rows: Rows<'a>,
    pub radius: u32,
    /// Rows from here on are of a second collection, and only pairs across count; by `numbers`.
    pub boundary: Option<u32>,
    /// What each row is called.
    pub numbers: &'a [u32],
}

impl Cover<'_> {
    /// Appends the pairs among some rows that are within the radius and differ under every mask of `differ`; lower number first.
    ///
    /// `free` are the positions in which the rows may differ at all. Empty: compare all with all.
    pub fn pairs(&self, places: &[u32], free: &[u32], differ: &mut Vec<Mask>, out: &mut Vec<Apart>) {
        if places.len() < 2 || !self.reaches_across(places) {
            return;
        }
        let count = self.radius as usize + 1;
        if places.len() <= FEW || free.len() < LEAST_BITS * count {
            return self.each_with_each(places, differ, out);
        }
        let cuts: Vec<usize> = (0..=count).map(|piece| free.len() * piece / count).collect();
        let masks: Vec<Mask> = cuts.windows(2).map(|cut| Mask::new(&free[cut[0]..cut[1]])).collect();
        let parts: Vec<Vec<Vec<u32>>> = masks.iter().map(|mask| self.sharing(places, mask)).collect();
        let to_compare: usize = parts.iter().flatten().map(|part| part.len() * part.len()).sum();
        // Where pieces tell few rows apart there is nothing to gain, and every level would look at all of them again.
        if 2 * to_compare > places.len() * places.len() {
            return self.each_with_each(places, differ, out);
        }
        let before = differ.len();
        for ((cut, mask), parts) in cuts.windows(2).zip(masks).zip(parts) {
            let left: Vec<u32> = [&free[..cut[0]], &free[cut[1]..]].concat();
            for part in parts {
                self.pairs(&part, &left, differ, out);
            }
            differ.push(mask);
        }
        differ.truncate(before);
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

    fn each_with_each(&self, places: &[u32], differ: &[Mask], out: &mut Vec<Apart>) {
        let gathered: Vec<u64> = places.iter().flat_map(|&place| self.rows.get(place as usize)).copied().collect();
        let rows = Rows::new(&gathered, self.rows.words());
        for pair in blocks::pairs(self.level, rows, None, Bound::Hamming(self.radius)) {
            let (x, y) = (rows.get(pair.a as usize), rows.get(pair.b as usize));
            if differ.iter().any(|mask| mask.agree(x, y)) {
                continue;
            }
            let (a, b) =
                (self.numbers[places[pair.a as usize] as usize], self.numbers[places[pair.b as usize] as usize]);
            if self.boundary.is_none_or(|boundary| (a < boundary) != (b < boundary)) {
                out.push(Apart { a: a.min(b), b: a.max(b), bits: pair.bits });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{clustered, masks::shuffled};
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

    #[test]
    fn cutting_again_loses_no_pair_and_reports_none_twice() {
        for (words, radius, flips) in [(1, 0, 4), (1, 1, 8), (1, 3, 10), (1, 5, 40), (2, 3, 9), (5, 7, 30)] {
            let values = clustered(3000, words, flips, 77);
            let rows = Rows::new(&values, words);
            let numbers: Vec<u32> = (0..3000).map(|row| (row * 7) % 3000).collect();
            let everybody: Vec<u32> = (0..3000).collect();
            let free = shuffled(64 * words as u32, 1);
            for boundary in [None, Some(900)] {
                let cover = Cover { level: Level::detect(), rows, radius, boundary, numbers: &numbers };
                let mut found = Vec::new();
                cover.pairs(&everybody, &free, &mut Vec::new(), &mut found);
                found.sort_unstable();
                assert_eq!(found, brute(rows, &numbers, radius, boundary), "{words} {radius} {boundary:?}");
                assert!(!found.is_empty());
            }
        }
    }

    #[test]
    fn rows_that_share_nearly_everything_are_compared_once() {
        // All 4,096 values of the last twelve bits, the rest the same: no piece of the others tells any two apart.
        let values: Vec<u64> = (0..4096).collect();
        let rows = Rows::new(&values, 1);
        let numbers: Vec<u32> = (0..4096).collect();
        let cover = Cover { level: Level::detect(), rows, radius: 2, boundary: None, numbers: &numbers };
        let mut found = Vec::new();
        cover.pairs(&numbers, &shuffled(64, 1), &mut Vec::new(), &mut found);
        assert_eq!(found.len(), 4096 * (12 + 66) / 2);
    }
}
