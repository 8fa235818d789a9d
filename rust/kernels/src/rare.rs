//! The important words of a document: those that the fewest documents hold.
//!
//! How many documents hold a word is counted in a table of fixed size, so that a collection of any size needs the same memory and the tables of its
//! parts add up. A counter holds the sum over the words that share it: such words look more common than they are, never rarer.

use rayon::prelude::*;

use crate::hash;
use crate::sets::join_pieces;
use crate::shingle::{Scratch, Seen, Sink, Spec, document};
use crate::sign::flags_of;
use crate::simd::{Lanes, Level, for_each_path};
use crate::table::Table;

/// Counters of a table: 4 MiB of them, which the second-level cache of most cores holds in part and the third in whole.
pub const COUNTERS: usize = 1 << 20;

/// Where a word stands among those of equal count, and by its high bits which counter is its own.
///
/// Mixed once more: to take the least elements themselves would leave sets whose hashes begin alike, and signatures cut them by how they begin.
#[inline(always)]
fn rank(element: u64) -> u64 {
    hash::mix(element)
}

#[inline(always)]
fn counter(rank: u64) -> usize {
    (rank >> (64 - COUNTERS.trailing_zeros())) as usize
}

/// Which counter a word has.
#[inline(always)]
pub(crate) fn counter_of(word: u64) -> usize {
    counter(rank(word))
}

/// The words of one document, each once.
#[derive(Default)]
pub(crate) struct Distinct {
    seen: Table,
    pub(crate) words: Vec<u64>,
}

impl Sink for Distinct {
    #[inline(always)]
    fn take(&mut self, shingles: &[u64]) {
        for &word in shingles {
            self.seen.insert(word);
            if self.seen.len() > self.words.len() {
                self.words.push(word);
            }
        }
    }
}

#[inline(always)]
fn gather_on<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, found: &mut Distinct) -> Seen {
    found.seen.clear();
    found.words.clear();
    document::<L>(text, spec, scratch, found)
}

for_each_path! {
    pub(crate) fn gather(level; text: &[u8], spec: &Spec, scratch: &mut Scratch, found: &mut Distinct) -> Seen => gather_on
}

/// In how many documents of a batch each word occurs.
pub fn document_frequencies(level: Level, values: &[u8], offsets: &[i64], spec: &Spec) -> Vec<u32> {
    let mut counters = vec![0u32; COUNTERS];
    let (mut scratch, mut found) = (Scratch::default(), Distinct::default());
    for o in offsets.windows(2) {
        gather(level, &values[o[0] as usize..o[1] as usize], spec, &mut scratch, &mut found);
        for &word in &found.words {
            let count = &mut counters[counter_of(word)];
            *count = count.saturating_add(1);
        }
    }
    counters
}

/// Of every document the `most` words of least frequency, ties by rank: sorted elements, where each set begins, and flags.
pub fn rarest(
    level: Level,
    values: &[u8],
    offsets: &[i64],
    spec: &Spec,
    frequencies: &[u32],
    most: usize,
) -> (Vec<u64>, Vec<i64>, Vec<u8>) {
    let rows = offsets.len() - 1;
    let (pieces, flags): (Vec<_>, Vec<_>) = (0..rows.div_ceil(64))
        .into_par_iter()
        .map_init(Workspace::default, |work, piece| {
            let (mut elements, mut sizes, mut flags) = (Vec::new(), Vec::new(), Vec::new());
            for row in piece * 64..((piece + 1) * 64).min(rows) {
                let text = &values[offsets[row] as usize..offsets[row + 1] as usize];
                let seen = gather(level, text, spec, &mut work.scratch, &mut work.found);
                let words = work.rarest(frequencies, most);
                elements.extend_from_slice(words);
                sizes.push(words.len());
                flags.push(flags_of(&seen));
            }
            ((elements, sizes), flags)
        })
        .unzip();
    let (elements, offsets) = join_pieces(pieces);
    (elements, offsets, flags.concat())
}

#[derive(Default)]
struct Workspace {
    scratch: Scratch,
    found: Distinct,
    ranked: Vec<(u32, u64, u64)>,
}

impl Workspace {
    /// The rarest of the words found, sorted.
    fn rarest(&mut self, frequencies: &[u32], most: usize) -> &[u64] {
        let Workspace { found: Distinct { words, .. }, ranked, .. } = self;
        if words.len() > most {
            ranked.clear();
            ranked.extend(words.iter().map(|&word| {
                let rank = rank(word);
                (frequencies[counter(rank)], rank, word)
            }));
            // Ranks differ where words do, so which are the least is never a matter of where they stood.
            ranked.select_nth_unstable(most);
            words.clear();
            words.extend(ranked[..most].iter().map(|&(_, _, word)| word));
        }
        words.sort_unstable();
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::{Folding, Unit};
    use crate::sign::FLAG_EMPTY;

    /// Words by themselves, and the tables of a few documents.
    fn given(texts: &[&str]) -> (Spec, Vec<u8>, Vec<i64>) {
        let folding = Folding { casefold: true, nfkc: false, whitespace: false, punctuation: false };
        let spec = Spec { unit: Unit::Words, k: 1, folding, bag: false, seed: hash::spread_seed(0) };
        let mut offsets = vec![0];
        offsets.extend(texts.iter().scan(0, |end, text| {
            *end += text.len() as i64;
            Some(*end)
        }));
        (spec, texts.concat().into_bytes(), offsets)
    }

    #[test]
    fn the_rarest_words_are_those_that_the_fewest_documents_hold() {
        // the: 4, cat: 3, mat: 2, ox: 1, however often a document says so.
        let (spec, values, offsets) = given(&["the cat mat ox ox", "the cat the mat", "The Cat", "the", ""]);
        let level = Level::detect();
        let counted = document_frequencies(level, &values, &offsets, &spec);
        let word = |text: &str| crate::sets::shingles(level, text.as_bytes(), &spec)[0];
        for (text, documents) in [("the", 4), ("cat", 3), ("mat", 2), ("ox", 1)] {
            assert_eq!(counted[counter_of(word(text))], documents, "{text}");
        }
        let expected: [&[&str]; 5] = [&["mat", "ox"], &["cat", "mat"], &["the", "cat"], &["the"], &[]];
        let (elements, starts, flags) = rarest(level, &values, &offsets, &spec, &counted, 2);
        for (row, words) in expected.iter().enumerate() {
            let mut set: Vec<u64> = words.iter().map(|text| word(text)).collect();
            set.sort_unstable();
            assert_eq!(elements[starts[row] as usize..starts[row + 1] as usize], set, "{row}");
        }
        assert_eq!(flags, [0, 0, 0, 0, FLAG_EMPTY]);
    }
}
