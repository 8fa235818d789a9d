//! Signatures → bucket keys.
//!
//! A band is `rows` neighbouring slots; its key is a 64-bit hash of the band's number and slots, so that the same key means the same band
//! (two in 2⁶⁴ aside) and a key alone says which bucket a row falls in.

use crate::hash;

/// Writes the keys of one signature, one a band, from the band `first` on.
pub fn keys_into(signature: &[u32], first: usize, rows: usize, keys: &mut [u64]) {
    for (band, key) in (first..).zip(keys) {
        let slots = &signature[band * rows..(band + 1) * rows];
        let mut state = hash::begin(hash::mix(band as u64), rows);
        for pair in slots.chunks(2) {
            let low = u64::from(pair[0]);
            let high = pair.get(1).map_or(0, |&x| u64::from(x));
            state = hash::round(state, low | high << 32);
        }
        *key = hash::mix(state);
    }
}
