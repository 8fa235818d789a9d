//! Rows held for queries: whoever is within a small radius of a query agrees with it under one of the masks that cover it.
//!
//! For every mask the rows stand in the order of their keys, with their folded bits beside them, and a directory says where keys with the same first bits
//! begin. A query looks at one stretch of neighbours a mask. 12 bytes a row and mask, and the rows themselves.

use rayon::prelude::*;

use super::masks::Masks;
use super::{Rows, apart, folded, for_each_count, near_on};
use crate::simd::{Lanes, Level};

/// One mask: where each part of the keys begins, and the rows in that order.
struct Side {
    starts: Vec<u32>,
    rows: Vec<u32>,
    folds: Vec<u64>,
}

/// Rows by masks.
pub struct Table {
    values: Vec<u64>,
    words: usize,
    radius: u32,
    masks: Masks,
    sides: Vec<Side>,
    shift: u32,
}

impl Table {
    /// Holds up to 2³² − 1 rows, under masks that cover a radius.
    pub fn new(rows: Rows<'_>, masks: Masks, radius: u32) -> Table {
        assert!(rows.len() < u32::MAX as usize && !masks.is_empty());
        // About a row a part of the directory: smaller ones would save nothing but reading a few rows.
        let bits = (rows.len().max(2) as u64).ilog2().clamp(1, 28);
        let shift = 64 - bits;
        let sides = (0..masks.len()).into_par_iter().map(|mask| Side::new(rows, &masks, mask, shift)).collect();
        Table { values: rows.values.to_vec(), words: rows.words, radius, masks, sides, shift }
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// The greatest radius that queries are answered for.
    pub fn radius(&self) -> u32 {
        self.radius
    }

    /// The rows within `most` bits of a query, in order, and how far they are.
    pub fn query(&self, level: Level, query: &[u64], most: u32) -> Vec<(u32, u32)> {
        assert!(most <= self.radius && query.len() == self.words);
        let rows = Rows::new(&self.values, self.words);
        let sought = folded(query);
        let (mut found, mut near) = (Vec::new(), Vec::new());
        for (mask, side) in self.sides.iter().enumerate() {
            let part = (self.masks.key(mask, query) >> self.shift) as usize;
            let (from, to) = (side.starts[part] as usize, side.starts[part + 1] as usize);
            near.clear();
            near_folds(level, sought, &side.folds[from..to], most, &mut near);
            for &at in &near {
                let row = side.rows[from + at as usize];
                let other = rows.get(row as usize);
                let bits = apart(other, query);
                // Found before, if they agree under an earlier mask.
                if bits <= most && !self.masks.masks()[..mask].iter().any(|earlier| earlier.agree(other, query)) {
                    found.push((row, bits));
                }
            }
        }
        // Rows that share a part of the directory but no key may be near and found there a second time.
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[inline(always)]
fn near_folds_on<L: Lanes>(sought: u64, folds: &[u64], most: u32, out: &mut Vec<u32>) {
    near_on::<L>(sought, folds, most, |at, _| out.push(at));
}

for_each_count! {
    fn near_folds(level; sought: u64, folds: &[u64], most: u32, out: &mut Vec<u32>) => near_folds_on
}

impl Side {
    /// Deals the rows out by the first bits of their keys; rows of a part keep their order.
    fn new(rows: Rows<'_>, masks: &Masks, mask: usize, shift: u32) -> Side {
        let parts: Vec<u32> = rows.iter().map(|row| (masks.key(mask, row) >> shift) as u32).collect();
        let mut starts = vec![0u32; (1usize << (64 - shift)) + 1];
        parts.iter().for_each(|&part| starts[part as usize + 1] += 1);
        for part in 1..starts.len() {
            starts[part] += starts[part - 1];
        }
        let mut next = starts.clone();
        let (mut order, mut folds) = (vec![0; rows.len()], vec![0; rows.len()]);
        for (row, &part) in parts.iter().enumerate() {
            let at = next[part as usize] as usize;
            next[part as usize] += 1;
            (order[at], folds[at]) = (row as u32, folded(rows.get(row)));
        }
        Side { starts, rows: order, folds }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{clustered, covering::covering, scan};
    use super::*;

    #[test]
    fn a_table_answers_as_the_scan_does() {
        for (words, most, parts) in [(1usize, 3u32, 4), (1, 3, 1), (1, 0, 1), (2, 5, 6), (2, 5, 2), (16, 8, 9)] {
            let values = clustered(2000, words, 14, 9);
            let rows = Rows::new(&values, words);
            let (positions, offsets) = covering(64 * words as u32, most, parts, 0);
            let table = Table::new(rows, Masks::new(&positions, &offsets), most);
            let stranger = vec![0x0123_4567_89AB_CDEF; words];
            for query in rows.iter().step_by(97).chain([&stranger[..]]) {
                for radius in 0..=most {
                    for level in Level::available() {
                        let mut expected = Vec::new();
                        scan(level, rows, query, radius, &mut expected);
                        assert_eq!(table.query(level, query, radius), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_table_of_no_rows_finds_none() {
        let (positions, offsets) = covering(64, 1, 2, 0);
        let table = Table::new(Rows::new(&[], 1), Masks::new(&positions, &offsets), 1);
        assert!(table.query(Level::detect(), &[7], 1).is_empty());
    }
}
