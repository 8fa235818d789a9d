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
