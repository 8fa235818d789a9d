//! Text → character shingles.
//!
//! A shingle is `k` code points, hashed as the bytes that spell them. Up to eight bytes are one masked load, so plain text needs no rolling hash; text
//! beyond ASCII first finds where its characters begin.

use crate::hash;
use crate::shingle::Folding;
use crate::unicode::{Characters, decode, push};

/// How many shingles are handed on at a time.
const PIECE: usize = 4096;

/// Hands every window of `k` characters to `sink`; returns how many characters there are.
#[inline(always)]
pub(crate) fn shingles(
    text: &[u8],
    k: usize,
    seed: u64,
    starts: &mut Vec<u32>,
    out: &mut Vec<u64>,
    sink: &mut impl FnMut(&[u64]),
) -> usize {
    if text.is_ascii() {
        plain(text, k, seed, out, sink);
        return text.len();
    }
    let characters = find_starts(text, starts);
    if characters >= k {
        let count = characters + 1 - k;
        let mut from = 0;
        while from < count {
            let to = (from + PIECE).min(count);
            out.clear();
            out.extend((from..to).map(|i| hash::span(text, starts[i] as usize, starts[i + k] as usize, seed)));
            sink(out);
            from = to;
        }
    }
    characters
}

/// Writes where each character begins, then the length of the text; returns the number of characters.
#[inline(always)]
fn find_starts(text: &[u8], starts: &mut Vec<u32>) -> usize {
    // Written always and kept by moving on: a branch here would be guessed wrong on every other byte of mixed text.
    starts.resize(text.len() + 1, 0);
    let mut characters = 0;
    for (i, &byte) in text.iter().enumerate() {
        starts[characters] = i as u32;
        characters += usize::from(byte & 0xC0 != 0x80);
    }
    starts[characters] = text.len() as u32;
    characters
}

/// Windows over ASCII, where a character is a byte.
#[inline(always)]
fn plain(text: &[u8], k: usize, seed: u64, out: &mut Vec<u64>, sink: &mut impl FnMut(&[u64])) {
    if text.len() < k {
        return;
    }
    let count = text.len() + 1 - k;
    let mut from = 0;
    while from < count {
        let to = (from + PIECE).min(count);
        out.clear();
        out.resize(to - from, 0);
        // Windows whose eight-byte load stays inside the text need no care at its end.
        let safe = if k <= 8 { (text.len() + 1).saturating_sub(8).clamp(from, to) } else { from };
        let state = hash::begin(seed, k);
        for (i, shingle) in out[..safe - from].iter_mut().enumerate() {
            let at = from + i;
            let chunk = u64::from_le_bytes(text[at..at + 8].try_into().expect("eight bytes"));
            *shingle = hash::mix(state ^ hash::keep_bytes(chunk, k));
        }
        for at in safe..to {
            out[at - from] = hash::span(text, at, at + k, seed);
        }
        sink(out);
        from = to;
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
