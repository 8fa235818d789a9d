//! Strings → their q-grams, and the edit distance of two strings if it is small.
//!
//! Letters are code points. Both distances are found by bit-parallel columns where the shorter string has at most 64 letters
//! (after the ends that both share are cut off), and by a band of the classic table otherwise.

use crate::hash::mix;
use crate::shingle::number_occurrences;

/// What an edit is: `Levenshtein` inserts, deletes and replaces; `Indel` only inserts and deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    Levenshtein,
    Indel,
}

/// No letter of Unicode: stands before and behind a string, so that its ends are in as many grams as its middle.
const EDGE: u32 = u32::MAX;

/// The q-grams of every string as a set of hashes, the second occurrence of a gram being another element than the first.
///
/// A string of `n` letters has `n + q − 1` of them, its ends padded with `q − 1` edges each. One edit changes at most `q`.
pub fn grams(values: &[u8], offsets: &[i64], q: usize) -> (Vec<u64>, Vec<i64>) {
    let (mut elements, mut starts) = (Vec::new(), vec![0i64]);
    let (mut letters, mut set) = (Vec::new(), Vec::new());
    for row in offsets.windows(2) {
        letters.clear();
        letters.resize(q - 1, EDGE);
        extend_letters(&values[row[0] as usize..row[1] as usize], &mut letters);
        letters.resize(letters.len() + q - 1, EDGE);
        set.clear();
        set.extend(letters.windows(q).map(|gram| gram.iter().fold(q as u64, |h, &c| mix(h ^ u64::from(c) << 20))));
        number_occurrences(&mut set);
        set.sort_unstable();
        elements.extend_from_slice(&set);
        starts.push(elements.len() as i64);
    }
    (elements, starts)
}

/// Appends the code points of a string.
pub fn extend_letters(text: &[u8], letters: &mut Vec<u32>) {
    if text.is_ascii() {
        letters.extend(text.iter().map(|&byte| u32::from(byte)));
    } else {
        letters.extend(String::from_utf8_lossy(text).chars().map(u32::from));
    }
}

/// The distance of two strings if it is at most `most`.
pub fn distance(a: &[u32], b: &[u32], most: u32, edits: Edits) -> Option<u32> {
    let (a, b) = without_shared_ends(a, b);
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() - short.len() > most as usize {
        return None;
    }
    let exact = match edits {
        _ if short.is_empty() => long.len() as u32,
        Edits::Levenshtein if short.len() <= 64 => levenshtein_column(short, long),
        Edits::Indel if short.len() <= 64 => indel_column(short, long),
        _ => return band(short, long, most, edits),
    };
    (exact <= most).then_some(exact)
}

fn without_shared_ends<'s>(a: &'s [u32], b: &'s [u32]) -> (&'s [u32], &'s [u32]) {
    let before = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[before..], &b[before..]);
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - behind], &b[..b.len() - behind])
}

/// Where each letter stands in a string of up to 64, a bit a place.
struct Places {
    ascii: [u64; 128],
    beyond: Vec<(u32, u64)>,
}

impl Places {
    fn of(letters: &[u32]) -> Places {
        let mut places = Places { ascii: [0; 128], beyond: Vec::new() };
        for (i, &letter) in letters.iter().enumerate() {
            if let Some(bits) = places.ascii.get_mut(letter as usize) {
                *bits |= 1 << i;
            } else if let Some((_, bits)) = places.beyond.iter_mut().find(|(known, _)| *known == letter) {
                *bits |= 1 << i;
            } else {
                places.beyond.push((letter, 1 << i));
            }
        }
        places
    }

    fn get(&self, letter: u32) -> u64 {
        match self.ascii.get(letter as usize) {
            Some(&bits) => bits,
            None => self.beyond.iter().find(|(known, _)| *known == letter).map_or(0, |&(_, bits)| bits),
        }
    }
}

/// Myers' algorithm: a column of the table as two words of its vertical differences, +1 and −1.
fn levenshtein_column(short: &[u32], long: &[u32]) -> u32 {
    let places = Places::of(short);
    let last = 1u64 << (short.len() - 1);
    let (mut plus, mut minus, mut score) = (u64::MAX, 0u64, short.len() as u32);
    for &letter in long {
        let same = places.get(letter);
        let vertical = same | minus;
        let horizontal = ((same & plus).wrapping_add(plus) ^ plus) | same;
        let (mut up, mut down) = (minus | !(horizontal | plus), plus & horizontal);
        score = score + u32::from(up & last != 0) - u32::from(down & last != 0);
        up = up << 1 | 1;
        down <<= 1;
        plus = down | !(vertical | up);
        minus = up & vertical;
    }
    score
}

/// Hyyrö's algorithm for the longest common subsequence: zeros of `open` are its letters. The rest of both strings are edits.
fn indel_column(short: &[u32], long: &[u32]) -> u32 {
    let places = Places::of(short);
    let mut open = u64::MAX;
    for &letter in long {
        let matched = open & places.get(letter);
        open = open.wrapping_add(matched) | (open - matched);
    }
    let within = u64::MAX >> (64 - short.len());
    let common = (!open & within).count_ones();
    (short.len() + long.len()) as u32 - 2 * common
}

/// The classic table, only where it can hold values up to `most`: O(most · length).
fn band(short: &[u32], long: &[u32], most: u32, edits: Edits) -> Option<u32> {
    let most = most as usize;
    let beyond = most as u32 + 1;
    // Row i of the table holds columns i − most ..= i + most, at 0 ..= 2 · most; one more on either side stays out of reach.
    let width = 2 * most + 1;
    let mut before = vec![beyond; width + 2];
    for (place, cell) in before[1..=width].iter_mut().enumerate().skip(most) {
        *cell = (place - most) as u32;
    }
    let mut row = vec![beyond; width + 2];
    for (i, &letter) in short.iter().enumerate() {
        row[0] = beyond;
        for place in 0..width {
            let Some(column) = (i + 1 + place).checked_sub(most).filter(|&column| column <= long.len()) else {
                row[place + 1] = beyond;
                continue;
            };
            row[place + 1] = if column == 0 {
                (i as u32 + 1).min(beyond)
            } else {
                let replaced = match edits {
                    _ if long[column - 1] == letter => before[place + 1],
                    Edits::Levenshtein => before[place + 1] + 1,
                    Edits::Indel => before[place + 1] + 2,
                };
                replaced.min(before[place + 2] + 1).min(row[place] + 1).min(beyond)
            };
        }
        if row.iter().all(|&cell| cell > most as u32) {
            return None;
        }
        std::mem::swap(&mut before, &mut row);
    }
    let distance = before[1 + long.len() + most - short.len()];
    (distance <= most as u32).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole table, by the definition.
    fn table(a: &[u32], b: &[u32], replace: u32) -> u32 {
        let mut before: Vec<u32> = (0..=b.len() as u32).collect();
        for (i, x) in a.iter().enumerate() {
            let mut row = vec![i as u32 + 1];
            for (j, y) in b.iter().enumerate() {
                let replaced = before[j] + if x == y { 0 } else { replace };
                row.push(replaced.min(before[j + 1] + 1).min(row[j] + 1));
            }
            before = row;
        }
        before[b.len()]
    }

    fn drawn(seed: u64, length: u64, letters: u64) -> Vec<u32> {
        // Every third letter lies beyond ASCII.
        let letter = |x: u64| if x.is_multiple_of(3) { 0x4E00 + x as u32 } else { 97 + x as u32 };
        (0..length).map(|i| letter(mix(seed << 20 | i) % letters)).collect()
    }

    #[test]
    fn distances_are_those_of_the_whole_table() {
        for seed in 0..3000 {
            let longest = [6, 20, 64, 66, 150][seed as usize % 5];
            let a = drawn(seed, mix(seed) % longest, 2 + seed % 7);
            let mut b = drawn(seed + 50_000, mix(seed + 1) % longest, 2 + seed % 7);
            if seed % 2 == 0 {
                // A few edits of the same string.
                b = a.clone();
                for edit in 0..mix(seed + 2) % 6 {
                    let at = (mix(seed * 10 + edit) % (b.len() as u64 + 1)) as usize;
                    match edit % 3 {
                        0 => b.insert(at, 98),
                        1 if at < b.len() => drop(b.remove(at)),
                        _ if at < b.len() => b[at] = 0x4E01,
                        _ => {}
                    }
                }
            }
            for (edits, replace) in [(Edits::Levenshtein, 1), (Edits::Indel, 2)] {
                let exact = table(&a, &b, replace);
                for most in [0, 1, 2, 3, 5, 9, 40, 400] {
                    let expected = (exact <= most).then_some(exact);
                    assert_eq!(distance(&a, &b, most, edits), expected, "{edits:?} {most} {a:?} {b:?}");
                    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
                    if long.len() - short.len() <= most as usize {
                        assert_eq!(band(short, long, most, edits), expected, "band {edits:?} {most} {a:?} {b:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_edit_changes_at_most_q_grams() {
        let of = |text: &str, q| {
            let (elements, starts) = grams(text.as_bytes(), &[0, text.len() as i64], q);
            assert_eq!(starts, [0, elements.len() as i64]);
            elements
        };
        for q in 1..5 {
            let texts = ["", "a", "ab", "aaaa", "banana", "bananas", "bannana", "añana", "日本語", "日本"];
            for text in texts {
                assert_eq!(of(text, q).len(), text.chars().count() + q - 1);
                for at in 0..text.chars().count() {
                    let deleted: String =
                        text.chars().enumerate().filter(|(i, _)| *i != at).map(|(_, letter)| letter).collect();
                    let (whole, rest) = (of(text, q), of(&deleted, q));
                    let lost = whole.iter().filter(|x| !rest.contains(x)).count();
                    assert!(lost <= q, "{text} {deleted} {q}");
                }
            }
        }
    }
}
