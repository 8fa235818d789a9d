//! Documents → sets of shingle hashes, kept: sorted, each element once.

use rayon::prelude::*;

use crate::shingle::{Scratch, Spec, document};
use crate::simd::{Lanes, Level, for_each_path};

#[inline(always)]
fn collect_on<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, out: &mut Vec<u64>) {
    document::<L>(text, spec, scratch, out);
}

for_each_path! {
    fn collect(level; text: &[u8], spec: &Spec, scratch: &mut Scratch, out: &mut Vec<u64>) => collect_on
}

/// The shingles of one document in the order of the text, repeats included.
pub fn shingles(level: Level, text: &[u8], spec: &Spec) -> Vec<u64> {
    let mut out = Vec::new();
    collect(level, text, spec, &mut Scratch::default(), &mut out);
    out
}

/// The sets of a batch of documents, one after the other, and where each begins. Eight bytes an element.
pub fn sets(level: Level, values: &[u8], offsets: &[i64], spec: &Spec) -> (Vec<u64>, Vec<i64>) {
    let rows = offsets.len() - 1;
    let pieces: Vec<(Vec<u64>, Vec<usize>)> = (0..rows.div_ceil(64))
        .into_par_iter()
        .map_init(Scratch::default, |scratch, piece| {
            let (mut elements, mut sizes, mut set) = (Vec::new(), Vec::new(), Vec::new());
            for row in piece * 64..((piece + 1) * 64).min(rows) {
                set.clear();
                collect(level, &values[offsets[row] as usize..offsets[row + 1] as usize], spec, scratch, &mut set);
                set.sort_unstable();
                set.dedup();
                elements.extend_from_slice(&set);
                sizes.push(set.len());
            }
            (elements, sizes)
        })
        .collect();
    join_pieces(pieces)
}

/// Sorts each set and keeps each element once.
pub fn canonical(elements: &[u64], offsets: &[i64], bag: bool) -> (Vec<u64>, Vec<i64>) {
    let rows = offsets.len() - 1;
    let pieces = (0..rows.div_ceil(64))
        .into_par_iter()
        .map(|piece| {
            let (mut all, mut sizes) = (Vec::new(), Vec::new());
            for row in piece * 64..((piece + 1) * 64).min(rows) {
                let mut set = elements[offsets[row] as usize..offsets[row + 1] as usize].to_vec();
                if bag {
                    crate::shingle::number_occurrences(&mut set);
                }
                set.sort_unstable();
                set.dedup();
                all.extend_from_slice(&set);
                sizes.push(set.len());
            }
            (all, sizes)
        })
        .collect();
    join_pieces(pieces)
}

pub(crate) fn join_pieces(pieces: Vec<(Vec<u64>, Vec<usize>)>) -> (Vec<u64>, Vec<i64>) {
    let mut offsets = vec![0i64];
    let mut elements = Vec::with_capacity(pieces.iter().map(|(e, _)| e.len()).sum());
    for (some, sizes) in pieces {
        elements.extend_from_slice(&some);
        for size in sizes {
            offsets.push(offsets[offsets.len() - 1] + size as i64);
        }
    }
    (elements, offsets)
}
