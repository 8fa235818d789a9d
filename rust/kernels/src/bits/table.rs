//! Rows held for queries: whoever is within a small radius of a query agrees with it in a whole piece.
//!
//! For every piece the rows stand in the order of their keys, with their folded bits beside them, and a directory says where keys with the same first bits
//! begin. A query looks at one stretch of neighbours a piece. 12 bytes a row and piece, and the rows themselves.

use rayon::prelude::*;

use super::masks::Masks;
use super::{Rows, apart, folded, for_each_count, near_on};
use crate::simd::{Lanes, Level};

/// One piece: where each part of the keys begins, and the rows in that order.
struct Piece {
    starts: Vec<u32>,
    rows: Vec<u32>,
    folds: Vec<u64>,
}

/// Rows by pieces.
pub struct Table {
    values: Vec<u64>,
    words: usize,
    masks: Masks,
    pieces: Vec<Piece>,
    shift: u32,
}

impl Table {
    /// Holds up to 2³² − 1 rows.
    pub fn new(rows: Rows<'_>, masks: Masks) -> Table {
        assert!(rows.len() < u32::MAX as usize && !masks.is_empty());
        // About a row a part of the directory: smaller ones would save nothing but reading a few rows.
        let bits = (rows.len().max(2) as u64).ilog2().clamp(1, 28);
        let shift = 64 - bits;
        let pieces = (0..masks.len()).into_par_iter().map(|mask| Piece::new(rows, &masks, mask, shift)).collect();
        Table { values: rows.values.to_vec(), words: rows.words, masks, pieces, shift }
    }

    pub fn words(&self) -> usize {
        self.words
    }

    /// How many pieces rows are cut into: queries are answered for radii below it.
    pub fn pieces(&self) -> usize {
        self.masks.len()
    }

    /// The rows within `most` bits of a query, in order, and how far they are.
    pub fn query(&self, level: Level, query: &[u64], most: u32) -> Vec<(u32, u32)> {
        assert!((most as usize) < self.pieces() && query.len() == self.words);
        let rows = Rows::new(&self.values, self.words);
        let sought = folded(query);
        let (mut found, mut near) = (Vec::new(), Vec::new());
        for (mask, piece) in self.pieces.iter().enumerate() {
            let part = (self.masks.key(mask, query) >> self.shift) as usize;
            let (from, to) = (piece.starts[part] as usize, piece.starts[part + 1] as usize);
            near.clear();
            near_folds(level, sought, &piece.folds[from..to], most, &mut near);
            for &at in &near {
                let row = piece.rows[from + at as usize];
                let other = rows.get(row as usize);
                let bits = apart(other, query);
                // Found before, if they agree in an earlier piece.
                if bits <= most && !self.masks.masks()[..mask].iter().any(|earlier| earlier.agree(other, query)) {
                    found.push((row, bits));
                }
            }
        }
        // Rows that share a part of the directory but no piece may be near and found there a second time.
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

impl Piece {
    /// Deals the rows out by the first bits of their keys; rows of a part keep their order.
    fn new(rows: Rows<'_>, masks: &Masks, mask: usize, shift: u32) -> Piece {
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
        Piece { starts, rows: order, folds }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{clustered, masks::shuffled, scan};
    use super::*;

    #[test]
    fn a_table_answers_as_the_scan_does() {
        for (words, most) in [(1usize, 3u32), (1, 0), (2, 5), (16, 8)] {
            let values = clustered(2000, words, 14, 9);
            let rows = Rows::new(&values, words);
            let order = shuffled(64 * words as u32, 0);
            let pieces = most as usize + 1;
            let offsets: Vec<i64> = (0..=pieces).map(|piece| (order.len() * piece / pieces) as i64).collect();
            let table = Table::new(rows, Masks::new(&order, &offsets));
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
        let table = Table::new(Rows::new(&[], 1), Masks::new(&shuffled(64, 0), &[0, 32, 64]));
        assert!(table.query(Level::detect(), &[7], 1).is_empty());
    }
}
