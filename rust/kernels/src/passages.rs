//! Two texts → the passages they share, for a reader to see side by side.
//!
//! [`tokens`] remembers where words or characters lie, [`tiling`] finds the runs of them that both texts hold, and here runs that differ by a small
//! edit are put together and given back as places in the texts.

mod tiling;
mod tokens;

use std::ops::Range;

use crate::shingle::Spec;
use crate::simd::Level;
use tiling::Tile;
use tokens::Tokens;

/// A stretch of bytes of one text and one of another that say the same, but for `changed` tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub a: Range<u32>,
    pub b: Range<u32>,
    /// How many tokens are shared.
    pub tokens: u32,
    /// How many are not: in each gap between shared runs, those of the text that has more there.
    pub changed: u32,
}

/// The shared passages of two texts under 4 GiB, in the order of `a`.
///
/// Each holds a run of at least `least` tokens (at least 1); each token of either text is in at most one. Runs that follow each other in both
/// texts with at most `gap` other tokens between them, on either side, are one passage. Tokens are those of `spec`: words, or characters; its
/// window, its bag and its NFKC are left aside. Equal means equal in 63 bits of the hashes of folded tokens.
pub fn shared(level: Level, a: &[u8], b: &[u8], spec: &Spec, least: usize, gap: usize) -> Vec<Passage> {
    assert!(least > 0, "a passage holds at least one token");
    let (a, b) = (Tokens::of(level, a, spec), Tokens::of(level, b, spec));
    let tiles = tiling::tile(&a.hashes, &b.hashes, least);
    join_across_gaps(&tiles, gap)
        .map(|tiles| {
            let (first, last) = (tiles[0], tiles[tiles.len() - 1]);
            Passage {
                a: a.bytes(first.a, last.a + last.length),
                b: b.bytes(first.b, last.b + last.length),
                tokens: tiles.iter().map(|tile| tile.length).sum(),
                changed: tiles.windows(2).map(|two| widest_gap(&two[0], &two[1])).sum(),
            }
        })
        .collect()
}

/// How many tokens a text has, as [`shared`] counts them.
pub fn count_tokens(level: Level, text: &[u8], spec: &Spec) -> usize {
    Tokens::count(level, text, spec)
}

/// Cuts `tiles`, which are in the order of `a`, where neighbours are too far apart to be one passage.
///
/// Neighbours in `a` must be neighbours in `b` too: over a gap that holds another tile, two passages would claim its tokens.
fn join_across_gaps(tiles: &[Tile], gap: usize) -> impl Iterator<Item = &[Tile]> {
    let mut in_b: Vec<usize> = (0..tiles.len()).collect();
    in_b.sort_unstable_by_key(|&i| tiles[i].b);
    let mut rank = vec![0; tiles.len()];
    in_b.iter().enumerate().for_each(|(place, &i)| rank[i] = place);
    let mut rest = tiles;
    std::iter::from_fn(move || {
        let first = tiles.len() - rest.len();
        let joined = |&i: &usize| rank[i] == rank[i - 1] + 1 && widest_gap(&tiles[i - 1], &tiles[i]) as usize <= gap;
        let more = (first + 1..tiles.len()).take_while(joined).count();
        let (passage, later) = rest.split_at_checked(more + 1)?;
        rest = later;
        Some(passage)
    })
}

/// The tokens between two tiles that follow each other in both texts, of the text that has more.
fn widest_gap(before: &Tile, after: &Tile) -> u32 {
    (after.a - before.a - before.length).max(after.b - before.b - before.length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shingle::{Folding, Unit};

    const FOLDING: Folding = Folding { casefold: true, nfkc: false, whitespace: true, punctuation: false };

    /// The passages of two texts as their texts, with shared and changed tokens.
    fn passages<'t>(a: &'t str, b: &'t str, unit: Unit, least: usize, gap: usize) -> Vec<(&'t str, &'t str, u32, u32)> {
        let spec = Spec { unit, k: 5, folding: FOLDING, bag: false, seed: 0 };
        let of = |text: &'t str, bytes: &Range<u32>| &text[bytes.start as usize..bytes.end as usize];
        shared(Level::detect(), a.as_bytes(), b.as_bytes(), &spec, least, gap)
            .iter()
            .map(|p| (of(a, &p.a), of(b, &p.b), p.tokens, p.changed))
            .collect()
    }

    #[test]
    fn moved_passages_are_found_where_they_lie() {
        let a = "Ein Mann, ein Wort. — Äpfel und Birnen!";
        let b = "ÄPFEL, UND birnen; ein mann ein\r\nwort";
        let expected =
            [("Ein Mann, ein Wort", "ein mann ein\r\nwort", 4, 0), ("Äpfel und Birnen", "ÄPFEL, UND birnen", 3, 0)];
        assert_eq!(passages(a, b, Unit::Words, 3, 0), expected);
    }

    #[test]
    fn small_edits_join_passages_only_where_both_sides_stay_within_the_gap() {
        let a = "one two three x four five six y z seven eight nine";
        let b = "one two three four five six v seven eight nine";
        let whole = [(a, b, 9, 3)];
        assert_eq!(passages(a, b, Unit::Words, 3, 2), whole);
        let first = ("one two three x four five six", "one two three four five six", 6, 1);
        let last = ("seven eight nine", "seven eight nine", 3, 0);
        assert_eq!(passages(a, b, Unit::Words, 3, 1), [first, last]);
        assert_eq!(passages(a, b, Unit::Words, 3, 0).len(), 3);
    }

    #[test]
    fn passages_are_not_joined_over_another_one() {
        // In `b` the moved run lies between the two that follow each other in `a`.
        let (a, b) = ("one two three four five six — seven eight nine", "one two three seven eight nine four five six");
        assert_eq!(passages(a, b, Unit::Words, 3, 9).iter().map(|p| p.2).collect::<Vec<_>>(), [3, 3, 3]);
    }

    #[test]
    fn characters_are_aligned_in_text_without_spaces() {
        let (a, b) = ("我们今天去公园散步。🦀", "他说我们今天去公园了🦀");
        assert_eq!(passages(a, b, Unit::Chars, 4, 0), [("我们今天去公园", "我们今天去公园", 7, 0)]);
    }

    #[test]
    fn texts_without_tokens_share_nothing() {
        for unit in [Unit::Words, Unit::Chars] {
            for (a, b) in [("", ""), ("", "word"), ("word", " "), (" ", " ")] {
                assert_eq!(passages(a, b, unit.clone(), 1, 0), []);
            }
        }
    }
}
