//! Texts of symbols alone: what is left to compare where there is no word.
//!
//! Such a text is one shingle, its characters in order without white space, so that `!!!` and `! !!` are copies and `!!!` and `???` are not.
//! Nearly every text shows its first letter within a few bytes, so that to ask costs nothing.

use crate::unicode::{Characters, decode};

/// Whether there is a word: a letter or a digit.
#[inline(always)]
pub(crate) fn has_word(text: &[u8], characters: Characters) -> bool {
    match text.first() {
        Some(byte) if byte.is_ascii_alphanumeric() => true,
        _ => any(text, |c| characters.facts(c).is_letter_or_digit()),
    }
}

/// Whether there is nothing but white space.
#[inline(always)]
pub(crate) fn is_blank(text: &[u8], characters: Characters) -> bool {
    match text.first() {
        Some(byte) if byte.is_ascii_graphic() => false,
        _ => !any(text, |c| !characters.facts(c).is_space()),
    }
}

#[inline(never)]
fn any(text: &[u8], mut asked: impl FnMut(u32) -> bool) -> bool {
    let mut at = 0;
    while at < text.len() {
        let (c, length) = decode(text, at);
        if asked(c) {
            return true;
        }
        at += length;
    }
    false
}

/// Writes a text without its white space, folded if `casefold`; returns whether there is anything.
pub(crate) fn gather(text: &[u8], casefold: bool, characters: Characters, out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut at = 0;
    while at < text.len() {
        let (c, length) = decode(text, at);
        if !characters.facts(c).is_space() {
            match casefold {
                true => characters.fold_into(&text[at..at + length], out),
                false => out.extend_from_slice(&text[at..at + length]),
            }
        }
        at += length;
    }
    !out.is_empty()
}
