//! What the kernels are tried on: texts over small alphabets, so that shingles recur, and copies of them.

#![allow(dead_code)] // Every test file includes this one and takes what it needs.

use lookalike_kernels::hash::spread_seed;
use lookalike_kernels::shingle::{Folding, Spec, Unit, stop_hashes};
use proptest::prelude::*;
use proptest::sample::select;

/// Few words, some long, some beyond ASCII, some that fold to each other.
pub fn word() -> impl Strategy<Value = String> {
    const WORDS: [&str; 14] =
        ["a", "b", "c", "to", "To", "be", "naïve", "NAÏVE", "straße", "STRASSE", "漢字", "हिन्दी", "𐐀", "x1"];
    let long = select(vec![30, 63, 64, 65, 130]).prop_map(|length| "w".repeat(length));
    prop_oneof![8 => select(&WORDS[..]).prop_map(str::to_owned), 1 => long]
}

/// What stands between words; sometimes nothing does.
pub fn gap() -> impl Strategy<Value = &'static str> {
    const GAPS: [&str; 10] =
        ["", "  ", "\r\n", "\0", " — ", "。", ", ", "\u{3000}", "😀", "- - - - - - - - - - - - - - -"];
    prop_oneof![6 => Just(" "), 3 => select(&GAPS[..])]
}

pub fn pieces(most: usize) -> impl Strategy<Value = Vec<(String, &'static str)>> {
    prop::collection::vec((word(), gap()), 0..most)
}

pub fn text(most: usize) -> impl Strategy<Value = String> {
    pieces(most).prop_map(|pieces| write(&pieces))
}

pub fn write(pieces: &[(String, &'static str)]) -> String {
    pieces.iter().flat_map(|(word, gap)| [word.as_str(), gap]).collect()
}

/// A text and edited copies of it: words replaced, put in and taken out, cropped, or another text altogether.
pub fn variants(words: usize, copies: usize) -> impl Strategy<Value = Vec<String>> {
    let edit = (0..5u8, any::<prop::sample::Index>(), word(), gap());
    let edits = prop::collection::vec(prop::collection::vec(edit, 0..4), 1..copies);
    (pieces(words), edits, text(8)).prop_map(|(base, edits, other)| {
        let mut texts = vec![write(&base), other];
        for edits in edits {
            let mut copy = base.clone();
            for (kind, at, word, gap) in edits {
                let at = if copy.is_empty() { 0 } else { at.index(copy.len()) };
                match kind {
                    0 if !copy.is_empty() => copy[at] = (word, gap),
                    1 => copy.insert(at, (word, gap)),
                    2 if !copy.is_empty() => drop(copy.remove(at)),
                    3 => drop(copy.drain(..at)),
                    _ => copy.truncate(at),
                }
            }
            texts.push(write(&copy));
        }
        texts
    })
}

pub fn spec() -> impl Strategy<Value = Spec> {
    let folding = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(casefold, nfkc, whitespace, punctuation)| Folding { casefold, nfkc, whitespace, punctuation });
    let seed = spread_seed(7);
    (0..4u8, 1..11usize, folding, prop::bool::weighted(0.3)).prop_map(move |(unit, k, folding, bag)| match unit {
        0 => Spec { unit: Unit::Chars, k, folding, bag, seed },
        1 => {
            let stops = stop_hashes(["a", "to", "naïve"], folding.casefold, seed);
            Spec { unit: Unit::StopWords(stops), k: 3, folding, bag, seed }
        }
        _ => Spec { unit: Unit::Words, k, folding, bag, seed },
    })
}

/// Word windows of the plainest kind, which most kernels have a short cut for.
pub fn plain_words(k: usize) -> Spec {
    let folding = Folding { casefold: true, nfkc: false, whitespace: false, punctuation: false };
    Spec { unit: Unit::Words, k, folding, bag: false, seed: spread_seed(0) }
}

/// Rows one after the other, and where each begins.
pub fn ragged<T: Clone>(rows: &[impl AsRef<[T]>]) -> (Vec<T>, Vec<i64>) {
    let mut offsets = vec![0];
    let mut values = Vec::new();
    for row in rows {
        values.extend_from_slice(row.as_ref());
        offsets.push(values.len() as i64);
    }
    (values, offsets)
}

/// Runs `work` on a pool of so many threads.
pub fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}
