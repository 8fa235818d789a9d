//! What two texts have in common at their beginning and their end.
//!
//! Variants of a template differ in a few words and are the same bytes before and after them. There the shingles of the right text are those of
//! the left, already in its table, and need not be hashed again: only the middle is. The counts are the same either way.

use std::ops::Range;

use crate::shingle::{Spec, Unit};
use crate::simd::Lanes;
use crate::table::Table;
use crate::unicode::Characters;
use crate::words::Scanner;

/// A character takes at most this many bytes. A word is the same in both texts only if the character that bounds it is.
const CHARACTER: usize = 4;

/// The words of the left text, and where its shingles stand in the table.
#[derive(Default)]
pub(crate) struct Ends {
    edges: Vec<u32>,
    places: Vec<u32>,
}

/// The part of a right text that is not shared, and the left shingles of the parts that are.
pub(crate) struct SharedEnds<'e> {
    before: &'e [u32],
    after: &'e [u32],
    middle: Range<usize>,
}

impl SharedEnds<'_> {
    pub(crate) fn places(&self) -> impl Iterator<Item = &u32> {
        self.before.iter().chain(self.after)
    }

    /// The bytes of the right text that hold every shingle not among the shared ones.
    pub(crate) fn middle(&self) -> Range<usize> {
        self.middle.clone()
    }
}

impl Ends {
    /// Whether shingles are windows of the words of the text as it stands; normal forms and bags look further.
    pub(crate) fn serve(spec: &Spec) -> bool {
        spec.unit == Unit::Words && !spec.folding.nfkc && !spec.bag
    }

    pub(crate) fn forget(&mut self) {
        self.edges.clear();
        self.places.clear();
    }

    pub(crate) fn learnt(&self) -> bool {
        !self.places.is_empty()
    }

    /// Takes in the left text: its `shingles` in order, all of them in `table`.
    #[inline(always)]
    pub(crate) fn learn<L: Lanes>(&mut self, text: &[u8], shingles: &[u64], table: &Table) {
        self.edges.clear();
        Scanner::new(text, Characters::get()).edges::<L>(text.len().div_ceil(64), &mut self.edges);
        self.places.clear();
        self.places.extend(shingles.iter().map(|&x| table.place(x)));
    }

    /// What `right` shares with the left text at its ends, if that is worth the trouble.
    #[inline(always)]
    pub(crate) fn shared(&self, left: &[u8], right: &[u8], k: usize) -> Option<SharedEnds<'_>> {
        let words = self.edges.len() / 2;
        if !self.learnt() || words < k {
            return None;
        }
        let shortest = left.len().min(right.len());
        let before = common(
            shortest,
            |i| left[i..].first_chunk::<32>() == right[i..].first_chunk::<32>(),
            |i| left[i] == right[i],
        );
        let back = |i: usize| (left.len() - i, right.len() - i);
        let after = common(
            shortest - before,
            |i| left[..back(i).0].last_chunk::<32>() == right[..back(i).1].last_chunk::<32>(),
            |i| left[back(i).0 - 1] == right[back(i).1 - 1],
        );
        if (before + after) * 2 < shortest {
            return None;
        }
        // Words whose bounding character is shared too; a window is shared if all its words are. Edges rise, words are two of them.
        let first_words = self.edges.partition_point(|&edge| edge as usize + CHARACTER <= before) / 2;
        let last_words =
            words - self.edges.partition_point(|&edge| (edge as usize) < left.len() - after + CHARACTER).div_ceil(2);
        let (first, last) = ((first_words + 1).saturating_sub(k), (last_words + 1).saturating_sub(k));
        if first + last == 0 {
            return None;
        }
        // From the end of the last word no window needs, to the beginning of the next such word: both lie where the texts are the same.
        let begin = if first > 0 { self.edges[2 * first - 1] as usize } else { 0 };
        let end = match last {
            0 => right.len(),
            _ => (self.edges[2 * (words - last_words + k - 1)] as usize + right.len()) - left.len(),
        };
        let count = self.places.len();
        Some(SharedEnds { before: &self.places[..first], after: &self.places[count - last..], middle: begin..end })
    }
}

/// How far two texts agree, at most `limit` bytes: `chunk` compares 32 bytes from i on, `byte` one.
#[inline(always)]
fn common(limit: usize, chunk: impl Fn(usize) -> bool, byte: impl Fn(usize) -> bool) -> usize {
    let mut i = 0;
    while i + 32 <= limit && chunk(i) {
        i += 32;
    }
    while i < limit && byte(i) {
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_agree_as_far_as_their_bytes_do() {
        for (a, b) in [("", "x"), ("abc", "abc"), ("abcdefgh", "abcdefgx")] {
            let limit = a.len().min(b.len());
            let expected = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
            let (a, b) = (a.as_bytes(), b.as_bytes());
            assert_eq!(common(limit, |i| a[i..i + 32] == b[i..i + 32], |i| a[i] == b[i]), expected);
        }
        let long = [7u8; 100];
        for at in 0..100 {
            let mut other = long;
            other[at] = 8;
            assert_eq!(common(100, |i| long[i..i + 32] == other[i..i + 32], |i| long[i] == other[i]), at);
        }
    }
}
