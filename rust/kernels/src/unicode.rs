//! What a character is, and what it folds to.
//!
//! Words are letters, marks and digits, so that Hindi, whose vowels are marks, keeps its words whole. Facts about the
//! basic plane, where nearly all text lives, are looked up in a table built once; rarer characters are worked out.

use std::sync::OnceLock;

use caseless::Caseless;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::hash::load;

const WORD: u32 = 1 << 31;
const UNSPACED: u32 = 1 << 30;
const PUNCTUATION: u32 = 1 << 29;
const SPACE: u32 = 1 << 28;
/// Folds to more than one character (ß to ss).
const LONG_FOLD: u32 = 1 << 27;
/// Belongs to a word, and is neither a letter nor a digit.
const MARK: u32 = 1 << 26;
const FOLDED: u32 = (1 << 21) - 1;

/// Everything the kernels ask of one character.
#[derive(Clone, Copy, Debug)]
pub struct Facts(u32);

impl Facts {
    /// A letter, mark or digit.
    #[inline(always)]
    pub fn is_word(self) -> bool {
        self.0 & WORD != 0
    }

    /// A letter or digit: what no word is without. (A heart in colour is a symbol and a mark that asks for colour.)
    #[inline(always)]
    pub fn is_letter_or_digit(self) -> bool {
        self.0 & (WORD | MARK) == WORD
    }

    /// A letter of a script written without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan).
    #[inline(always)]
    pub fn is_unspaced(self) -> bool {
        self.0 & UNSPACED != 0
    }

    /// Punctuation or a symbol.
    #[inline(always)]
    pub fn is_punctuation(self) -> bool {
        self.0 & PUNCTUATION != 0
    }

    /// Whether `c`, whose facts these are, is not its own case folding.
    #[inline(always)]
    pub fn changes_by_folding(self, c: u32) -> bool {
        self.0 & LONG_FOLD != 0 || self.0 & FOLDED != c & FOLDED
    }

    #[inline(always)]
    pub fn is_space(self) -> bool {
        self.0 & SPACE != 0
    }
}

fn work_out(c: char) -> Facts {
    let mut bits = c as u32;
    let mut folded = std::iter::once(c).default_case_fold();
    if let Some(first) = folded.next() {
        match folded.next() {
            None => bits = first as u32,
            Some(_) => bits |= LONG_FOLD,
        }
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Letter => bits |= WORD,
        GeneralCategoryGroup::Mark => bits |= WORD | MARK,
        GeneralCategoryGroup::Number if c.general_category() == GeneralCategory::DecimalNumber => bits |= WORD,
        GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Symbol => bits |= PUNCTUATION,
        _ => {}
    }
    if c.is_whitespace() {
        bits |= SPACE;
    }
    if bits & WORD != 0 && is_unspaced_script(c as u32) {
        bits |= UNSPACED;
    }
    Facts(bits)
}

fn is_unspaced_script(c: u32) -> bool {
    matches!(c,
        0x0E00..=0x0FFF      // Thai, Lao, Tibetan
        | 0x1000..=0x109F    // Burmese
        | 0x1780..=0x17FF    // Khmer
        | 0x3040..=0x30FF    // Hiragana, Katakana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF   // Han
        | 0x20000..=0x3FFFF)
}

fn basic_plane() -> &'static [Facts] {
    static TABLE: OnceLock<Vec<Facts>> = OnceLock::new();
    TABLE.get_or_init(|| (0..0x10000).map(|c| char::from_u32(c).map_or(Facts(c), work_out)).collect())
}

/// A handle on the table, fetched once a batch rather than once a character.
#[derive(Clone, Copy)]
pub struct Characters {
    basic: &'static [Facts],
    two_bytes: &'static [[u8; 2]; 0x800],
}

impl Characters {
    pub fn get() -> Characters {
        Characters { basic: basic_plane(), two_bytes: two_byte_folds() }
    }

    #[inline(always)]
    pub fn facts(self, c: u32) -> Facts {
        match self.basic.get(c as usize) {
            Some(&facts) => facts,
            None => char::from_u32(c).map_or(Facts(c & FOLDED), work_out),
        }
    }

    /// Appends the full case folding of `text`, as Python's `str.casefold` has it.
    #[inline(always)]
    pub fn fold_into(self, text: &[u8], out: &mut Vec<u8>) {
        // No character grows more than threefold (ΐ: two bytes to six), and eight bytes may be written at a time.
        out.reserve(3 * text.len() + 8);
        let (mut at, mut end) = (0, out.len());
        let mut room = out.as_mut_ptr();
        while at < text.len() {
            let chunk = load(text, at);
            // Where the ASCII run ends; bytes from there on are written again.
            let run = ((chunk & 0x8080_8080_8080_8080).trailing_zeros() as usize / 8).min(text.len() - at);
            if run > 0 {
                let lower = lower_ascii(chunk).to_le_bytes();
                // SAFETY: eight bytes more than any folding needs were reserved.
                unsafe { room.add(end).cast::<[u8; 8]>().write_unaligned(lower) };
                (at, end) = (at + run, end + run);
            }
            // Characters of two bytes that fold to two bytes: nearly all, in most alphabets.
            while let Some(&[lead, next]) = text.get(at..).and_then(|rest| rest.first_chunk::<2>())
                && matches!(lead, 0xC2..=0xDF)
                && next & 0xC0 == 0x80
            {
                let folded = self.two_bytes[usize::from(lead & 0x1F) << 6 | usize::from(next & 0x3F)];
                if folded == [0, 0] {
                    break;
                }
                // SAFETY: room was reserved.
                unsafe { room.add(end).cast::<[u8; 2]>().write_unaligned(folded) };
                (at, end) = (at + 2, end + 2);
            }
            if at < text.len() && text[at] >= 0x80 {
                // SAFETY: everything before `end` has been written.
                unsafe { out.set_len(end) };
                at += self.fold_rare(text, at, out);
                (end, room) = (out.len(), out.as_mut_ptr());
            }
        }
        // SAFETY: as above.
        unsafe { out.set_len(end) };
    }

    /// Appends the folding of one character and returns how many bytes it took.
    #[inline(never)]
    fn fold_rare(self, text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
        let (c, length) = decode(text, at);
        let facts = self.facts(c);
        let folded = facts.0 & FOLDED;
        if facts.0 & LONG_FOLD != 0 {
            for folded in char::from_u32(c).into_iter().default_case_fold() {
                push_char(folded, out);
            }
        } else if length == 1 || folded == c {
            out.extend_from_slice(&text[at..at + length]);
        } else {
            push(folded, out);
        }
        length
    }
}

/// What characters of two bytes fold to, where that is one character of two bytes again; zeros elsewhere.
fn two_byte_folds() -> &'static [[u8; 2]; 0x800] {
    static TABLE: OnceLock<Box<[[u8; 2]; 0x800]>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let fold = |c: u32| match basic_plane()[c as usize].0 {
            bits if bits & LONG_FOLD == 0 && (0x80..0x800).contains(&(bits & FOLDED)) => {
                [0xC0 | ((bits & FOLDED) >> 6) as u8, 0x80 | (bits & 0x3F) as u8]
            }
            _ => [0, 0],
        };
        Box::new(std::array::from_fn(|c| fold(c as u32)))
    })
}

/// Eight bytes with A to Z made small, all at once.
#[inline(always)]
fn lower_ascii(chunk: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = chunk & (0x7F * ONES);
    // Bytes are under 128 here, so each sum's high bit says "at least", and none carries over.
    let capital = (low + (0x80 - 0x41) * ONES) & !(low + (0x80 - 0x5B) * ONES) & !chunk & (0x80 * ONES);
    chunk | capital >> 2
}

#[inline(always)]
fn push_char(c: char, out: &mut Vec<u8>) {
    let mut buffer = [0; 4];
    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
}

/// Appends one code point as UTF-8; one that is not a character is dropped.
#[inline(always)]
pub fn push(c: u32, out: &mut Vec<u8>) {
    if let Some(c) = char::from_u32(c) {
        push_char(c, out);
    }
}

/// The character at `at` and how many bytes it takes.
///
/// Text has been checked to be UTF-8 before it comes here; a stray byte is still only a character of its own that is in
/// no word (code point 0xFFFFFFFF, one byte long), never a read past the end.
#[inline(always)]
pub fn decode(text: &[u8], at: usize) -> (u32, usize) {
    const STRAY: (u32, usize) = (u32::MAX, 1);
    // Two bytes first: most letters beyond ASCII, of most scripts with an alphabet, take two.
    if let Some(&[lead, next]) = text[at..].first_chunk::<2>()
        && matches!(lead, 0xC2..=0xDF)
        && next & 0xC0 == 0x80
    {
        return (u32::from(lead & 0x1F) << 6 | u32::from(next & 0x3F), 2);
    }
    let byte = |i: usize| match text.get(at + i) {
        Some(&b) if b & 0xC0 == 0x80 => Some(u32::from(b & 0x3F)),
        _ => None,
    };
    let lead = u32::from(text[at]);
    match lead {
        0..=0x7F => (lead, 1),
        0xE0..=0xEF => match (byte(1), byte(2)) {
            (Some(b), Some(c)) => ((lead & 0x0F) << 12 | b << 6 | c, 3),
            _ => STRAY,
        },
        0xF0..=0xF4 => match (byte(1), byte(2), byte(3)) {
            (Some(b), Some(c), Some(d)) => ((lead & 0x07) << 18 | b << 12 | c << 6 | d, 4),
            _ => STRAY,
        },
        _ => STRAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> String {
        let mut out = Vec::new();
        Characters::get().fold_into(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn folding_is_full_case_folding() {
        for (text, folded) in [("Straße", "strasse"), ("ΣΊΣΥΦΟΣ", "σίσυφοσ"), ("ÀÉ", "àé"), ("ﬁ", "fi"), ("𐐀", "𐐨")]
        {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn small_letters_are_made_of_capitals_only() {
        for byte in 0..=255u8 {
            let bytes = [byte, b'A', 0, b'[', byte, b'Z', b'@', 0xC3];
            assert_eq!(lower_ascii(u64::from_le_bytes(bytes)).to_le_bytes(), bytes.map(|b| b.to_ascii_lowercase()));
        }
    }

    #[test]
    fn words_are_letters_marks_and_digits() {
        let facts = |c: char| Characters::get().facts(c as u32);
        for c in ['a', 'é', 'я', '漢', 'ा', '٣', '\u{301}'] {
            assert!(facts(c).is_word(), "{c}");
        }
        for c in [' ', '-', '—', '“', '。', '²', '€'] {
            assert!(!facts(c).is_word(), "{c}");
        }
        for c in ['a', 'é', '漢', '٣', 'Z', '7'] {
            assert!(facts(c).is_letter_or_digit(), "{c}");
        }
        for c in [' ', '!', 'ा', '\u{301}', '\u{fe0f}', '²', '😀'] {
            assert!(!facts(c).is_letter_or_digit(), "{c}");
        }
        assert!(facts('漢').is_unspaced() && facts('ก').is_unspaced() && !facts('я').is_unspaced());
    }

    #[test]
    fn decoding_agrees_with_the_standard_library_and_survives_any_bytes() {
        for c in ['a', 'é', '漢', '𐐀'] {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes().to_vec();
            assert_eq!(decode(&bytes, 0), (c as u32, bytes.len()));
            for cut in 1..bytes.len() {
                assert_eq!(decode(&bytes[..cut], 0).1, 1);
            }
        }
        for byte in 0..=255u8 {
            let _ = decode(&[byte], 0);
        }
    }
}
