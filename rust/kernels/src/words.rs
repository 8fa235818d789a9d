//! Text → word hashes.
//!
//! Sixty-four bytes at a time become a mask of word bytes; where the mask changes, a word begins or ends. So plain text
//! costs a few instructions a word, and only a character beyond ASCII is decoded. Places of changes are written many at a time:
//! taken one by one, with an end that nobody can guess, they were a third of all the time of signing.

use std::ops::Range;

use crate::hash;
use crate::memory::ask_for;
use crate::simd::Lanes;
use crate::unicode::{Characters, decode};

/// How many bytes ahead memory is asked for: by itself it looks no further than a page.
const AHEAD: usize = 1 << 11;

/// Finds words piece by piece, so that a document of any length needs the same few buffers.
pub(crate) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
    /// Whether the byte before `at` belongs to a word.
    inside: u64,
    /// Bits of a character that began in the block before: which bytes it covers, and whether they are word bytes.
    covered: u64,
    covered_words: u64,
    /// Letters seen of scripts written without spaces.
    pub(crate) unspaced: usize,
    /// Where characters beyond ASCII stand that case folding would change.
    pub(crate) capitals: Vec<u32>,
    characters: Characters,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t [u8], characters: Characters) -> Self {
        Scanner::within(text, 0..text.len(), characters)
    }

    /// Finds the words of some bytes of a text, which begin and end where words or characters between them do.
    #[inline(always)]
    pub(crate) fn within(text: &'t [u8], bytes: Range<usize>, characters: Characters) -> Self {
        Scanner {
            text,
            at: bytes.start,
            end: bytes.end,
            inside: 0,
            covered: 0,
            covered_words: 0,
            unspaced: 0,
            capitals: Vec::new(),
            characters,
        }
    }

    pub(crate) fn done(&self) -> bool {
        self.at >= self.end
    }

    /// Appends where words begin and end, in turn, over the next `blocks` blocks. At the end of the text every word is closed.
    #[inline(always)]
    pub(crate) fn edges<L: Lanes>(&mut self, blocks: usize, edges: &mut Vec<u32>) {
        for _ in 0..blocks {
            if self.done() {
                break;
            }
            self.block::<L>(edges);
        }
    }

    /// The same over one block; returns at which of its bytes words begin and end, as bits. There must be a block left.
    #[inline(always)]
    pub(crate) fn block<L: Lanes>(&mut self, edges: &mut Vec<u32>) -> u64 {
        ask_for(self.text.as_ptr().wrapping_add(self.at + AHEAD));
        // SAFETY: a path is only entered on a machine that has it.
        let (mut words, mut beyond) = match self.text[self.at..].first_chunk::<64>() {
            Some(block) => unsafe { L::word_bytes(block) },
            None => {
                let mut block = [0; 64];
                let rest = &self.text[self.at..];
                block[..rest.len()].copy_from_slice(rest);
                unsafe { L::word_bytes(&block) }
            }
        };
        if self.end - self.at < 64 {
            let ours = (1 << (self.end - self.at)) - 1;
            (words, beyond) = (words & ours, beyond & ours);
        }
        if beyond | self.covered != 0 {
            words |= self.decode_beyond(beyond);
        }
        let changes = words ^ (words << 1 | self.inside);
        self.inside = words >> 63;
        let known = edges.len();
        edges.resize(known + 64, 0);
        let room = (&mut edges[known..]).try_into().expect("room for 64 was added");
        // SAFETY: as above.
        let new = unsafe { L::places_of_bits(changes, self.at as u32, room) };
        edges.truncate(known + new);
        self.at += 64;
        if self.done() && self.inside != 0 {
            edges.push(self.end as u32);
            self.inside = 0;
        }
        changes
    }

    /// The word bytes among those beyond ASCII in this block, and what runs over into the next.
    #[inline(always)]
    fn decode_beyond(&mut self, beyond: u64) -> u64 {
        let mut words = self.covered_words;
        let mut rest = beyond & !self.covered;
        (self.covered, self.covered_words) = (0, 0);
        while rest != 0 {
            let i = rest.trailing_zeros();
            let (c, length) = decode(self.text, self.at + i as usize);
            let facts = self.characters.facts(c);
            self.unspaced += usize::from(facts.is_unspaced());
            if facts.changes_by_folding(c) {
                self.capitals.push(self.at as u32 + i);
            }
            let bytes = (1u64 << length) - 1;
            rest &= !(bytes << i);
            words |= if facts.is_word() { bytes << i } else { 0 };
            if i as usize + length > 64 {
                self.covered = bytes >> (64 - i);
                self.covered_words = if facts.is_word() { self.covered } else { 0 };
            }
        }
        words
    }
}

/// Appends the hash of every word that `edges` bounds, folded if `casefold`; `capitals` are the scanner's.
#[inline(always)]
pub(crate) fn hash_words(
    text: &[u8],
    edges: &[u32],
    casefold: bool,
    seed: u64,
    capitals: &mut Vec<u32>,
    folded: &mut Vec<u8>,
    out: &mut Vec<u64>,
) {
    // Digits and lower-case letters have this bit already, so one OR folds a chunk of letters and digits.
    let lower: u64 = if casefold { 0x2020_2020_2020_2020 } else { 0 };
    let mut next_capital = 0;
    out.reserve(edges.len() / 2);
    let mut edges = edges;
    if edges.len() >= 2 * BLOCK && (!casefold || capitals.is_empty()) {
        edges = hash_blocks(text, edges, lower, seed, out);
    }
    for edge in edges.chunks_exact(2) {
        let (start, end) = (edge[0] as usize, edge[1] as usize);
        if casefold && next_capital < capitals.len() {
            while capitals.get(next_capital).is_some_and(|&at| at < edge[0]) {
                next_capital += 1;
            }
            if capitals.get(next_capital).is_some_and(|&at| at < edge[1]) {
                out.push(hash_capitals(&text[start..end], seed, folded));
                continue;
            }
        }
        let mut state = hash::begin(seed, end - start);
        let mut at = start;
        loop {
            let left = end - at;
            let chunk = fold(hash::load(text, at), lower);
            if left <= 8 {
                state = hash::round(state, hash::keep_bytes(chunk, left));
                break;
            }
            state = hash::round(state, chunk);
            at += 8;
        }
        out.push(hash::finish(state));
    }
    capitals.drain(..next_capital);
}

/// Folds eight bytes. Those beyond ASCII stay as they are: their high bit, moved down, takes the folding bit away.
#[inline(always)]
fn fold(chunk: u64, lower: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    chunk | (lower & !((chunk & HIGH) >> 2))
}

/// Words hashed at a time.
const BLOCK: usize = 64;

/// Appends the hashes of words, a block at a time, and returns the edges of those that are left: too few for a block, or too near the end.
///
/// The bytes are fetched first, and then all words of a block are hashed without a branch, which vectorises: how long a word is nobody can
/// guess. Only words of more than sixteen bytes are hashed one by one, afterwards.
#[inline(always)]
fn hash_blocks<'e>(text: &[u8], mut edges: &'e [u32], lower: u64, seed: u64, out: &mut Vec<u64>) -> &'e [u32] {
    let (mut first, mut second) = ([0u64; BLOCK], [0u64; BLOCK]);
    let mut lengths = [0u64; BLOCK];
    while let Some((block, rest)) = edges.split_first_chunk::<{ 2 * BLOCK }>() {
        // Sixteen bytes from where a word begins: the last one begins last.
        if block[2 * BLOCK - 2] as usize + 16 > text.len() {
            break;
        }
        let mut longest = 0;
        for (i, edge) in block.chunks_exact(2).enumerate() {
            let at = edge[0] as usize;
            // SAFETY: edges rise, so no word begins after the last one, from which on there are sixteen bytes.
            let bytes: [u8; 16] = unsafe { text.as_ptr().add(at).cast::<[u8; 16]>().read_unaligned() };
            let both = u128::from_le_bytes(bytes);
            (first[i], second[i]) = (both as u64, (both >> 64) as u64);
            let length = edge[1] - edge[0];
            lengths[i] = u64::from(length);
            longest = longest.max(length);
        }
        let begin = out.len();
        out.resize(begin + BLOCK, 0);
        let hashes: &mut [u64; BLOCK] = (&mut out[begin..]).try_into().expect("a block was added");
        for i in 0..BLOCK {
            let (length, one, two) = (lengths[i], fold(first[i], lower), fold(second[i], lower));
            let state = hash::begin(seed, length as usize);
            let long = length > 8;
            let state = if long { hash::round(state, one) } else { state };
            let (chunk, left) = if long { (two, length - 8) } else { (one, length) };
            // The shift of a word that is too long for this means nothing.
            let kept = chunk & (u64::MAX >> (64u64.wrapping_sub(8 * left) & 63));
            hashes[i] = hash::finish(hash::round(state, kept));
        }
        if longest > 16 {
            for (edge, hash) in block.chunks_exact(2).zip(hashes) {
                if edge[1] - edge[0] > 16 {
                    *hash = hash_long(&text[edge[0] as usize..edge[1] as usize], lower, seed);
                }
            }
        }
        edges = rest;
    }
    edges
}

/// The hash of a word of any length without capitals beyond ASCII.
#[inline(never)]
fn hash_long(word: &[u8], lower: u64, seed: u64) -> u64 {
    let mut state = hash::begin(seed, word.len());
    for at in (0..word.len()).step_by(8) {
        let left = (word.len() - at).min(8);
        state = hash::round(state, hash::keep_bytes(fold(hash::load(word, at), lower), left));
    }
    hash::finish(state)
}

/// The hash of a word with capitals beyond ASCII, whose folding may be of another length.
#[inline(never)]
fn hash_capitals(word: &[u8], seed: u64, folded: &mut Vec<u8>) -> u64 {
    folded.clear();
    Characters::get().fold_into(word, folded);
    hash::word(folded, seed)
}

/// Writes the hash of every window of `k` words of `hashes` to `out`: `mix(Σ hashes[i+j]·BASE^(k−1−j))`.
///
/// Wrapping arithmetic mod 2⁶⁴ is meant: an odd base keeps every word's bits, and words are hashes already. Narrow windows are summed
/// afresh, which vectorises; wide ones roll. Both are the same sum.
#[inline(always)]
pub(crate) fn windows(hashes: &[u64], k: usize, seed: u64, out: &mut Vec<u64>) {
    out.clear();
    if hashes.len() < k {
        return;
    }
    match k {
        1 => direct::<1>(hashes, seed, out),
        2 => direct::<2>(hashes, seed, out),
        3 => direct::<3>(hashes, seed, out),
        4 => direct::<4>(hashes, seed, out),
        5 => direct::<5>(hashes, seed, out),
        6 => direct::<6>(hashes, seed, out),
        7 => direct::<7>(hashes, seed, out),
        8 => direct::<8>(hashes, seed, out),
        _ => rolling(hashes, k, seed, out),
    }
}

const BASE: u64 = 0xF135_7AEA_2E62_A9C5;

#[inline(always)]
fn direct<const K: usize>(hashes: &[u64], seed: u64, out: &mut Vec<u64>) {
    let count = hashes.len() + 1 - K;
    out.resize(count, 0);
    let mut powers = [1u64; K];
    for j in (0..K - 1).rev() {
        powers[j] = powers[j + 1].wrapping_mul(BASE);
    }
    for (i, shingle) in out.iter_mut().enumerate() {
        let window = &hashes[i..i + K];
        let mut sum = 0u64;
        for j in 0..K {
            sum = sum.wrapping_add(window[j].wrapping_mul(powers[j]));
        }
        *shingle = hash::mix(sum ^ seed);
    }
}

#[inline(always)]
fn rolling(hashes: &[u64], k: usize, seed: u64, out: &mut Vec<u64>) {
    let leaving = BASE.wrapping_pow(k as u32);
    let mut sum = hashes[..k].iter().fold(0u64, |sum, &h| sum.wrapping_mul(BASE).wrapping_add(h));
    out.push(hash::mix(sum ^ seed));
    for i in k..hashes.len() {
        sum = sum.wrapping_mul(BASE).wrapping_add(hashes[i]).wrapping_sub(hashes[i - k].wrapping_mul(leaving));
        out.push(hash::mix(sum ^ seed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rolling_and_direct_windows_are_the_same_sum() {
        let hashes: Vec<u64> = (0..50).map(hash::mix).collect();
        let (mut rolled, mut fresh) = (Vec::new(), Vec::new());
        for k in 1..=8 {
            rolled.clear();
            rolling(&hashes, k, 3, &mut rolled);
            windows(&hashes, k, 3, &mut fresh);
            assert_eq!(rolled, fresh, "k={k}");
        }
    }

    #[test]
    fn the_order_of_words_matters() {
        let (mut ab, mut ba) = (Vec::new(), Vec::new());
        windows(&[1, 2], 2, 0, &mut ab);
        windows(&[2, 1], 2, 0, &mut ba);
        assert_ne!(ab, ba);
    }
}
