//! A document → the hashes of its shingles.
//!
//! One function, [`document`], streams a document's shingles to whoever asked: the signer takes minima of them, the set builder collects
//! them, the verifier counts them. Nobody ever holds a shingle's text.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::simd::Lanes;
use crate::unicode::Characters;
use crate::words::Scanner;
use crate::{chars, hash, symbols, words};

/// What counts as the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folding {
    pub casefold: bool,
    pub nfkc: bool,
    /// Runs of white space are one space (words are split there anyway).
    pub whitespace: bool,
    /// Punctuation and symbols are spaces (words are split there anyway).
    pub punctuation: bool,
}

/// What a shingle is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    Chars,
    Words,
    /// A stop word and the two words after it. The words are hashed with the spec's seed, see [`stop_hashes`], and sorted.
    StopWords(Vec<u64>),
}

/// How a document becomes a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub unit: Unit,
    /// How many units a window holds, at least 1.
    pub k: usize,
    pub folding: Folding,
    /// Count repeats: the second occurrence of a shingle is an element of its own, so that set Jaccard is bag Jaccard.
    pub bag: bool,
    /// Already spread by [`hash::spread_seed`].
    pub seed: u64,
}

/// What was seen on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Words or characters.
    pub units: usize,
    /// Shingles handed on, repeats counted.
    pub shingles: usize,
    /// Fewer than `k` units, so the document was one shingle, itself.
    ///
    /// So is one without a word: its symbols in order. With stop words, a document that has no window has no shingle.
    pub short: bool,
    /// Written mostly without spaces, where words are not a good unit.
    pub unspaced: bool,
}

/// Whoever takes shingles, piece by piece.
///
/// A trait rather than a closure: `#[inline(always)]` on `take` lets it share the target features of the path it is called on.
pub(crate) trait Sink {
    fn take(&mut self, shingles: &[u64]);
}

impl Sink for Vec<u64> {
    #[inline(always)]
    fn take(&mut self, shingles: &[u64]) {
        self.extend_from_slice(shingles);
    }
}

/// Buffers that are reused from document to document.
pub struct Scratch {
    edges: Vec<u32>,
    hashes: Vec<u64>,
    shingles: Vec<u64>,
    bag: Vec<u64>,
    folded: Vec<u8>,
    text: Vec<u8>,
    characters: Characters,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch {
            edges: Vec::new(),
            hashes: Vec::new(),
            shingles: Vec::new(),
            bag: Vec::new(),
            folded: Vec::new(),
            text: Vec::new(),
            characters: Characters::get(),
        }
    }
}

/// The hashes of stop words, as [`Unit::StopWords`] wants them.
pub fn stop_hashes<'w>(stops: impl IntoIterator<Item = &'w str>, casefold: bool, seed: u64) -> Vec<u64> {
    let characters = Characters::get();
    let mut hashes: Vec<u64> = stops
        .into_iter()
        .map(|stop| {
            let mut folded = Vec::new();
            if casefold {
                characters.fold_into(stop.as_bytes(), &mut folded);
            } else {
                folded.extend_from_slice(stop.as_bytes());
            }
            hash::word(&folded, seed)
        })
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Streams the shingle hashes of one document to `sink`, in the order of the text, repeats included.
///
/// A blank document, of white space alone, has none.
///
/// Takes O(k) memory beside the text, but for `bag`, `nfkc` and folded character shingles, which hold one document.
#[inline(always)]
pub(crate) fn document<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, sink: &mut impl Sink) -> Seen {
    let normal = normalise(text, spec.folding.nfkc);
    within_positions(&normal);
    if !spec.bag {
        return stream::<L>(&normal, spec, scratch, sink);
    }
    let mut bag = std::mem::take(&mut scratch.bag);
    bag.clear();
    let seen = stream::<L>(&normal, spec, scratch, &mut bag);
    number_occurrences(&mut bag);
    sink.take(&bag);
    scratch.bag = bag;
    seen
}

/// Turns a bag into a set of the same Jaccard similarity: the n-th occurrence of a shingle becomes its own element.
pub(crate) fn number_occurrences(bag: &mut [u64]) {
    bag.sort_unstable();
    let mut before = None;
    let mut times = 0u64;
    for element in bag {
        times = if before == Some(*element) { times + 1 } else { 0 };
        before = Some(*element);
        if times > 0 {
            *element = hash::mix(element.wrapping_add(times.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        }
    }
}

/// Positions in a text are 32-bit; callers see to it that no text is longer, but folding may lengthen it several times.
fn within_positions(text: &[u8]) {
    assert!(text.len() <= u32::MAX as usize, "a text is over 4 GiB once it is folded: split it");
}

fn normalise(text: &[u8], nfkc: bool) -> Cow<'_, [u8]> {
    if nfkc && !text.is_ascii() {
        let text = String::from_utf8_lossy(text);
        if is_nfkc_quick(text.chars()) != IsNormalized::Yes {
            return Cow::Owned(text.nfkc().collect::<String>().into_bytes());
        }
    }
    Cow::Borrowed(text)
}

#[inline(always)]
fn stream<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, sink: &mut impl Sink) -> Seen {
    match &spec.unit {
        Unit::Chars => stream_chars::<L>(text, spec, scratch, sink),
        Unit::Words if !symbols::has_word(text, scratch.characters) => stream_symbols(text, spec, scratch, sink),
        Unit::Words | Unit::StopWords(_) => stream_words::<L>(text, spec, scratch, sink),
    }
}

/// The one shingle of a text without words: its symbols in order, as if they were one word.
#[inline(never)]
fn stream_symbols(text: &[u8], spec: &Spec, scratch: &mut Scratch, sink: &mut impl Sink) -> Seen {
    let Scratch { folded, hashes, shingles, characters, .. } = scratch;
    symbols::gather(text, spec.folding.casefold, *characters, folded);
    if folded.is_empty() {
        return BLANK;
    }
    hashes.clear();
    hashes.push(hash::word(folded, spec.seed));
    words::windows(hashes, 1, spec.seed, shingles);
    sink.take(shingles);
    Seen { shingles: 1, ..BLANK }
}

/// What is seen of a text without units.
const BLANK: Seen = Seen { units: 0, shingles: 0, short: true, unspaced: false };

#[inline(always)]
fn stream_chars<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, sink: &mut impl Sink) -> Seen {
    let folding = &spec.folding;
    let mut folded = std::mem::take(&mut scratch.text);
    let whole = text;
    let text = if folding.casefold || folding.whitespace || folding.punctuation {
        chars::fold(text, folding, scratch.characters, &mut scratch.folded, &mut folded);
        within_positions(&folded);
        &folded[..]
    } else {
        text
    };
    if symbols::is_blank(text, scratch.characters) {
        // Punctuation that folding made spaces of is what there is of the text.
        let itself = symbols::gather(whole, folding.casefold, scratch.characters, &mut folded);
        if itself {
            sink.take(&[hash::span(&folded, 0, folded.len(), spec.seed)]);
        }
        scratch.text = folded;
        return Seen { shingles: usize::from(itself), ..BLANK };
    }
    let units = chars::shingles::<L>(text, spec.k, spec.seed, &mut scratch.edges, &mut scratch.shingles, sink);
    let short = units < spec.k;
    if short && units > 0 {
        sink.take(&[hash::span(text, 0, text.len(), spec.seed)]);
    }
    scratch.text = folded;
    let shingles = if short { usize::from(units > 0) } else { units + 1 - spec.k };
    Seen { units, shingles, short, unspaced: false }
}

/// How many blocks of 64 bytes are scanned at a time: their word hashes stay in the first-level cache.
const BLOCKS: usize = 64;

/// Hands on the windows of words, piece by piece; with stop words, those that begin with one.
#[inline(always)]
fn stream_words<L: Lanes>(text: &[u8], spec: &Spec, scratch: &mut Scratch, sink: &mut impl Sink) -> Seen {
    let Scratch { edges, hashes, shingles, folded, characters, .. } = scratch;
    let mut scanner = Scanner::new(text, *characters);
    edges.clear();
    hashes.clear();
    let mut seen = Seen::default();
    while !scanner.done() {
        scanner.edges::<L>(BLOCKS, edges);
        let whole = edges.len() & !1;
        let before = hashes.len();
        words::hash_words(
            text,
            &edges[..whole],
            spec.folding.casefold,
            spec.seed,
            &mut scanner.capitals,
            folded,
            hashes,
        );
        // A word may still be open at the end of the piece: its beginning waits for its end.
        edges.drain(..whole);
        seen.units += hashes.len() - before;
        // A document shorter than a window is one shingle, itself.
        let itself = scanner.done() && seen.units > 0 && seen.units < spec.k && spec.unit == Unit::Words;
        if hashes.len() < spec.k && !itself {
            continue;
        }
        words::windows(hashes, if itself { seen.units } else { spec.k }, spec.seed, shingles);
        let begun = shingles.len();
        if let Unit::StopWords(stops) = &spec.unit {
            let mut word = hashes.iter();
            shingles.retain(|_| word.next().is_some_and(|hash| stops.binary_search(hash).is_ok()));
        }
        hashes.drain(..begun);
        seen.shingles += shingles.len();
        sink.take(shingles);
    }
    seen.short = seen.units < spec.k;
    // Such letters take three bytes each; more than half of the text is mostly.
    seen.unspaced = scanner.unspaced * 3 * 2 > text.len();
    seen
}
