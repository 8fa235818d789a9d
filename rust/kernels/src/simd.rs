//! Which vector unit a kernel runs on, and the few operations that need one by name.
//!
//! Every kernel is written once, as a generic function over [`Lanes`], and compiled three times with other target
//! features. All arithmetic is on integers, so the three give the same bits; tests force each path and compare.

/// The paths a kernel is compiled for, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Scalar,
    Avx2,
    Avx512,
}

impl Level {
    /// The best path this machine has.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt")
            {
                return Level::Avx2;
            }
        }
        Level::Scalar
    }

    /// Every path this machine can run, for tests that force each.
    pub fn available() -> Vec<Level> {
        let best = Level::detect();
        [Level::Scalar, Level::Avx2, Level::Avx512].into_iter().filter(|&level| level <= best).collect()
    }
}

/// What differs between the paths by name rather than by compiler flags.
pub(crate) trait Lanes {
    /// Two masks over 64 bytes: ASCII letters and digits; bytes of anything beyond ASCII.
    ///
    /// # Safety
    /// The caller runs on a machine that has this path's features.
    unsafe fn word_bytes(block: &[u8; 64]) -> (u64, u64);

    /// A mask of where two blocks hold different bytes.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn differing(left: &[u8; 64], right: &[u8; 64]) -> u64 {
        left.iter().zip(right).rev().fold(0, |mask, (l, r)| mask << 1 | u64::from(l != r))
    }

    /// Writes `base` + the place of each bit that is set to `out`, in their order, and returns how many those are.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn places_of_bits(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
        let mut rest = bits;
        // Eight at a time, whether there are so many or not: an end that nobody can guess costs more.
        for eight in out.chunks_exact_mut(8) {
            if rest == 0 {
                break;
            }
            for place in eight {
                *place = base.wrapping_add(rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
            }
        }
        bits.count_ones() as usize
    }

    /// Writes `mix(state ^ (eight bytes at i & keep))` for i = 0, 1, …, as far as whole vectors go, and returns how many.
    ///
    /// # Safety
    /// As above; and the text holds at least seven bytes more than `out` has entries.
    #[inline(always)]
    unsafe fn char_windows(_text: &[u8], _keep: u64, _state: u64, _out: &mut [u64]) -> usize {
        0
    }

    /// Copies the elements whose low 31 bits are under `limit` to `out`, in their order, and returns how many those are.
    ///
    /// # Safety
    /// As above; and `out` has eight entries more than there are elements.
    #[inline(always)]
    unsafe fn ranked_below(elements: &[u64], limit: u32, out: &mut [u64]) -> usize {
        let mut count = 0;
        for &x in elements {
            // Written always and kept by moving on, so that there is no branch to guess.
            out[count] = x;
            count += usize::from((x as u32 & 0x7FFF_FFFF) < limit);
        }
        count
    }

    /// Writes where `slots` are at or over `limit` to `out`, in their order, and returns how many those are.
    ///
    /// # Safety
    /// As above; and `out` has sixteen entries more than there are slots.
    #[inline(always)]
    unsafe fn places_from(slots: &[u32], limit: u32, out: &mut [u32]) -> usize {
        let mut count = 0;
        for (place, &slot) in slots.iter().enumerate() {
            out[count] = place as u32;
            count += usize::from(slot >= limit);
        }
        count
    }

    /// Lowers a slot to a rank, if that is lower.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn lower(slot: &mut u32, rank: u32) {
        *slot = rank.min(*slot);
    }

    /// For every multiplier the least product with any of the elements.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn least_products<const VECTORS: usize>(
        elements: &[u32],
        multipliers: &[[u32; 16]; VECTORS],
    ) -> [[u32; 16]; VECTORS] {
        let mut least = [[u32::MAX; 16]; VECTORS];
        for &x in elements {
            for (least, multipliers) in least.iter_mut().zip(multipliers) {
                for (least, multiplier) in least.iter_mut().zip(multipliers) {
                    *least = (*least).min(x.wrapping_mul(*multiplier));
                }
            }
        }
        least
    }
}

pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    unsafe fn word_bytes(block: &[u8; 64]) -> (u64, u64) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const HIGH: u64 = 0x80 * ONES;
        // One bit a byte, gathered into the top byte by a multiplication.
        let gather = |bits: u64| ((bits >> 7).wrapping_mul(0x0102_0408_1020_4080)) >> 56;
        let (mut words, mut beyond) = (0, 0);
        for (i, bytes) in block.chunks_exact(8).enumerate() {
            let chunk = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            let low = chunk & !HIGH;
            let folded = low | (0x20 * ONES);
            // Bytes are under 128 here, so each sum's high bit says "at least", and none carries over.
            let letter = (folded + (0x80 - 0x61) * ONES) & !(folded + (0x80 - 0x7B) * ONES);
            let digit = (low + (0x80 - 0x30) * ONES) & !(low + (0x80 - 0x3A) * ONES);
            words |= gather((letter | digit) & HIGH & !chunk) << (8 * i);
            beyond |= gather(chunk & HIGH) << (8 * i);
        }
        (words, beyond)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    #[inline(always)]
    unsafe fn word_bytes(block: &[u8; 64]) -> (u64, u64) {
        // SAFETY: the trait's contract.
        unsafe { word_bytes_avx2(block) }
    }

    #[inline(always)]
    unsafe fn differing(left: &[u8; 64], right: &[u8; 64]) -> u64 {
        // SAFETY: the trait's contract.
        unsafe { differing_avx2(left, right) }
    }

    #[inline(always)]
    unsafe fn lower(slot: &mut u32, rank: u32) {
        // SAFETY: the trait's contract.
        unsafe { lower_avx(slot, rank) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn word_bytes_avx2(block: &[u8; 64]) -> (u64, u64) {
    use std::arch::x86_64::*;
    let half = |at: usize| {
        // SAFETY: `at` is 0 or 32 and the block holds 64 bytes.
        let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast()) };
        let within =
            |value: __m256i, count: i8| _mm256_cmpeq_epi8(_mm256_min_epu8(value, _mm256_set1_epi8(count)), value);
        let folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        let letter = within(_mm256_sub_epi8(folded, _mm256_set1_epi8(b'a' as i8)), 25);
        let digit = within(_mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8)), 9);
        let words = _mm256_movemask_epi8(_mm256_or_si256(letter, digit)) as u32 as u64;
        let beyond = _mm256_movemask_epi8(bytes) as u32 as u64;
        (words, beyond)
    };
    let ((w0, b0), (w1, b1)) = (half(0), half(32));
    (w0 | w1 << 32, b0 | b1 << 32)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn differing_avx2(left: &[u8; 64], right: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;
    let half = |at: usize| {
        // SAFETY: 32 bytes are read from blocks of 64.
        let (l, r) = unsafe {
            (_mm256_loadu_si256(left.as_ptr().add(at).cast()), _mm256_loadu_si256(right.as_ptr().add(at).cast()))
        };
        !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(l, r)) as u32)
    };
    u64::from(half(0)) | u64::from(half(32)) << 32
}

#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx512 {
    #[inline(always)]
    unsafe fn word_bytes(block: &[u8; 64]) -> (u64, u64) {
        // SAFETY: the trait's contract.
        unsafe { word_bytes_avx512(block) }
    }

    #[inline(always)]
    unsafe fn differing(left: &[u8; 64], right: &[u8; 64]) -> u64 {
        // SAFETY: the trait's contract.
        unsafe { differing_avx512(left, right) }
    }

    #[inline(always)]
    unsafe fn lower(slot: &mut u32, rank: u32) {
        // SAFETY: the trait's contract.
        unsafe { lower_avx(slot, rank) }
    }

    #[inline(always)]
    unsafe fn char_windows(text: &[u8], keep: u64, state: u64, out: &mut [u64]) -> usize {
        // SAFETY: the trait's contract.
        unsafe { char_windows_avx512(text, keep, state, out) }
    }

    #[inline(always)]
    unsafe fn ranked_below(elements: &[u64], limit: u32, out: &mut [u64]) -> usize {
        // SAFETY: the trait's contract.
        unsafe { ranked_below_avx512(elements, limit, out) }
    }

    #[inline(always)]
    unsafe fn places_of_bits(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
        // SAFETY: the trait's contract.
        unsafe { places_of_bits_avx512(bits, base, out) }
    }

    #[inline(always)]
    unsafe fn places_from(slots: &[u32], limit: u32, out: &mut [u32]) -> usize {
        // SAFETY: the trait's contract.
        unsafe { places_from_avx512(slots, limit, out) }
    }

    #[inline(always)]
    unsafe fn least_products<const VECTORS: usize>(
        elements: &[u32],
        multipliers: &[[u32; 16]; VECTORS],
    ) -> [[u32; 16]; VECTORS] {
        // SAFETY: the trait's contract.
        unsafe { least_products_avx512(elements, multipliers) }
    }
}

/// In registers for vectors, so that the units for numbers are free to find the next place: a tenth less time a set.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
fn lower_avx(slot: &mut u32, rank: u32) {
    use std::arch::{asm, x86_64::*};
    let slot: *mut u32 = slot;
    // SAFETY: one number is read where there is one, and written there.
    unsafe {
        let held = _mm_loadu_si32(slot.cast());
        let mut least = _mm_cvtsi32_si128(rank as i32);
        // Written out: of the intrinsic the compiler makes a minimum of numbers again.
        asm!("vpminud {least}, {least}, {held}", least = inout(xmm_reg) least, held = in(xmm_reg) held,
            options(pure, nomem, nostack, preserves_flags));
        _mm_storeu_si32(slot.cast(), least);
    }
}

/// Left to itself the compiler puts elements in the lanes and pays for the minimum across them.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn least_products_avx512<const VECTORS: usize>(
    elements: &[u32],
    multipliers: &[[u32; 16]; VECTORS],
) -> [[u32; 16]; VECTORS] {
    use std::arch::x86_64::*;
    // SAFETY: sixteen numbers are read from arrays of sixteen.
    let multipliers = multipliers.each_ref().map(|some| unsafe { _mm512_loadu_si512(some.as_ptr().cast()) });
    let mut least = [_mm512_set1_epi32(-1); VECTORS];
    for &x in elements {
        let x = _mm512_set1_epi32(x as i32);
        for (least, &multiplier) in least.iter_mut().zip(&multipliers) {
            *least = _mm512_min_epu32(*least, _mm512_mullo_epi32(x, multiplier));
        }
    }
    least.map(|least| {
        let mut out = [0; 16];
        // SAFETY: sixteen numbers are written to an array of sixteen.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), least) };
        out
    })
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn places_of_bits_avx512(bits: u64, base: u32, out: &mut [u32; 64]) -> usize {
    use std::arch::x86_64::*;
    let first = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let mut count = 0;
    for i in 0..4 {
        let some = (bits >> (16 * i)) as u16;
        let places = _mm512_add_epi32(first, _mm512_set1_epi32(base.wrapping_add(16 * i) as i32));
        // SAFETY: at most 16 · i places were written before, so there is room for sixteen.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi32(some, places));
        }
        count += some.count_ones() as usize;
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn places_from_avx512(slots: &[u32], limit: u32, out: &mut [u32]) -> usize {
    use std::arch::x86_64::*;
    let least = _mm512_set1_epi32(limit as i32);
    let first = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let chunks = slots.chunks_exact(16);
    let rest = chunks.remainder();
    let mut count = 0;
    for (i, chunk) in chunks.enumerate() {
        assert!(count + 16 <= out.len());
        // SAFETY: sixteen slots are read from a chunk of sixteen, and sixteen entries written where there is room for them.
        unsafe {
            let from = _mm512_cmpge_epu32_mask(_mm512_loadu_si512(chunk.as_ptr().cast()), least);
            let places = _mm512_add_epi32(first, _mm512_set1_epi32(16 * i as i32));
            _mm512_storeu_si512(out.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi32(from, places));
            count += from.count_ones() as usize;
        }
    }
    for (place, &slot) in (slots.len() - rest.len()..).zip(rest) {
        out[count] = place as u32;
        count += usize::from(slot >= limit);
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn ranked_below_avx512(elements: &[u64], limit: u32, out: &mut [u64]) -> usize {
    use std::arch::x86_64::*;
    let (rank, limit) = (_mm512_set1_epi64(0x7FFF_FFFF), _mm512_set1_epi64(i64::from(limit)));
    let chunks = elements.chunks_exact(8);
    let rest = chunks.remainder();
    let mut count = 0;
    for chunk in chunks {
        assert!(count + 8 <= out.len());
        // SAFETY: eight elements are read from a chunk of eight, and eight entries written where there is room for them.
        unsafe {
            let x = _mm512_loadu_si512(chunk.as_ptr().cast());
            let below = _mm512_cmplt_epu64_mask(_mm512_and_si512(x, rank), limit);
            _mm512_storeu_si512(out.as_mut_ptr().add(count).cast(), _mm512_maskz_compress_epi64(below, x));
            count += below.count_ones() as usize;
        }
    }
    // SAFETY: the portable way needs nothing of the machine.
    count + unsafe { Portable::ranked_below(rest, _mm512_cvtsi512_si32(limit) as u32, &mut out[count..]) }
}

/// Eight windows at a time: sixteen bytes in every lane, shuffled so that each 64-bit word begins one byte later.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn char_windows_avx512(text: &[u8], keep: u64, state: u64, out: &mut [u64]) -> usize {
    use std::arch::x86_64::*;
    let window = |i: u64| 0x0706_0504_0302_0100 + i * 0x0101_0101_0101_0101;
    let shuffle = _mm512_set_epi64(
        window(7) as i64,
        window(6) as i64,
        window(5) as i64,
        window(4) as i64,
        window(3) as i64,
        window(2) as i64,
        window(1) as i64,
        window(0) as i64,
    );
    let (keep, state) = (_mm512_set1_epi64(keep as i64), _mm512_set1_epi64(state as i64));
    let [first, second] = crate::hash::MIX.map(|factor| _mm512_set1_epi64(factor as i64));
    let mut done = 0;
    while done + 8 <= out.len() && done + 16 <= text.len() {
        // SAFETY: sixteen bytes from `done` on are in the text, eight entries from `done` on in `out`.
        let bytes = unsafe { _mm_loadu_si128(text.as_ptr().add(done).cast()) };
        let windows = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), shuffle);
        let mut x = _mm512_xor_si512(_mm512_and_si512(windows, keep), state);
        x = _mm512_xor_si512(x, _mm512_srli_epi64::<27>(x));
        x = _mm512_mullo_epi64(x, first);
        x = _mm512_xor_si512(x, _mm512_srli_epi64::<33>(x));
        x = _mm512_mullo_epi64(x, second);
        x = _mm512_xor_si512(x, _mm512_srli_epi64::<27>(x));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().add(done).cast(), x) };
        done += 8;
    }
    done
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn differing_avx512(left: &[u8; 64], right: &[u8; 64]) -> u64 {
    use std::arch::x86_64::*;
    // SAFETY: 64 bytes are read from blocks of 64.
    unsafe {
        _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(left.as_ptr().cast()), _mm512_loadu_si512(right.as_ptr().cast()))
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn word_bytes_avx512(block: &[u8; 64]) -> (u64, u64) {
    use std::arch::x86_64::*;
    // SAFETY: the block holds 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    let letter = _mm512_cmple_epu8_mask(_mm512_sub_epi8(folded, _mm512_set1_epi8(b'a' as i8)), _mm512_set1_epi8(25));
    let digit = _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8)), _mm512_set1_epi8(9));
    (letter | digit, _mm512_movepi8_mask(bytes))
}

/// Compiles one generic body for every path and picks one at run time.
///
/// The body must be `#[inline(always)]`, so that it takes on the target features of the path around it. Besides the path it may have one type of
/// its own, `fn name<T: Bound>(…)`.
macro_rules! for_each_path {
    ($(#[$doc:meta])* $vis:vis fn $name:ident $(<$of:ident: $bound:path>)? ($level:ident; $($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? => $body:ident) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name $(<$of: $bound>)? ($level: crate::simd::Level, $($arg: $type),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx2 $(<$of: $bound>)? ($($arg: $type),*) $(-> $ret)? { $body::<crate::simd::Avx2 $(, $of)?>($($arg),*) }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx512 $(<$of: $bound>)? ($($arg: $type),*) $(-> $ret)? { $body::<crate::simd::Avx512 $(, $of)?>($($arg),*) }
                assert!($level <= crate::simd::Level::detect(), "this machine has no {:?}", $level);
                match $level {
                    // SAFETY: detected just above.
                    crate::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: detected just above.
                    crate::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    crate::simd::Level::Scalar => {}
                }
            }
            $body::<crate::simd::Portable $(, $of)?>($($arg),*)
        }
    };
}
pub(crate) use for_each_path;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_finds_the_same_places_of_bits() {
        let mut some = vec![0, u64::MAX, 1, 1 << 63, 0xFF, 0x1FF, u64::MAX >> 1, 0xAAAA_AAAA_AAAA_AAAA];
        some.extend((0..2_000).map(crate::hash::mix));
        // Few bits, and many.
        some.extend(
            (0..2_000).map(|i| crate::hash::mix(i) & crate::hash::mix(i + 9_000) & crate::hash::mix(i + 99_000)),
        );
        some.extend(
            (0..2_000).map(|i| crate::hash::mix(i) | crate::hash::mix(i + 9_000) | crate::hash::mix(i + 99_000)),
        );
        for bits in some {
            let base = bits as u32 >> 1;
            let expected: Vec<u32> = (0..64).filter(|i| bits >> i & 1 == 1).map(|i| base.wrapping_add(i)).collect();
            let mut out = [7; 64];
            // SAFETY: the portable path needs nothing, the others are tried only where available.
            unsafe {
                let count = Portable::places_of_bits(bits, base, &mut out);
                assert_eq!(out[..count], expected);
                #[cfg(target_arch = "x86_64")]
                for level in Level::available() {
                    out = [7; 64];
                    let count = match level {
                        Level::Scalar => continue,
                        Level::Avx2 => Avx2::places_of_bits(bits, base, &mut out),
                        Level::Avx512 => Avx512::places_of_bits(bits, base, &mut out),
                    };
                    assert_eq!(out[..count], expected, "{level:?}");
                }
            }
        }
    }

    #[test]
    fn every_path_sees_where_blocks_differ() {
        for seed in 0..200 {
            // Of few values, so that many bytes agree.
            let block = |seed: u64| std::array::from_fn::<u8, 64, _>(|i| (crate::hash::mix(seed + i as u64) % 3) as u8);
            let (left, right) = (block(1_000 * seed), block(1_000 * seed + 500));
            let expected = (0..64).fold(0, |mask, i| mask | u64::from(left[i] != right[i]) << i);
            // SAFETY: the portable path needs nothing, the others are tried only where available.
            unsafe {
                assert_eq!(Portable::differing(&left, &right), expected);
                #[cfg(target_arch = "x86_64")]
                for level in Level::available() {
                    match level {
                        Level::Scalar => {}
                        Level::Avx2 => assert_eq!(Avx2::differing(&left, &right), expected),
                        Level::Avx512 => assert_eq!(Avx512::differing(&left, &right), expected),
                    }
                }
            }
        }
    }

    #[test]
    fn every_path_sees_the_same_word_bytes() {
        let mut block = [0u8; 64];
        for start in 0..=255u8 {
            for (i, byte) in block.iter_mut().enumerate() {
                *byte = start.wrapping_add((i as u8).wrapping_mul(37));
            }
            let words = block.iter().enumerate().fold(0, |m, (i, b)| m | u64::from(b.is_ascii_alphanumeric()) << i);
            let beyond = block.iter().enumerate().fold(0, |m, (i, b)| m | u64::from(!b.is_ascii()) << i);
            // SAFETY: the portable path needs nothing, the others are tried only where available.
            unsafe {
                assert_eq!(Portable::word_bytes(&block), (words, beyond));
                #[cfg(target_arch = "x86_64")]
                for level in Level::available() {
                    match level {
                        Level::Scalar => {}
                        Level::Avx2 => assert_eq!(Avx2::word_bytes(&block), (words, beyond)),
                        Level::Avx512 => assert_eq!(Avx512::word_bytes(&block), (words, beyond)),
                    }
                }
            }
        }
    }
}
