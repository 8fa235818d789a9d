//! Sets as columns of a boolean matrix → bucket keys of its folded forms.
//!
//! A row of the matrix is an element's place under a random order: the top bits of its hash. The level with 2ʲ rows keeps j bits; dropping one
//! more ORs neighbouring rows, so 00110010 becomes 0101, then 11, then 1. Since the order is random, rows that lie side by side
//! are rows chosen at random. Every level is sampled under an order of its own: under one for all, a row that differs would differ in the rows it
//! is folded into as well, and levels would miss the same pairs. A level with fewer rows than are sampled has several orders, and one with very few
//! rows has an order for each sampled row: rows of one order depend on each other, since an element falls on just one of them.

use rayon::prelude::*;

use crate::hash;

/// How columns are sampled and cut: `bands` bands of `rows` rows at every level.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    pub bands: usize,
    pub rows: usize,
    /// As the user gave it.
    pub seed: u64,
}

/// Levels of up to 2 to this many rows have an order for every sampled row. `theory/pyramid.py` knows this number too.
const FEW_ROWS: u32 = 4;

/// The number of the `nth` order of a level.
#[inline(always)]
fn order_of(level: u32, nth: u64) -> u64 {
    u64::from(level) << 32 | nth
}

/// The row of an element in the matrix of 2^`level` rows under the order number `order`.
#[inline(always)]
fn row(element: u64, order: u64, level: u32, seed: u64) -> u64 {
    let hashed = hash::mix(element ^ hash::mix(seed.wrapping_add(order)));
    hashed.checked_shr(64 - level).unwrap_or(0)
}

/// The sampled rows of one column at one level, a few words a band: `column[band * words + i / 64]` bit `i % 64` is row `i` of the band.
fn sample(set: &[u64], level: u32, sampling: &Sampling, column: &mut Vec<u64>) {
    let seed = hash::spread_seed(sampling.seed ^ 0x7079_7261_6D69_6400);
    let sampled = (sampling.bands * sampling.rows) as u64;
    // Of each order so many rows are sampled, from the first on.
    let rows = if level <= FEW_ROWS { 1 } else { 1u64 << level };
    let orders = sampled.div_ceil(rows);
    let words = sampling.rows.div_ceil(64);
    column.clear();
    column.resize(sampling.bands * words, 0);
    for nth in 0..orders {
        for &element in set {
            let row = row(element, order_of(level, nth), level, seed);
            let place = (nth * rows + row) as usize;
            if row < rows && place < sampled as usize {
                // Dealt out, so that the rows of one small matrix go to different bands: an element falls on just one of them.
                let (band, row) = (place % sampling.bands, place / sampling.bands);
                column[band * words + row / 64] |= 1 << (row % 64);
            }
        }
    }
}

/// The bucket keys of every set at its levels `first[i]..=last[i]`, one a level and band, and the set each is of.
///
/// A set whose first level is over its last has none. Linear in the elements of a set, or in the sampled rows where those are more.
pub fn keys(elements: &[u64], offsets: &[i64], first: &[u8], last: &[u8], sampling: &Sampling) -> (Vec<u64>, Vec<u32>) {
    let words = sampling.rows.div_ceil(64);
    (0..first.len())
        .into_par_iter()
        .with_min_len(64)
        .flat_map_iter(|set| {
            let members = &elements[offsets[set] as usize..offsets[set + 1] as usize];
            let mut column = Vec::new();
            let mut found = Vec::new();
            for level in first[set]..=last[set] {
                sample(members, u32::from(level), sampling, &mut column);
                for (band, words) in column.chunks_exact(words).enumerate() {
                    let start = hash::begin(hash::mix((u64::from(level) << 32) | band as u64), words.len());
                    found.push((
                        hash::mix(words.iter().fold(start, |state, &word| hash::round(state, word))),
                        set as u32,
                    ));
                }
            }
            found
        })
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// The column of a set in the matrix of 2^`level` rows under an order, as a string of bits.
    fn column(set: &[u64], order: u64, level: u32, seed: u64) -> String {
        let rows: Vec<u64> = set.iter().map(|&element| row(element, order, level, seed)).collect();
        (0..1 << level).map(|at| if rows.contains(&at) { '1' } else { '0' }).collect()
    }

    fn or_pairs(column: &str) -> String {
        column.as_bytes().chunks(2).map(|two| if two.contains(&b'1') { '1' } else { '0' }).collect()
    }

    #[test]
    fn a_level_is_the_one_below_with_its_rows_ored_in_pairs() {
        assert_eq!(["00110010", "0101", "11"].map(or_pairs), ["0101", "11", "1"]);
        for size in [0, 1, 3, 20, 100] {
            let set: Vec<u64> = (0..size).map(|i| mix(i + 1000 * size)).collect();
            for level in 1..10 {
                assert_eq!(or_pairs(&column(&set, 7, level, 5)), column(&set, 7, level - 1, 5), "{size} {level}");
            }
        }
    }

    #[test]
    fn the_known_column_folds_to_its_known_forms() {
        // One element for each of the rows 2, 3 and 6 of eight.
        let of_row = |wanted: u64| (0..).find(|&element| row(element, 0, 3, 0) == wanted).expect("some element");
        let set = [2, 3, 6].map(of_row);
        assert_eq!([3, 2, 1, 0].map(|level| column(&set, 0, level, 0)), ["00110010", "0101", "11", "1"]);
    }

    #[test]
    fn a_sample_deals_out_the_first_rows_of_the_orders_of_its_level() {
        let sampling = Sampling { bands: 3, rows: 15, seed: 9 };
        let seed = hash::spread_seed(sampling.seed ^ 0x7079_7261_6D69_6400);
        let set: Vec<u64> = (0..6).map(mix).collect();
        let mut bits = Vec::new();
        for level in [1, 2, 4, 5, 6] {
            // Of 45 rows: an order each, then orders of 32 rows, then one of 64.
            let taken = if level <= 4 { 1 } else { 1 << level };
            let whole: String = (0..45u64.div_ceil(taken))
                .map(|nth| column(&set, u64::from(level) << 32 | nth, level, seed)[..taken as usize].to_string())
                .collect();
            sample(&set, level, &sampling, &mut bits);
            let seen: String =
                (0..45).map(|place| if bits[place % 3] >> (place / 3) & 1 == 1 { '1' } else { '0' }).collect();
            assert_eq!(seen, whole[..45], "{level}");
        }
    }

    #[test]
    fn levels_look_at_rows_that_have_nothing_to_do_with_each_other() {
        // Under one order for all, an element among the first 32 of 128 rows would always be among the first 32 of 64 as well.
        let sampling = Sampling { bands: 1, rows: 32, seed: 3 };
        let (mut fine, mut coarse) = (Vec::new(), Vec::new());
        let mut both = 0;
        for element in (0..10_000).map(mix) {
            sample(&[element], 7, &sampling, &mut fine);
            sample(&[element], 6, &sampling, &mut coarse);
            both += u32::from(fine[0] != 0 && coarse[0] != 0);
        }
        // One in 4 · 2, within four standard deviations.
        assert!((1118..1383).contains(&both), "{both}");
    }

    #[test]
    fn small_levels_stand_for_several_and_equal_sets_have_equal_keys() {
        let sampling = Sampling { bands: 4, rows: 70, seed: 1 };
        let elements: Vec<u64> = [1, 2, 3, 1, 2, 3, 4, 5, 6].map(mix).to_vec();
        let (keys, sets) = keys(&elements, &[0, 3, 6, 9], &[2, 2, 2], &[3, 3, 1], &sampling);
        assert_eq!(sets, [[0; 8], [1; 8]].concat());
        assert_eq!(keys[..8], keys[8..]);
        let mut distinct = keys[..8].to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 8);
    }
}
