//! Large buffers, on large pages where the system has them.
//!
//! The first touch of a fresh page costs microseconds on a virtual machine; a sort of a million keys touches ten thousand of them. On
//! pages of two megabytes it touches twenty.

/// An empty vector with room for `length` entries.
pub fn with_room<T>(length: usize) -> Vec<T> {
    let room = Vec::with_capacity(length);
    advise_large_pages(room.as_ptr() as usize, length * size_of::<T>());
    room
}

/// Asks memory for what lies at a place and will be read soon; a place where nothing is does no harm.
#[inline(always)]
pub fn ask_for<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: nothing is read, and every such machine has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(target_os = "linux")]
fn advise_large_pages(start: usize, bytes: usize) {
    const LARGE: usize = 2 << 20;
    let (first, last) = (start.next_multiple_of(LARGE), (start + bytes) / LARGE * LARGE);
    if first < last {
        // SAFETY: the range lies within an allocation of ours, and the advice changes nothing that can be read or written. It may be
        // refused, which changes nothing either.
        unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_large_pages(_start: usize, _bytes: usize) {}
