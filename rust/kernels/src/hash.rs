//! The hash functions everything else is built on.
//!
//! They are plain 64-bit integer arithmetic, little-endian and wrapping, so that a scalar loop, a vector unit and a GPU
//! agree bit for bit. Golden vectors in the tests pin them: a change here is a new algorithm version.

/// The version of everything that decides a signature or a bucket. Stored in every artefact; mixes are refused.
pub const ALGORITHM_VERSION: u32 = 3;

const LENGTH: u64 = 0x9E37_79B9_7F4A_7C15;
const ROUND: u64 = 0xD6E8_FEB8_6659_FD93;
const FINISH: u64 = 0xA076_1D64_78BD_642F;

/// The factors of [`mix`].
pub(crate) const MIX: [u64; 2] = [0x3C79_AC49_2BA7_B653, 0x1C69_B3F7_4AC4_AE35];

/// A bijection of 64-bit words in which every input bit moves every output bit with probability near one half.
#[inline(always)]
pub const fn mix(mut x: u64) -> u64 {
    x ^= x >> 27;
    x = x.wrapping_mul(MIX[0]);
    x ^= x >> 33;
    x = x.wrapping_mul(MIX[1]);
    x ^ (x >> 27)
}

/// Turns a user's seed, which is often 0 or 1, into one with no structure left.
#[inline(always)]
pub const fn spread_seed(seed: u64) -> u64 {
    mix(seed.wrapping_mul(LENGTH) ^ 0x6C6F_6F6B_616C_696B)
}

/// Where the hash of a byte string of this length begins.
#[inline(always)]
pub const fn begin(seed: u64, length: usize) -> u64 {
    seed ^ (length as u64).wrapping_mul(LENGTH)
}

/// Takes in eight more bytes.
#[inline(always)]
pub const fn round(state: u64, chunk: u64) -> u64 {
    let product = (state ^ chunk).wrapping_mul(ROUND);
    product ^ (product >> 32)
}

/// Ends the hash of a word. Cheaper than [`mix`], which every shingle passes through later anyway.
#[inline(always)]
pub const fn finish(state: u64) -> u64 {
    let product = state.wrapping_mul(FINISH);
    product ^ (product >> 29)
}

/// Keeps the first `length` bytes of a little-endian chunk, 1 ≤ `length` ≤ 8.
#[inline(always)]
pub const fn keep_bytes(chunk: u64, length: usize) -> u64 {
    chunk & (u64::MAX >> (64 - 8 * length as u32))
}

/// Reads eight bytes at `at`, zeros where the text has ended.
#[inline(always)]
pub fn load(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + 8) {
        Some(bytes) => u64::from_le_bytes(bytes.try_into().expect("eight bytes")),
        None => load_tail(text, at),
    }
}

#[cold]
fn load_tail(text: &[u8], at: usize) -> u64 {
    let mut bytes = [0u8; 8];
    let rest = text.get(at..).unwrap_or_default();
    bytes[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(bytes)
}

/// A checksum of stored bytes: one flipped bit always changes it, anything else with all but one chance in 2⁶⁴.
pub fn checksum(bytes: &[u8]) -> u64 {
    // Four strands side by side, so that one multiplication need not wait for another.
    let mut strands = [0, 1, 2, 3].map(|strand| begin(strand, bytes.len()));
    let blocks = bytes.chunks_exact(32);
    let rest = blocks.remainder();
    for block in blocks {
        for (strand, chunk) in strands.iter_mut().zip(block.chunks_exact(8)) {
            *strand = round(*strand, u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
    }
    for (strand, at) in strands.iter_mut().zip((0..rest.len()).step_by(8)) {
        *strand = round(*strand, load(rest, at));
    }
    mix(strands.into_iter().fold(0, round))
}

/// A hash of what one sees of a text at a glance: its length and a few words of eight bytes, evenly spaced; all of a short text.
///
/// The same for the same bytes, and cheap whatever the length: good for drawing samples, not for telling texts apart.
pub fn glance(bytes: &[u8], seed: u64) -> u64 {
    // Every word of a long text is a trip to memory.
    const WORDS: usize = 3;
    const SHORT: usize = 256;
    let mut state = begin(seed, bytes.len());
    if bytes.len() <= SHORT {
        for at in (0..bytes.len()).step_by(8) {
            state = round(state, load(bytes, at));
        }
    } else {
        for i in 0..WORDS {
            state = round(state, load(bytes, (bytes.len() - 8) * i / (WORDS - 1)));
        }
    }
    mix(state)
}

/// The hash of a word, already folded.
#[inline(always)]
pub fn word(bytes: &[u8], seed: u64) -> u64 {
    let mut state = begin(seed, bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let chunk = keep_bytes(load(bytes, at), (bytes.len() - at).min(8));
        state = round(state, chunk);
        at += 8;
    }
    finish(state)
}

/// The hash of the bytes `start..end` of `text` as a character shingle: premixed, since it goes straight into a set.
#[inline(always)]
pub fn span(text: &[u8], start: usize, end: usize, seed: u64) -> u64 {
    let length = end - start;
    let mut state = begin(seed, length);
    let mut at = start;
    while end - at > 16 {
        state = round(state, load(text, at));
        at += 8;
    }
    // One chunk more or none, chosen without a branch: in mixed text no one can guess which.
    let left = end - at;
    let first = load(text, at);
    let two = left > 8;
    let last = if two { load(text, at + 8) } else { first };
    let state = if two { round(state, first) } else { state };
    mix(state ^ keep_bytes(last, (if two { left - 8 } else { left }).max(1)))
}

/// Premixes an integer token. A bijection, so sets of integers are compared truly exactly.
#[inline(always)]
pub const fn token(value: u64, seed: u64) -> u64 {
    mix(value ^ seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_changes_the_checksum_and_a_short_texts_glance() {
        for length in [1usize, 7, 8, 31, 32, 33, 64, 100, 256] {
            let bytes: Vec<u8> = (0..length).map(|i| mix(i as u64) as u8).collect();
            let (sum, seen) = (checksum(&bytes), glance(&bytes, 5));
            assert_ne!(sum, checksum(&bytes[..length - 1]));
            for bit in 0..8 * length {
                let mut other = bytes.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(sum, checksum(&other));
                assert_ne!(seen, glance(&other, 5));
            }
        }
    }

    #[test]
    fn a_glance_at_a_long_text_reaches_both_ends() {
        let bytes = vec![7u8; 10_000];
        for at in [0, 9_999] {
            let mut other = bytes.clone();
            other[at] = 8;
            assert_ne!(glance(&bytes, 0), glance(&other, 0));
        }
    }

    #[test]
    fn golden_vectors_pin_the_hashes() {
        let seed = spread_seed(0);
        let seen = [word(b"a", seed), word(b"lookalike", seed), span(b"abcdefghij", 1, 10, seed), token(7, seed)];
        assert_eq!(seen, GOLDEN);
    }

    const GOLDEN: [u64; 4] =
        [12_818_773_912_989_756_720, 14_531_289_802_937_511_235, 13_773_458_814_074_922_755, 925_796_275_958_945_931];

    #[test]
    fn a_word_hash_does_not_depend_on_what_follows_it() {
        for length in 1..20 {
            let text = b"abcdefghijklmnopqrstuvwxyz";
            assert_eq!(span(text, 0, length, 9), span(&text[..length], 0, length, 9));
        }
    }

    #[test]
    fn mix_is_a_bijection_on_a_sample() {
        let mut seen: Vec<u64> = (0..100_000).map(mix).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100_000);
    }
}
