//! Some positions of a row → a bucket key.
//!
//! Bit sampling draws positions with replacement, so that slots are independent, or deals each shuffle of them out to bands that share none; covering masks
//! (`covering`) are made so that near rows agree under one.
//! Either way rows have the same key if they agree in those positions (and, two in 2⁴⁸ aside, only then): which is all that a band of slots says.

use rayon::prelude::*;

use super::Rows;
use crate::bands::BAND_BITS;
use crate::hash;

/// Which bit of a word (read little-endian) is bit `position` of a row.
#[inline(always)]
fn place(position: u32) -> (usize, u32) {
    (position as usize / 64, (position % 64) ^ 7)
}

/// A number below `bound`, from 64 random bits; its bias is under bound / 2⁶⁴.
pub(super) fn below(random: u64, bound: u32) -> u32 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u32
}

/// `count` positions below `width`, each drawn anew.
pub fn drawn(width: u32, count: usize, seed: u64) -> Vec<u32> {
    let seed = hash::spread_seed(seed);
    (0..count as u64).map(|slot| below(hash::mix(seed ^ hash::mix(slot + 1)), width)).collect()
}

/// All positions below `width` in a random order.
pub fn shuffled(width: u32, seed: u64) -> Vec<u32> {
    let seed = hash::spread_seed(seed);
    let mut positions: Vec<u32> = (0..width).collect();
    for last in (1..positions.len()).rev() {
        positions.swap(last, below(hash::mix(seed ^ hash::mix(last as u64)), last as u32 + 1) as usize);
    }
    positions
}

/// The positions below `width` of `bands` bands, one after the other, `rows` to a band: a shuffle is cut into as many bands as it has room for, and the next
/// bands are cut from another shuffle.
pub fn dealt(width: u32, rows: u32, bands: usize, seed: u64) -> Vec<u32> {
    assert!(0 < rows && rows <= width, "a band holds every position at most once");
    let at_once = (width / rows) as usize;
    let mut positions = Vec::with_capacity(bands * rows as usize);
    for shuffle in 0..bands.div_ceil(at_once) {
        let order = shuffled(width, seed ^ hash::mix(shuffle as u64 + 1));
        let here = at_once.min(bands - shuffle * at_once);
        positions.extend_from_slice(&order[..here * rows as usize]);
    }
    positions
}

/// Writes the bits of a row at the positions to `out`, packed like a row.
pub fn sample(row: &[u64], positions: &[u32], out: &mut [u64]) {
    out.fill(0);
    for (slot, &position) in positions.iter().enumerate() {
        let ((word, bit), (to, at)) = (place(position), place(slot as u32));
        out[to] |= (row[word] >> bit & 1) << at;
    }
}

/// Some positions, as masks of the words they are in.
#[derive(Clone, Debug)]
pub struct Mask {
    words: Vec<(u32, u64)>,
}

impl Mask {
    pub fn new(positions: &[u32]) -> Mask {
        let mut words: Vec<(u32, u64)> =
            positions.iter().map(|&position| place(position)).map(|(word, bit)| (word as u32, 1 << bit)).collect();
        words.sort_unstable();
        words.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 |= next.1;
            }
            same
        });
        Mask { words }
    }

    /// Whether a position is one of them.
    pub fn holds(&self, position: u32) -> bool {
        let (word, bit) = place(position);
        self.words.iter().any(|&(at, mask)| at as usize == word && mask >> bit & 1 == 1)
    }

    /// Whether two rows have the same bits there.
    #[inline(always)]
    pub fn agree(&self, a: &[u64], b: &[u64]) -> bool {
        self.words.iter().all(|&(word, mask)| (a[word as usize] ^ b[word as usize]) & mask == 0)
    }

    /// A hash of the bits there.
    #[inline(always)]
    pub fn hash(&self, row: &[u64], begun: u64) -> u64 {
        hash::mix(self.words.iter().fold(begun, |state, &(word, mask)| hash::round(state, row[word as usize] & mask)))
    }
}

/// Masks, each with where its hash begins.
pub struct Masks {
    /// Every position of any of them, once.
    order: Vec<u32>,
    masks: Vec<Mask>,
    begun: Vec<u64>,
}

impl Masks {
    /// A mask of the positions from each offset to the next.
    pub fn new(positions: &[u32], offsets: &[i64]) -> Masks {
        let masks: Vec<Mask> =
            offsets.windows(2).map(|span| Mask::new(&positions[span[0] as usize..span[1] as usize])).collect();
        let begun = (0..masks.len()).map(|mask| hash::begin(hash::mix(mask as u64), 8)).collect();
        let mut met = vec![false; positions.iter().max().map_or(0, |&last| last as usize + 1)];
        let first = |position: &&u32| !std::mem::replace(&mut met[**position as usize], true);
        let order = positions.iter().filter(first).copied().collect();
        Masks { order, masks, begun }
    }

    pub fn len(&self) -> usize {
        self.masks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// The positions of all the others that are not in a mask.
    pub fn outside(&self, mask: usize) -> Vec<u32> {
        self.order.iter().copied().filter(|&position| !self.masks[mask].holds(position)).collect()
    }

    /// A row's key by a mask: its low 16 bits say which mask, the others are a hash of the bits there.
    #[inline(always)]
    pub fn key(&self, mask: usize, row: &[u64]) -> u64 {
        self.masks[mask].hash(row, self.begun[mask]) >> BAND_BITS << BAND_BITS | mask as u64
    }

    /// Writes the keys of all rows, `rows.len()` of them by mask `first`, then by the next.
    pub fn keys_into(&self, first: usize, rows: Rows<'_>, out: &mut [u64]) {
        let count = rows.len();
        for from in (0..count).step_by(BLOCK) {
            let some = rows.part(from, count.min(from + BLOCK));
            for (i, keys) in out.chunks_exact_mut(count).enumerate() {
                for (key, row) in keys[from..].iter_mut().zip(some.iter()) {
                    *key = self.key(first + i, row);
                }
            }
        }
    }

    /// Writes the keys of each row by all masks side by side, on all threads.
    pub fn sign_into(&self, rows: Rows<'_>, out: &mut [u64]) {
        let count = self.len();
        let parts = out.par_chunks_mut(BLOCK * count.max(1)).enumerate();
        parts.for_each(|(part, out)| {
            let from = part * BLOCK;
            let some = rows.part(from, rows.len().min(from + BLOCK));
            for (keys, row) in out.chunks_exact_mut(count).zip(some.iter()) {
                keys.iter_mut().enumerate().for_each(|(mask, key)| *key = self.key(mask, row));
            }
        });
    }
}

/// So many rows are read once and go through all masks: they stay in a core's own cache.
const BLOCK: usize = 512;

#[cfg(test)]
mod tests {
    use super::super::clustered;
    use super::*;

    #[test]
    fn bit_seven_of_the_first_byte_is_the_first() {
        let row = [u64::from_le_bytes([0b1000_0001, 0b0100_0000, 0, 0, 0, 0, 0, 1])];
        let mut out = [0; 1];
        sample(&row, &(0..64).collect::<Vec<u32>>(), &mut out);
        assert_eq!(out, row);
        for (position, expected) in [(0, 1u64), (1, 0), (7, 1), (8, 0), (9, 1), (63, 1)] {
            sample(&row, &[position], &mut out);
            assert_eq!(out[0], expected << 7, "{position}");
        }
    }

    #[test]
    fn a_shuffle_holds_every_position_once() {
        for width in [1, 2, 64, 1000] {
            let mut order = shuffled(width, 3);
            assert!(width < 64 || order != (0..width).collect::<Vec<u32>>());
            order.sort_unstable();
            assert_eq!(order, (0..width).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn positions_are_drawn_evenly() {
        let mut counts = [0u32; 10];
        drawn(10, 100_000, 7).into_iter().for_each(|position| counts[position as usize] += 1);
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 400), "{counts:?}");
    }

    #[test]
    fn bands_of_one_shuffle_share_no_position() {
        for (width, rows, bands) in [(64, 10, 15), (7, 7, 3), (5, 1, 5), (100, 33, 7), (9, 2, 0)] {
            let positions = dealt(width, rows, bands, 5);
            assert_eq!(positions.len(), bands * rows as usize);
            for shuffle in positions.chunks((width / rows * rows) as usize) {
                let mut distinct = shuffle.to_vec();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), shuffle.len());
                assert!(distinct.iter().all(|&position| position < width));
            }
            // More bands begin with the fewer.
            assert_eq!(dealt(width, rows, bands + 4, 5)[..positions.len()], positions);
            assert!(bands == 0 || width < 60 || dealt(width, rows, bands, 6) != positions);
        }
    }

    #[test]
    fn keys_are_equal_where_the_bits_under_the_mask_are() {
        let values = clustered(60, 2, 25, 5);
        let rows = Rows::new(&values, 2);
        let positions = drawn(128, 60, 1);
        let offsets: Vec<i64> = (0..=6).map(|i| i * 10).collect();
        let masks = Masks::new(&positions, &offsets);
        let mut met = 0;
        let (mut all, mut signed) = (vec![0; 6 * rows.len()], vec![0; 6 * rows.len()]);
        masks.keys_into(0, rows, &mut all);
        masks.sign_into(rows, &mut signed);
        for mask in 0..6 {
            let keys = &all[mask * rows.len()..][..rows.len()];
            assert!(keys.iter().zip(signed[mask..].iter().step_by(6)).all(|(key, slot)| key == slot));
            let outside = masks.outside(mask);
            assert!(positions[mask * 10..][..10].iter().all(|position| !outside.contains(position)));
            assert!(
                positions.iter().all(|&position| masks.masks()[mask].holds(position) != outside.contains(&position))
            );
            for (a, b) in (0..60).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let (mut x, mut y) = ([0], [0]);
                sample(rows.get(a), &positions[mask * 10..][..10], &mut x);
                sample(rows.get(b), &positions[mask * 10..][..10], &mut y);
                assert_eq!(keys[a] == keys[b], x == y);
                assert_eq!(masks.masks()[mask].agree(rows.get(a), rows.get(b)), x == y);
                met += usize::from(x == y);
            }
            assert!(keys.iter().all(|key| key & 0xFFFF == mask as u64));
        }
        assert!(met > 100);
    }
}
