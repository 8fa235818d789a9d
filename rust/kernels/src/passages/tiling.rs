//! Two rows of tokens → the runs they share, longest first.
//!
//! Greedy string tiling: of all runs of free tokens that both rows hold, the longest becomes a tile (of equal ones the first in `a`, then the
//! first in `b`) and its tokens are taken; again, until no shared run has `least` free tokens. Order need not agree, so what was moved is found.
//!
//! Every shared run holds a window of `least` tokens, so windows that hash alike in both rows are where to look, and each is confirmed token
//! by token. A window that both rows hold over [`MANY`] times is not tried with all its occurrences: see [`offers`]. If there is none, the
//! tiles are exactly the greedy ones. If there is, they are still true, disjoint and leave nothing shared behind, but a longer run
//! may have been passed over. In return a round takes linear time and memory, however repetitive the rows: it looks at no more than `MANY`
//! runs a window and grows them by no more than [`GROWTH`] tokens a token. Rounds are few: six, in the most repetitive megabyte we tried.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::radix::{Record, sorted_runs};
use crate::words::windows;

/// The most occurrences in `a` that a window of `b` meets, unless one of the rows holds the window no more often than this.
pub(super) const MANY: usize = 16;

/// How many tokens runs may grow beyond their first window in one round, for each token of the rows; then the rest waits for the next.
///
/// Where no window is crowded, each such token ends a window that was met, so there are at most `MANY` for each, and nothing ever waits.
const GROWTH: usize = 4 * MANY;

/// `length` tokens from `a` in one row that say the same as those from `b` in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) length: u32,
}

impl Ord for Tile {
    /// The greatest goes first: the longest, then the first in `a`, then in `b`.
    fn cmp(&self, other: &Tile) -> std::cmp::Ordering {
        let key = |tile: &Tile| (tile.length, Reverse(tile.a), Reverse(tile.b));
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Tile {
    fn partial_cmp(&self, other: &Tile) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The tiles of two rows of token hashes, in the order of `a`. `least` is at least 1.
pub(super) fn tile(a: &[u64], b: &[u64], least: usize) -> Vec<Tile> {
    tile_within(a, b, least, GROWTH * (a.len() + b.len()))
}

fn tile_within(a: &[u64], b: &[u64], least: usize, growth: usize) -> Vec<Tile> {
    let (a, b) = (Row::new(a, least, TAKEN_IN_A), Row::new(b, least, TAKEN_IN_B));
    let mut board = Board { a, b, least, growth, tiles: Vec::new() };
    while board.play_round() {}
    board.tiles.sort_unstable_by_key(|tile| tile.a);
    board.tiles
}

/// No tile has this number.
const FREE: u32 = u32::MAX;

/// What stands for a token that is taken: unlike any token, which keep 63 bits of their hashes, and unlike those taken in the other row.
const TAKEN_IN_A: u64 = u64::MAX;
const TAKEN_IN_B: u64 = u64::MAX - 1;

struct Row {
    tokens: Vec<u64>,
    taken: u64,
    /// The hash of the window that began at each token before any was taken.
    windows: Vec<u64>,
    /// The number of the tile that each token is in.
    owners: Vec<u32>,
}

impl Row {
    fn new(hashes: &[u64], least: usize, taken: u64) -> Row {
        let tokens: Vec<u64> = hashes.iter().map(|hash| hash >> 1).collect();
        let owners = vec![FREE; tokens.len()];
        let mut row = Row { tokens, taken, windows: Vec::new(), owners };
        windows(&row.tokens, least, 0, &mut row.windows);
        row
    }

    fn take(&mut self, from: u32, length: u32, owner: u32) {
        let tokens = from as usize..(from + length) as usize;
        self.tokens[tokens.clone()].fill(self.taken);
        self.owners[tokens].fill(owner);
    }

    /// Where every window of free tokens begins, equal windows together, each in the order of the row.
    fn free_windows(&self, least: usize) -> Vec<Record> {
        let (mut keys, mut starts) = (Vec::with_capacity(self.windows.len()), Vec::with_capacity(self.windows.len()));
        let mut run = 0;
        for end in 0..self.tokens.len() {
            run = if self.tokens[end] == self.taken { 0 } else { run + 1 };
            if run >= least {
                let start = end + 1 - least;
                keys.push(self.windows[start]);
                starts.push(start as u32);
            }
        }
        let (keys, places) = sorted_runs(&[&keys], 1, usize::MAX);
        keys.into_iter().zip(places).map(|(key, place)| Record { key, value: starts[place as usize] }).collect()
    }
}

struct Board {
    a: Row,
    b: Row,
    least: usize,
    growth: usize,
    tiles: Vec<Tile>,
}

impl Board {
    /// Lays tiles until none of the runs found in this round is free; whether another round may find more.
    ///
    /// Only a window that has not met all its like needs another round, in which those taken by now no longer stand in the way.
    fn play_round(&mut self) -> bool {
        let in_a = self.a.free_windows(self.least);
        let in_b = self.b.free_windows(self.least);
        let (offers, all_offered) = offers(&in_a, &in_b, self.b.tokens.len());
        let (runs, all_grown) = self.shared_runs(&in_a, &offers);
        let found = !runs.is_empty();
        self.lay(runs);
        found && !(all_offered && all_grown)
    }

    /// The longest runs of free tokens around the windows offered, each once; and whether there was time for all.
    fn shared_runs(&self, in_a: &[Record], offers: &[Range<u32>]) -> (Vec<Tile>, bool) {
        let mut runs = Vec::new();
        let mut growth = self.growth;
        // Runs with the same distance between their places never overlap, so it is enough to know where the last of them ended.
        let mut ended = vec![0u32; self.a.tokens.len() + self.b.tokens.len()];
        for (j, offer) in offers.iter().enumerate() {
            for record in &in_a[offer.start as usize..offer.end as usize] {
                let i = record.value as usize;
                let ended = &mut ended[i + self.b.tokens.len() - j];
                if *ended as usize > j {
                    continue;
                }
                let run = self.grow(i, j);
                *ended = run.b + run.length;
                // Windows that only hash alike fall through here.
                if let Some(beyond) = (run.length as usize).checked_sub(self.least) {
                    runs.push(run);
                    match growth.checked_sub(beyond) {
                        Some(rest) => growth = rest,
                        None => return (runs, false),
                    }
                }
            }
        }
        (runs, true)
    }

    /// The longest run of equal tokens around two places. A taken token equals none.
    fn grow(&self, i: usize, j: usize) -> Tile {
        let (a, b) = (&self.a.tokens, &self.b.tokens);
        let same = |(x, y): &(&u64, &u64)| x == y;
        let after = a[i..].iter().zip(&b[j..]).take_while(same).count();
        let before = a[..i].iter().rev().zip(b[..j].iter().rev()).take_while(same).count();
        Tile { a: (i - before) as u32, b: (j - before) as u32, length: (before + after) as u32 }
    }

    /// Takes the greatest run again and again; one that others have bitten into waits for its turn as what is left of it.
    fn lay(&mut self, mut runs: Vec<Tile>) {
        runs.sort_unstable();
        let mut bitten = BinaryHeap::new();
        loop {
            let greatest = if bitten.peek() > runs.last() { bitten.pop() } else { runs.pop() };
            let Some(run) = greatest else { return };
            let left = self.free_part(run);
            if left == run {
                self.take(run);
            } else if left.length as usize >= self.least {
                bitten.push(left);
            }
        }
    }

    /// What earlier tiles of this round have left of a run.
    ///
    /// They are no shorter than the run, so one that overlaps it covers its first token or its last: what is left is one piece.
    fn free_part(&self, run: Tile) -> Tile {
        let last = run.length - 1;
        let owner = |row: &Row, token: u32| self.tiles.get(row.owners[token as usize] as usize);
        let head = owner(&self.a, run.a)
            .map_or(0, |tile| tile.a + tile.length - run.a)
            .max(owner(&self.b, run.b).map_or(0, |tile| tile.b + tile.length - run.b));
        let tail = owner(&self.a, run.a + last)
            .map_or(0, |tile| run.a + run.length - tile.a)
            .max(owner(&self.b, run.b + last).map_or(0, |tile| run.b + run.length - tile.b));
        Tile { a: run.a + head, b: run.b + head, length: run.length.saturating_sub(head).saturating_sub(tail) }
    }

    fn take(&mut self, tile: Tile) {
        let number = self.tiles.len() as u32;
        self.a.take(tile.a, tile.length, number);
        self.b.take(tile.b, tile.length, number);
        self.tiles.push(tile);
    }
}

/// For every place of `b`, which records of `a` its window meets; and whether each window met all its like.
///
/// All of them, if `a` or `b` holds the window at most [`MANY`] times. Else the r-th occurrence in `b` meets the `MANY` of `a` around the r-th,
/// counted round and round where `a` has fewer. So a text repeated beside a text repeated, however often, is met in order, and a text
/// beside itself is always met whole.
fn offers(in_a: &[Record], in_b: &[Record], places: usize) -> (Vec<Range<u32>>, bool) {
    let mut offers = vec![0..0; places];
    let mut all = true;
    let mut rest = in_a;
    for class in in_b.chunk_by(|x, y| x.key == y.key) {
        rest = &rest[rest.partition_point(|record| record.key < class[0].key)..];
        let first = in_a.len() - rest.len();
        let count = rest.iter().take_while(|record| record.key == class[0].key).count();
        let whole = count.min(class.len()) <= MANY;
        all &= whole;
        for (rank, record) in class.iter().enumerate() {
            let met = if whole {
                first..first + count
            } else {
                let nearest = first + (rank % count).saturating_sub(MANY / 2).min(count - MANY);
                nearest..nearest + MANY
            };
            offers[record.value as usize] = met.start as u32..met.end as u32;
        }
    }
    (offers, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    /// The definition, word for word: look everywhere for the longest shared run of free tokens, take it, look again.
    fn by_brute_force(a: &[u64], b: &[u64], least: usize) -> Vec<Tile> {
        let (mut taken_a, mut taken_b) = (vec![false; a.len()], vec![false; b.len()]);
        let mut tiles = Vec::new();
        loop {
            let mut best: Option<Tile> = None;
            for i in 0..a.len() {
                for j in 0..b.len() {
                    let length = (0..(a.len() - i).min(b.len() - j))
                        .take_while(|&n| a[i + n] == b[j + n] && !taken_a[i + n] && !taken_b[j + n])
                        .count();
                    let run = Tile { a: i as u32, b: j as u32, length: length as u32 };
                    if length >= least && best.is_none_or(|best| run > best) {
                        best = Some(run);
                    }
                }
            }
            let Some(tile) = best else { break };
            taken_a[tile.a as usize..(tile.a + tile.length) as usize].fill(true);
            taken_b[tile.b as usize..(tile.b + tile.length) as usize].fill(true);
            tiles.push(tile);
        }
        tiles.sort_unstable_by_key(|tile| tile.a);
        tiles
    }

    /// Tiles are true and disjoint, and no window of free tokens is left in both rows.
    fn assert_sound(a: &[u64], b: &[u64], least: usize, tiles: &[Tile]) {
        let (mut free_a, mut free_b) = (vec![true; a.len()], vec![true; b.len()]);
        for tile in tiles {
            let (i, j, length) = (tile.a as usize, tile.b as usize, tile.length as usize);
            assert!(length >= least && a[i..i + length] == b[j..j + length], "{tile:?}");
            for n in 0..length {
                assert!(free_a[i + n] && free_b[j + n], "{tile:?} overlaps another");
                (free_a[i + n], free_b[j + n]) = (false, false);
            }
        }
        let free_windows = |row: &[u64], free: &[bool]| -> std::collections::HashSet<Vec<u64>> {
            let windows = row.windows(least).zip(free.windows(least));
            windows.filter(|(_, free)| free.iter().all(|&f| f)).map(|(window, _)| window.to_vec()).collect()
        };
        let left = free_windows(a, &free_a);
        assert!(left.is_disjoint(&free_windows(b, &free_b)), "a shared run was left behind");
    }

    fn row(alphabet: u64, longest: usize) -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0..alphabet, 0..longest).prop_map(|row| row.iter().map(|x| mix(*x)).collect())
    }

    fn two_rows(alphabets: Range<u64>, longest: usize) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        alphabets.prop_flat_map(move |alphabet| (row(alphabet, longest), row(alphabet, longest)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn tiles_are_those_of_brute_force((a, b) in two_rows(1..6, 40), least in 1..6usize) {
            // One row may hold any window at most `MANY` times, and then nothing is passed over.
            let a = &a[..a.len().min(MANY)];
            prop_assert_eq!(tile(a, &b, least), by_brute_force(a, &b, least));
            prop_assert_eq!(tile(&b, a, least), by_brute_force(&b, a, least));
        }

        #[test]
        fn crowded_rows_still_get_tiles_that_are_true_and_leave_nothing((a, b) in two_rows(1..4, 400), least in 1..6usize) {
            assert_sound(&a, &b, least, &tile(&a, &b, least));
        }

        #[test]
        fn so_do_rows_whose_runs_must_wait_for_the_next_round((a, b) in two_rows(1..4, 100), least in 1..6usize, growth in 0..99usize) {
            assert_sound(&a, &b, least, &tile_within(&a, &b, least, growth));
        }

        #[test]
        fn a_row_beside_itself_is_one_tile(a in row(3, 400), least in 1..6usize) {
            let whole = Tile { a: 0, b: 0, length: a.len() as u32 };
            let expected = if a.len() >= least { vec![whole] } else { vec![] };
            prop_assert_eq!(tile(&a, &a, least), expected);
        }
    }

    #[test]
    fn a_notice_repeated_hundreds_of_times_is_matched_in_order() {
        let row = |count: u64, apart: u64| -> Vec<u64> {
            (0..count).flat_map(|i| (100..110).chain([apart + i]).map(mix)).collect()
        };
        let tiles = tile(&row(500, 1_000), &row(700, 5_000), 8);
        let expected: Vec<Tile> = (0..500).map(|i| Tile { a: 11 * i, b: 11 * i, length: 10 }).collect();
        assert_eq!(tiles, expected);
    }

    #[test]
    fn one_word_over_and_over_is_one_tile_whichever_row_has_more() {
        let (more, fewer) = (vec![7; 100_000], vec![7; 60_000]);
        let expected = [Tile { a: 0, b: 0, length: 60_000 }];
        assert_eq!(tile(&more, &fewer, 8), expected);
        assert_eq!(tile(&fewer, &more, 8), expected);
    }
}
