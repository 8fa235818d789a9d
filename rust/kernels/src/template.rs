//! What a text has in common with another that is already in a table.
//!
//! Near-duplicates differ in some words and are the same bytes before, between and after them. There the shingles of the right text are those of
//! the left and need not be hashed again: bytes are compared, and only windows with a word of their own are made. The counts are the
//! same either way; where texts are not alike this is given up early.

use crate::shingle::{Spec, Unit};
use crate::simd::Lanes;
use crate::symbols::has_word;
use crate::table::{Sieve, Table};
use crate::unicode::Characters;
use crate::words::{Scanner, hash_words, windows};

/// A character takes at most this many bytes.
const CHARACTER: usize = 4;
/// Bytes by which the texts find together again after a difference, and how far on they are looked for.
const ANCHOR: usize = 8;
const REACH: usize = 64;
/// Which of the words after a difference are tried as anchors.
const TRIES: [usize; 4] = [0, 1, 2, 4];

/// The left text: its words and windows, and where those stand in the table.
#[derive(Default)]
pub(crate) struct Template {
    /// Where words begin and end, in turn.
    edges: Vec<u32>,
    /// The same as a bit a byte, and how many edges come before each 64 bytes.
    bits: Vec<u64>,
    before: Vec<u32>,
    words: Vec<u64>,
    shingles: Vec<u64>,
    /// Of every shingle in order: its place in the table.
    places: Vec<u32>,
    /// Of every place in the table that holds a shingle: which one. Only if no shingle occurs twice.
    order: Vec<u32>,
    once: bool,
    sieve: Sieve,
    folded: Vec<u8>,
}

/// What a right text shares with the left.
#[derive(Default)]
pub(crate) struct Shared {
    /// Windows of the left text, as ranges that rise.
    ranges: Vec<(u32, u32)>,
    /// The right text's other windows.
    pub(crate) fresh: Vec<u64>,
    gap: Vec<u64>,
    edges: Vec<u32>,
    made: Vec<u64>,
    folded: Vec<u8>,
}

impl Shared {
    /// How many windows are shared, repeats counted.
    #[inline(always)]
    pub(crate) fn count(&self) -> usize {
        self.ranges.iter().map(|&(start, end)| (end - start) as usize).sum()
    }
}

impl Template {
    /// Whether shingles are windows of the words of the text as it stands; normal forms and bags look further.
    pub(crate) fn serves(spec: &Spec) -> bool {
        spec.unit == Unit::Words && !spec.folding.nfkc && !spec.bag
    }

    /// Takes in the left text and fills the table with its shingles; false, and nothing done, if it has no window.
    #[inline(always)]
    pub(crate) fn learn<L: Lanes>(&mut self, text: &[u8], spec: &Spec, table: &mut Table) -> bool {
        let Template { edges, bits, before, words, shingles, places, order, once, sieve, folded } = self;
        edges.clear();
        bits.clear();
        before.clear();
        words.clear();
        let mut scanner = Scanner::new(text, Characters::get());
        while !scanner.done() {
            before.push(edges.len() as u32);
            bits.push(scanner.block::<L>(edges));
        }
        if edges.len() / 2 < spec.k || !has_word(text, Characters::get()) {
            return false;
        }
        hash_words(text, edges, spec.folding.casefold, spec.seed, &mut scanner.capitals, folded, words);
        windows(words, spec.k, spec.seed, shingles);
        table.clear_for(shingles.len());
        places.clear();
        places.reserve(shingles.len());
        *sieve = Sieve::default();
        for &shingle in shingles.iter() {
            places.push(table.insert_at(shingle));
            sieve.add(shingle);
        }
        *once = table.len() == shingles.len();
        if *once {
            order.resize(table.places(), 0);
            for (shingle, &place) in places.iter().enumerate() {
                order[place as usize] = shingle as u32;
            }
        }
        true
    }

    /// The places of windows that are shared.
    pub(crate) fn places<'t>(&'t self, shared: &'t Shared) -> impl Iterator<Item = u32> + 't {
        shared.ranges.iter().flat_map(|&(start, end)| self.places[start as usize..end as usize].iter().copied())
    }

    /// Whether every window of the left text is there once: then shared ones need no marks.
    pub(crate) fn once(&self) -> bool {
        self.once
    }

    /// What the left text's windows show of themselves.
    pub(crate) fn sieve(&self) -> &Sieve {
        &self.sieve
    }

    /// Whether the window at a place is a shared one; asked only if each is there once.
    #[inline(always)]
    pub(crate) fn holds(&self, shared: &Shared, place: u32) -> bool {
        let shingle = self.order[place as usize];
        shared.ranges.iter().any(|&(start, end)| start <= shingle && shingle < end)
    }

    /// How many edges come before a byte of the left text.
    #[inline(always)]
    fn edges_before(&self, byte: usize) -> usize {
        match self.bits.get(byte / 64) {
            Some(bits) => (bits & ((1 << (byte % 64)) - 1)).count_ones() as usize + self.before[byte / 64] as usize,
            None => self.edges.len(),
        }
    }

    /// The first word that begins after a byte.
    #[inline(always)]
    fn word_after(&self, byte: usize) -> usize {
        self.edges_before(byte + 1).div_ceil(2)
    }

    /// Parts the windows of `right` into those it shares with `left`, the text learnt, and its own.
    #[inline(always)]
    pub(crate) fn share<L: Lanes>(&self, left: &[u8], right: &[u8], spec: &Spec, shared: &mut Shared) {
        let k = spec.k;
        shared.ranges.clear();
        shared.fresh.clear();
        shared.gap.clear();
        // The texts are the same from (l, r) on; the words of `right` before `done` are accounted for.
        let (mut l, mut r, mut done) = (0, 0, 0);
        // How many more bytes may be looked at in search of anchors: never much more than hashing them would take.
        let mut patience = right.len();
        let mut first = 0;
        let mut last_try = false;
        loop {
            let same = common::<L>(&left[l..], &right[r..]);
            let (end, both_end) = (l + same, l + same == left.len() && r + same == right.len());
            // Words that lie in here with the characters that bound them.
            if l > 0 || r > 0 {
                first = self.word_after(l);
                while first < self.words.len() && !bounded_before(left, l, self.edges[2 * first] as usize) {
                    first += 1;
                }
            }
            let mut last = match both_end {
                true => self.words.len(),
                false => self.edges_before(end) / 2,
            };
            while !both_end && last > first && !bounded_after(left, end, self.edges[2 * last - 1] as usize) {
                last -= 1;
            }
            if last > first {
                shared.own_words::<L>(right, done..self.edges[2 * first] as usize - l + r, spec);
                if last - first >= k {
                    shared.gap.extend_from_slice(&self.words[first..first + k - 1]);
                    shared.own_windows(spec);
                    shared.ranges.push((first as u32, (last - k + 1) as u32));
                    shared.gap.extend_from_slice(&self.words[last + 1 - k..last]);
                } else {
                    shared.gap.extend_from_slice(&self.words[first..last]);
                }
                done = self.edges[2 * last - 1] as usize - l + r;
                first = last;
            }
            if both_end || last_try {
                break;
            }
            (l, r) = match self.anchor(left, right, (end, r + same), &mut patience) {
                Some(found) => found,
                None => {
                    last_try = true;
                    let after = common_end(&left[end..], &right[r + same..]);
                    (left.len() - after, right.len() - after)
                }
            };
        }
        shared.own_words::<L>(right, done..right.len(), spec);
        shared.own_windows(spec);
    }

    /// Where the texts are the same again, somewhat after a difference.
    #[inline(always)]
    fn anchor(
        &self,
        left: &[u8],
        right: &[u8],
        (l, r): (usize, usize),
        patience: &mut usize,
    ) -> Option<(usize, usize)> {
        let next = self.word_after(l);
        for skipped in TRIES {
            let at = *self.edges.get(2 * (next + skipped))? as usize;
            let anchor = left.get(at..at + ANCHOR)?;
            let reach = right.len().min(r + REACH + ANCHOR);
            if reach - r > *patience {
                return None;
            }
            let found = right[r..reach].windows(ANCHOR).position(|bytes| bytes == anchor);
            *patience -= found.unwrap_or(reach - r);
            if let Some(on) = found {
                let back = common_before(&left[..at], &right[..r + on], on.min(at - l));
                return Some((at - back, r + on - back));
            }
        }
        None
    }
}

impl Shared {
    /// Adds the words of some bytes, which begin and end where words do.
    #[inline(always)]
    fn own_words<L: Lanes>(&mut self, right: &[u8], bytes: std::ops::Range<usize>, spec: &Spec) {
        if bytes.is_empty() {
            return;
        }
        self.edges.clear();
        let blocks = bytes.len().div_ceil(64);
        let mut scanner = Scanner::within(right, bytes, Characters::get());
        scanner.edges::<L>(blocks, &mut self.edges);
        let folding = spec.folding.casefold;
        hash_words(right, &self.edges, folding, spec.seed, &mut scanner.capitals, &mut self.folded, &mut self.gap);
    }

    /// Makes windows of the words that have gathered.
    #[inline(always)]
    fn own_windows(&mut self, spec: &Spec) {
        if self.gap.len() < spec.k {
            self.gap.clear();
            return;
        }
        windows(&self.gap, spec.k, spec.seed, &mut self.made);
        self.fresh.extend_from_slice(&self.made);
        self.gap.clear();
    }
}

/// Whether the character before a word that begins at `at`, after `start`, lies after `start` too.
#[inline(always)]
fn bounded_before(text: &[u8], start: usize, at: usize) -> bool {
    at >= start + CHARACTER || text[at - 1].is_ascii()
}

/// Whether the character after a word that ends at `at` lies before `end`.
#[inline(always)]
fn bounded_after(text: &[u8], end: usize, at: usize) -> bool {
    at + CHARACTER <= end || (at < end && text[at].is_ascii())
}

/// How many bytes are the same from the beginning on.
#[inline(always)]
fn common<L: Lanes>(left: &[u8], right: &[u8]) -> usize {
    let limit = left.len().min(right.len());
    let mut i = 0;
    while i < limit {
        // The last block is moved back to the end: what is looked at again is known to agree.
        let at = i.min(limit.saturating_sub(64));
        let (Some(l), Some(r)) = (left[at..].first_chunk(), right[at..].first_chunk()) else {
            return common_in_eights(&left[..limit], &right[..limit]);
        };
        // SAFETY: `L` is a path of this machine.
        let differing = unsafe { L::differing(l, r) };
        if differing != 0 {
            return at + differing.trailing_zeros() as usize;
        }
        i = at + 64;
    }
    limit
}

/// The same of short texts, which are equally long.
#[inline(always)]
fn common_in_eights(left: &[u8], right: &[u8]) -> usize {
    let mut i = 0;
    while i + 8 <= left.len() {
        let differing = eight(left, i) ^ eight(right, i);
        if differing != 0 {
            return i + differing.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    while i < left.len() && left[i] == right[i] {
        i += 1;
    }
    i
}

/// How many bytes are the same from the end on.
#[inline(always)]
fn common_end(left: &[u8], right: &[u8]) -> usize {
    let limit = left.len().min(right.len());
    let (l, r) = (left.len(), right.len());
    let mut i = 0;
    while i + 8 <= limit {
        let differing = eight(left, l - i - 8) ^ eight(right, r - i - 8);
        if differing != 0 {
            return i + differing.leading_zeros() as usize / 8;
        }
        i += 8;
    }
    while i < limit && left[l - i - 1] == right[r - i - 1] {
        i += 1;
    }
    i
}

/// Of two texts up to where they are the same again: how many bytes before that are the same, at most `limit` of either.
#[inline(always)]
fn common_before(left: &[u8], right: &[u8], limit: usize) -> usize {
    match (left.last_chunk(), right.last_chunk()) {
        // Mostly there are no more than eight: then one look tells, however many they are.
        (Some(l), Some(r)) if limit <= 8 => {
            let differing = u64::from_le_bytes(*l) ^ u64::from_le_bytes(*r);
            limit.min(differing.leading_zeros() as usize / 8)
        }
        _ => common_end(&left[left.len() - limit..], &right[right.len() - limit..]),
    }
}

/// Eight bytes from `at` on, the first of them lowest.
#[inline(always)]
fn eight(text: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*text[at..].first_chunk().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;

    #[test]
    fn texts_agree_as_far_as_their_bytes_do() {
        for (a, b) in [("", "x"), ("abc", "abc"), ("abcdefgh", "abcdefgx"), ("xabc", "yabc")] {
            agree(a.as_bytes(), b.as_bytes());
        }
        for length in [20, 63, 64, 65, 100, 128, 200] {
            let long = vec![7u8; length];
            agree(&long, &long[..length - 1]);
            for at in 0..length {
                let mut other = long.clone();
                other[at] = 8;
                agree(&long, &other);
                agree(&long[at / 2..], &other[at / 2..]);
                agree(&long[..at], &other[at / 3..]);
            }
        }
    }

    fn agree(a: &[u8], b: &[u8]) {
        let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        assert_eq!(common::<Portable>(a, b), same);
        let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
        assert_eq!(common_end(a, b), back);
        for limit in 0..a.len().min(b.len()) {
            assert_eq!(common_before(a, b, limit), back.min(limit));
        }
    }
}
