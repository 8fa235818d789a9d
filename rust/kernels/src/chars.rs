//! Text → character shingles.
//!
//! A shingle is `k` code points, hashed as the bytes that spell them. Up to eight bytes are one masked load, so plain text needs no rolling hash; text
//! beyond ASCII first finds where its characters begin.

use crate::hash;
use crate::shingle::{Folding, Sink};
use crate::simd::Lanes;
use crate::unicode::{Characters, decode, push};

/// How many shingles are handed on at a time.
const PIECE: usize = 4096;

/// Hands every window of `k` characters to `sink`; returns how many characters there are.
#[inline(always)]
pub(crate) fn shingles<L: Lanes>(
    text: &[u8],
    k: usize,
    seed: u64,
    starts: &mut Vec<u32>,
    out: &mut Vec<u64>,
    sink: &mut impl Sink,
) -> usize {
    if text.is_ascii() {
        plain::<L>(text, k, seed, out, sink);
        return text.len();
    }
    let characters = find_starts(text, starts);
    if characters >= k {
        let count = characters + 1 - k;
        let mut from = 0;
        while from < count {
            let to = (from + PIECE).min(count);
            out.clear();
            let (begins, ends) = (&starts[from..to], &starts[from + k..to + k]);
            out.resize(to - from, 0);
            let done = short_spans(text, begins, ends, seed, out);
            for (i, shingle) in out.iter_mut().enumerate().skip(done) {
                *shingle = hash::span(text, begins[i] as usize, ends[i] as usize, seed);
            }
            sink.take(out);
            from = to;
        }
    }
    characters
}

/// Writes where each character begins, then the length of the text; returns the number of characters.
#[inline(always)]
fn find_starts(text: &[u8], starts: &mut Vec<u32>) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    starts.resize(text.len() + 9, 0);
    let mut characters = 0;
    for at in (0..text.len()).step_by(8) {
        let chunk = hash::load(text, at);
        // A byte 10xxxxxx goes on with a character; any other begins one.
        let mut begins = !chunk & HIGH | chunk << 1 & HIGH;
        let room: &mut [u32; 8] = (&mut starts[characters..characters + 8]).try_into().expect("eight entries");
        if begins == HIGH {
            *room = std::array::from_fn(|i| (at + i) as u32);
            characters += 8;
        } else {
            // Eight are written, some of them to be written over: a loop that stops early would be guessed wrong.
            for start in room {
                *start = at as u32 + begins.trailing_zeros() / 8;
                begins &= begins.wrapping_sub(1);
            }
            characters += (!chunk & HIGH | chunk << 1 & HIGH).count_ones() as usize;
        }
    }
    // The bytes past the end of the text are zeros, and zeros begin characters.
    characters -= text.len().next_multiple_of(8) - text.len();
    starts[characters] = text.len() as u32;
    characters
}

/// Hashes the windows before the first that is over sixteen bytes or near the end of the text, and returns how many those are.
///
/// The loop has no branch but its own, so that it vectorises where gathers exist.
#[inline(always)]
fn short_spans(text: &[u8], begins: &[u32], ends: &[u32], seed: u64, out: &mut [u64]) -> usize {
    let near_end = text.len().saturating_sub(16);
    let count = begins.partition_point(|&begin| begin as usize <= near_end);
    let widest = begins[..count].iter().zip(ends).fold(0, |widest, (&b, &e)| widest.max(e - b));
    if widest > 16 || text.len() < 16 {
        return 0;
    }
    // SAFETY: begins rise, and the last of `count` leaves sixteen bytes.
    let eight = |at: u32| unsafe { text.as_ptr().add(at as usize).cast::<u64>().read_unaligned().to_le() };
    for i in 0..count {
        let length = ends[i] - begins[i];
        let (state, first, second) = (hash::begin(seed, length as usize), eight(begins[i]), eight(begins[i] + 8));
        let two = length > 8;
        let state = if two { hash::round(state, first) } else { state };
        let last = if two { second } else { first };
        let left = if two { length - 8 } else { length };
        out[i] = hash::mix(state ^ (last & (u64::MAX >> (64 - 8 * left))));
    }
    count
}

/// Windows over ASCII, where a character is a byte.
#[inline(always)]
fn plain<L: Lanes>(text: &[u8], k: usize, seed: u64, out: &mut Vec<u64>, sink: &mut impl Sink) {
    if text.len() < k {
        return;
    }
    let count = text.len() + 1 - k;
    let mut from = 0;
    while from < count {
        let to = (from + PIECE).min(count);
        out.clear();
        out.resize(to - from, 0);
        let safe = from + whole_loads::<L>(text, from, k, seed, out);
        for at in safe..to {
            out[at - from] = hash::span(text, at, at + k, seed);
        }
        sink.take(out);
        from = to;
    }
}

/// Writes the windows from `from` on whose loads stay inside the text, as far as `out` goes, and returns how many those are.
#[inline(always)]
fn whole_loads<L: Lanes>(text: &[u8], from: usize, k: usize, seed: u64, out: &mut [u64]) -> usize {
    let state = hash::begin(seed, k);
    let eight = |at: usize| u64::from_le_bytes(text[at..at + 8].try_into().expect("eight bytes"));
    if k <= 8 {
        let count = (text.len() + 1).saturating_sub(from + 8).min(out.len());
        // SAFETY: a path is only entered on a machine that has it.
        let done = unsafe { L::char_windows(&text[from..], hash::keep_bytes(u64::MAX, k), state, &mut out[..count]) };
        for (i, shingle) in out[..count].iter_mut().enumerate().skip(done) {
            *shingle = hash::mix(state ^ hash::keep_bytes(eight(from + i), k));
        }
        count
    } else if k <= 16 {
        let count = (text.len() + 1).saturating_sub(from + 16).min(out.len());
        for (i, shingle) in out[..count].iter_mut().enumerate() {
            let rest = hash::keep_bytes(eight(from + i + 8), k - 8);
            *shingle = hash::mix(hash::round(state, eight(from + i)) ^ rest);
        }
        count
    } else {
        0
    }
}

/// Writes `text` as `folding` would have it, for character shingles: case, then punctuation to spaces, then runs of white space to one
/// space with none at the ends.
pub(crate) fn fold(text: &[u8], folding: &Folding, characters: Characters, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
    out.clear();
    if !folding.punctuation && !folding.whitespace {
        fold_case(text, folding.casefold, characters, out);
        return;
    }
    scratch.clear();
    fold_case(text, folding.casefold, characters, scratch);
    let mut at = 0;
    let mut gap = false;
    while at < scratch.len() {
        let (c, length) = decode(scratch, at);
        let facts = characters.facts(c);
        let space = facts.is_space() || folding.punctuation && facts.is_punctuation();
        if folding.whitespace && space {
            gap = true;
        } else {
            if gap && !out.is_empty() {
                out.push(b' ');
            }
            gap = false;
            if space && !facts.is_space() {
                out.push(b' ');
            } else if length == 1 {
                out.push(scratch[at]);
            } else {
                push(c, out);
            }
        }
        at += length;
    }
}

#[inline(always)]
fn fold_case(text: &[u8], casefold: bool, characters: Characters, out: &mut Vec<u8>) {
    if !casefold {
        out.extend_from_slice(text);
    } else if text.is_ascii() {
        out.extend(text.iter().map(u8::to_ascii_lowercase));
    } else {
        characters.fold_into(text, out);
    }
}
