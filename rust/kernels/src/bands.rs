//! Signatures → bucket keys.
//!
//! A band is `rows` neighbouring slots. The low 16 bits of its key are the band's number, the others a hash of its slots: the same key means the same
//! band (two in 2⁴⁸ aside, which cost a check and no more), and a key alone says which bucket a row falls in.

use crate::hash;

/// The bits of a key that hold its band's number; a signature has at most 2¹⁶ slots.
pub const BAND_BITS: u32 = 16;

/// Some bands of a signature.
pub struct Bands {
    first: usize,
    rows: usize,
    /// Where the hash of each band begins.
    begun: Vec<u64>,
}

impl Bands {
    /// `count` bands of `rows` slots, from the band `first` on.
    pub fn new(first: usize, count: usize, rows: usize) -> Bands {
        let begun = (first..first + count).map(|band| hash::begin(hash::mix(band as u64), rows)).collect();
        Bands { first, rows, begun }
    }

    pub fn count(&self) -> usize {
        self.begun.len()
    }

    /// Writes a signature's keys, one a band, to `keys[at]`, `keys[at + stride]`, …
    #[inline]
    pub fn keys_into(&self, signature: &[u32], keys: &mut [u64], at: usize, stride: usize) {
        for (i, &begun) in self.begun.iter().enumerate() {
            let band = self.first + i;
            let mut state = begun;
            for pair in signature[band * self.rows..(band + 1) * self.rows].chunks(2) {
                let low = u64::from(pair[0]);
                let high = pair.get(1).map_or(0, |&x| u64::from(x));
                state = hash::round(state, low | high << 32);
            }
            keys[at + i * stride] = hash::mix(state) >> BAND_BITS << BAND_BITS | band as u64;
        }
    }
}

/// Keyed rows in pieces, of each piece a column of keys a band.
pub struct Keyed<'a> {
    pieces: Vec<Vec<&'a [u64]>>,
    /// Where the rows of each piece begin, and at the end how many rows there are.
    starts: Vec<usize>,
}

impl<'a> Keyed<'a> {
    /// The columns of a piece are equally long, and every piece has as many as the next.
    pub fn new(pieces: Vec<Vec<&'a [u64]>>) -> Keyed<'a> {
        let mut starts = vec![0];
        for piece in &pieces {
            starts.push(starts[starts.len() - 1] + piece.first().map_or(0, |keys| keys.len()));
        }
        Keyed { pieces, starts }
    }

    pub fn rows(&self) -> usize {
        self.starts[self.pieces.len()]
    }

    /// The piece that holds a row, and where the row is there.
    fn place_of(&self, row: u32) -> (&[&'a [u64]], usize) {
        let piece = self.starts.partition_point(|&start| start <= row as usize) - 1;
        (&self.pieces[piece], row as usize - self.starts[piece])
    }

    /// Marks the bands in which rows `a[i]` and `b[i]` have the same key: of pair `i` band `k` is bit `k % 64` of
    /// `masks[i · words + k / 64]`. Masks begin as zeros.
    pub fn shared_into(&self, a: &[u32], b: &[u32], words: usize, masks: &mut [u64]) {
        for ((&a, &b), mask) in a.iter().zip(b).zip(masks.chunks_exact_mut(words)) {
            let ((ones, i), (others, j)) = (self.place_of(a), self.place_of(b));
            for (band, (keys, others)) in ones.iter().zip(others).enumerate() {
                mask[band / 64] |= u64::from(keys[i] == others[j]) << (band % 64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bands_are_those_whose_keys_are_equal() {
        for bands in [1, 2, 63, 64, 65, 130] {
            let key = |row: usize, band: usize| hash::mix((row * 1000 + band) as u64) % 3;
            let columns = |rows: std::ops::Range<usize>| -> Vec<Vec<u64>> {
                (0..bands).map(|band| rows.clone().map(|row| key(row, band)).collect()).collect()
            };
            let pieces = [columns(0..5), columns(5..5), columns(5..12)];
            let keyed = Keyed::new(pieces.iter().map(|piece| piece.iter().map(Vec::as_slice).collect()).collect());
            assert_eq!(keyed.rows(), 12);
            let words = bands.div_ceil(64);
            let pairs: Vec<(u32, u32)> = (0..12).flat_map(|a| (0..12).map(move |b| (a, b))).collect();
            let (a, b): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
            let mut masks = vec![0; pairs.len() * words];
            keyed.shared_into(&a, &b, words, &mut masks);
            for (mask, &(a, b)) in masks.chunks(words).zip(&pairs) {
                for band in 0..64 * words {
                    let same = band < bands && key(a as usize, band) == key(b as usize, band);
                    assert_eq!(mask[band / 64] >> (band % 64) & 1 == 1, same);
                }
            }
        }
    }
}
