//! Signatures → bucket keys.
//!
//! A band is `rows` neighbouring slots. The low 16 bits of its key are the band's number, the others a hash of its slots: the same key means the same
//! band (two in 2⁴⁸ aside, which cost a check and no more), and a key alone says which bucket a row falls in.

use crate::hash;

/// The bits of a key that hold its band's number; a signature has at most 2¹⁶ slots.
pub const BAND_BITS: u32 = 16;

/// Writes the keys of signatures of `slots` slots, from the band `first` on: band by band, as many as `keys` has room for.
pub fn keys_into(signatures: &[u32], slots: usize, first: usize, rows: usize, keys: &mut [u64]) {
    let count = signatures.len() / slots;
    if count == 0 {
        return;
    }
    let bands = first..first + keys.len() / count;
    let begun: Vec<u64> = bands.clone().map(|band| hash::begin(hash::mix(band as u64), rows)).collect();
    for (row, signature) in signatures.chunks(slots).enumerate() {
        for ((i, band), &begun) in bands.clone().enumerate().zip(&begun) {
            let mut state = begun;
            for pair in signature[band * rows..(band + 1) * rows].chunks(2) {
                let low = u64::from(pair[0]);
                let high = pair.get(1).map_or(0, |&x| u64::from(x));
                state = hash::round(state, low | high << 32);
            }
            keys[i * count + row] = hash::mix(state) >> BAND_BITS << BAND_BITS | band as u64;
        }
    }
}
