//! Candidates → exact counts: how many shingles two items share, and how many they have together.
//!
//! Candidates come sorted by their left item, whose set is put in a table once; the right items stream past it. No set of a right item
//! is ever held: a near-duplicate's shingles are nearly all in the table already, and the few that are not go to a small table of
//! their own. O(shingles) time a pair, memory of two documents a thread.

use rayon::prelude::*;

use crate::shingle::{Scratch, Spec, document};
use crate::simd::{Lanes, Level, for_each_path};
use crate::table::Table;

/// Items by row number, in pieces as they were read.
pub struct Rows<'a, T> {
    pieces: Vec<(&'a [T], &'a [i64])>,
    /// The first row of every piece, and the number of all rows.
    firsts: Vec<usize>,
}

impl<'a, T> Rows<'a, T> {
    pub fn new(pieces: Vec<(&'a [T], &'a [i64])>) -> Rows<'a, T> {
        let mut firsts = vec![0];
        for (_, offsets) in &pieces {
            firsts.push(firsts[firsts.len() - 1] + offsets.len() - 1);
        }
        Rows { pieces, firsts }
    }

    pub fn len(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, row: u32) -> &'a [T] {
        let row = row as usize;
        let piece = self.firsts.partition_point(|&first| first <= row) - 1;
        let (values, offsets) = self.pieces[piece];
        let i = row - self.firsts[piece];
        &values[offsets[i] as usize..offsets[i + 1] as usize]
    }
}

/// Shared and joint shingles of one pair. `union` is 0 for a pair given up because it cannot reach `at_least`, or of two empty sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub shared: u32,
    pub union: u32,
}

/// Candidates handed to a thread at a time.
const PAIRS: usize = 128;

struct Workspace {
    scratch: Scratch,
    left: Table,
    extra: Table,
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace { scratch: Scratch::default(), left: Table::default(), extra: Table::default() }
    }
}

#[inline(always)]
fn fill_on<L: Lanes>(text: &[u8], spec: &Spec, work: &mut Workspace) {
    let Workspace { scratch, left, .. } = work;
    left.clear();
    document::<L>(text, spec, scratch, &mut |shingles: &[u64]| left.insert_all(shingles));
}

#[inline(always)]
fn count_on<L: Lanes>(text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts {
    let Workspace { scratch, left, extra } = work;
    let mut count = Count::begin(left, extra, at_least);
    document::<L>(text, spec, scratch, &mut |shingles: &[u64]| count.take(shingles));
    count.end()
}

for_each_path! {
    fn fill(level; text: &[u8], spec: &Spec, work: &mut Workspace) => fill_on
}
for_each_path! {
    fn count(level; text: &[u8], spec: &Spec, at_least: f64, work: &mut Workspace) -> Counts => count_on
}

/// One right item streaming past the left item's table.
struct Count<'t> {
    left: &'t mut Table,
    extra: &'t mut Table,
    shared: usize,
    /// More than this many elements of its own, and the pair cannot reach the similarity asked for.
    most_extra: usize,
}

impl<'t> Count<'t> {
    #[inline(always)]
    fn begin(left: &'t mut Table, extra: &'t mut Table, at_least: f64) -> Count<'t> {
        left.forget_marks();
        extra.clear();
        // shared ≤ |left| and union ≥ |left| + extra. Rounded up: giving up must never lose a pair.
        let most_extra =
            if at_least > 0.0 { (left.len() as f64 * (1.0 / at_least - 1.0)) as usize + 1 } else { usize::MAX };
        Count { left, extra, shared: 0, most_extra }
    }

    #[inline(always)]
    fn take(&mut self, elements: &[u64]) {
        if self.extra.len() > self.most_extra {
            return;
        }
        for &x in elements {
            match self.left.mark(x) {
                Some(first_time) => self.shared += usize::from(first_time),
                None => self.extra.insert(x),
            }
        }
    }

    #[inline(always)]
    fn end(self) -> Counts {
        if self.extra.len() > self.most_extra {
            return Counts::default();
        }
        Counts { shared: self.shared as u32, union: (self.left.len() + self.extra.len()) as u32 }
    }
}

/// Exact counts of candidates among documents; best sorted by `left`.
pub fn compare_texts(
    level: Level,
    texts: &Rows<'_, u8>,
    left: &[u32],
    right: &[u32],
    spec: &Spec,
    at_least: f64,
    out: &mut [Counts],
) {
    let pieces = (left.par_chunks(PAIRS), right.par_chunks(PAIRS), out.par_chunks_mut(PAIRS));
    pieces.into_par_iter().for_each_init(Workspace::default, |work, (left, right, out)| {
        let mut held = None;
        for ((&a, &b), counts) in left.iter().zip(right).zip(out) {
            if held != Some(a) {
                fill(level, texts.get(a), spec, work);
                held = Some(a);
            }
            *counts = if texts.get(a) == texts.get(b) {
                let all = work.left.len() as u32;
                Counts { shared: all, union: all }
            } else {
                count(level, texts.get(b), spec, at_least, work)
            };
        }
    });
}

/// Exact counts of candidates among sets of distinct elements; best sorted by `left`.
pub fn compare_sets(sets: &Rows<'_, u64>, left: &[u32], right: &[u32], at_least: f64, out: &mut [Counts]) {
    let pieces = (left.par_chunks(PAIRS), right.par_chunks(PAIRS), out.par_chunks_mut(PAIRS));
    pieces.into_par_iter().for_each_init(
        || (Table::default(), Table::default()),
        |(table, extra), (left, right, out)| {
            let mut held = None;
            for ((&a, &b), counts) in left.iter().zip(right).zip(out) {
                if held != Some(a) {
                    table.clear();
                    table.insert_all(sets.get(a));
                    held = Some(a);
                }
                let mut count = Count::begin(table, extra, at_least);
                count.take(sets.get(b));
                *counts = count.end();
            }
        },
    );
}
