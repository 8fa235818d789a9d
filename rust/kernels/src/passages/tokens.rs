//! A text → its tokens: where each lies and a hash of what it says.
//!
//! Shingles forget where they stood; a passage is shown to a reader, so its tokens remember. A token of a words spec is a word. One of a
//! chars spec is a character of the text as it was written, hashed as it folds: a character that folds to two (ß) stays one token, so
//! that no two passages ever claim the same character.

use std::ops::Range;

use crate::hash;
use crate::shingle::{Folding, Spec, Unit};
use crate::simd::{Lanes, Level, for_each_path};
use crate::unicode::{Characters, decode};
use crate::words::{Scanner, hash_words};

/// The tokens of one text, in its order.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Where tokens begin and end in the text, in turn.
    edges: Vec<u32>,
    pub(super) hashes: Vec<u64>,
}

impl Tokens {
    /// Takes `text` as it is: NFKC would move every position after it, so it is not applied.
    pub(super) fn of(level: Level, text: &[u8], spec: &Spec) -> Tokens {
        let mut tokens = Tokens::default();
        match spec.unit {
            Unit::Chars => tokens.take_characters(text, &spec.folding, spec.seed),
            Unit::Words | Unit::StopWords(_) => take_words(level, text, spec.folding.casefold, spec.seed, &mut tokens),
        }
        tokens
    }

    /// How many tokens `of` would find. Words are only found, not hashed, and no token is kept.
    pub(super) fn count(level: Level, text: &[u8], spec: &Spec) -> usize {
        match spec.unit {
            Unit::Chars => Tokens::of(level, text, spec).len(),
            Unit::Words | Unit::StopWords(_) => count_words(level, text),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The bytes from the beginning of the token `first` to the end of the token before `end`.
    pub(super) fn bytes(&self, first: u32, end: u32) -> Range<u32> {
        self.edges[2 * first as usize]..self.edges[2 * end as usize - 1]
    }

    fn push(&mut self, bytes: Range<usize>, hash: u64) {
        self.edges.extend([bytes.start as u32, bytes.end as u32]);
        self.hashes.push(hash);
    }

    /// Folds as character shingles do: a run of white space is one space, and none at the ends; punctuation is space.
    fn take_characters(&mut self, text: &[u8], folding: &Folding, seed: u64) {
        let characters = Characters::get();
        let space = hash::word(b" ", seed);
        let mut folded = Vec::new();
        let mut gap = None;
        let mut at = 0;
        while at < text.len() {
            let (c, length) = decode(text, at);
            let here = at..at + length;
            at = here.end;
            let facts = characters.facts(c);
            let blank = folding.punctuation && facts.is_punctuation();
            if folding.whitespace && (blank || facts.is_space()) {
                gap.get_or_insert(here.start);
                continue;
            }
            if let Some(start) = gap.take()
                && start > 0
            {
                self.push(start..here.start, space);
            }
            folded.clear();
            if folding.casefold {
                characters.fold_into(&text[here.clone()], &mut folded);
            }
            // Half of a surrogate pair is no character and folds to nothing: it stands for itself.
            let spelt = if folded.is_empty() { &text[here.clone()] } else { &folded };
            self.push(here.clone(), if blank { space } else { hash::word(spelt, seed) });
        }
    }
}

#[inline(always)]
fn take_words_on<L: Lanes>(text: &[u8], casefold: bool, seed: u64, tokens: &mut Tokens) {
    let characters = Characters::get();
    let Tokens { edges, hashes } = tokens;
    let mut scanner = Scanner::new(text, characters);
    scanner.edges::<L>(text.len().div_ceil(64), edges);
    hash_words(text, edges, casefold, seed, &mut scanner.capitals, &mut Vec::new(), hashes);
}

#[inline(always)]
fn count_words_on<L: Lanes>(text: &[u8]) -> usize {
    let mut scanner = Scanner::new(text, Characters::get());
    let (mut edges, mut seen) = (Vec::new(), 0);
    while !scanner.done() {
        scanner.edges::<L>(64, &mut edges);
        seen += edges.len();
        edges.clear();
        scanner.capitals.clear();
    }
    // Every word has two edges, and the last one is closed at the end of the text.
    seen / 2
}

for_each_path! {
    fn count_words(level; text: &[u8]) -> usize => count_words_on
}

for_each_path! {
    fn take_words(level; text: &[u8], casefold: bool, seed: u64, tokens: &mut Tokens) => take_words_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chars::fold;

    const PLAIN: Folding = Folding { casefold: false, nfkc: false, whitespace: false, punctuation: false };

    fn spec(unit: Unit, folding: Folding) -> Spec {
        Spec { unit, k: 5, folding, bag: false, seed: 7 }
    }

    fn spelt<'t>(text: &'t str, tokens: &Tokens) -> Vec<&'t str> {
        tokens.edges.chunks_exact(2).map(|edge| &text[edge[0] as usize..edge[1] as usize]).collect()
    }

    #[test]
    fn words_lie_where_the_text_has_them_on_every_path() {
        let long = "Ein Mädchen, 3 हिन्दी-शब्द\r\nund… ende ".repeat(9);
        let words = ["Ein", "Mädchen", "3", "हिन्दी", "शब्द", "und", "ende"];
        let spec = spec(Unit::Words, Folding { casefold: true, ..PLAIN });
        let expected = Tokens::of(Level::Scalar, long.as_bytes(), &spec);
        assert_eq!(spelt(&long, &expected), words.repeat(9));
        for level in Level::available() {
            let tokens = Tokens::of(level, long.as_bytes(), &spec);
            assert_eq!((&tokens.edges, &tokens.hashes), (&expected.edges, &expected.hashes), "{level:?}");
        }
        let shouted = Tokens::of(Level::Scalar, long.to_uppercase().as_bytes(), &spec);
        assert_eq!(shouted.hashes, expected.hashes);
    }

    #[test]
    fn characters_say_what_character_shingles_fold_to() {
        let text = " \tÀ b!\u{a0}\r\n—C🦀 漢  ,?x. ";
        for bits in 0..8 {
            let folding =
                Folding { casefold: bits & 1 > 0, whitespace: bits & 2 > 0, punctuation: bits & 4 > 0, ..PLAIN };
            let mut folded = Vec::new();
            fold(text.as_bytes(), &folding, Characters::get(), &mut Vec::new(), &mut folded);
            let folded = String::from_utf8(folded).unwrap();
            let expected: Vec<u64> =
                folded.chars().map(|c| hash::word(c.encode_utf8(&mut [0; 4]).as_bytes(), 7)).collect();
            let tokens = Tokens::of(Level::Scalar, text.as_bytes(), &spec(Unit::Chars, folding));
            assert_eq!(tokens.hashes, expected, "{folding:?}");
            let spaces = folded.chars().zip(spelt(text, &tokens)).filter(|(c, _)| *c == ' ');
            assert!(spaces.into_iter().all(|(_, run)| run.chars().all(|c| !c.is_alphanumeric())));
        }
    }

    #[test]
    fn a_character_that_folds_to_two_is_one_token() {
        let spec = spec(Unit::Chars, Folding { casefold: true, ..PLAIN });
        assert_eq!(spelt("Maß", &Tokens::of(Level::Scalar, "Maß".as_bytes(), &spec)), ["M", "a", "ß"]);
    }
}
