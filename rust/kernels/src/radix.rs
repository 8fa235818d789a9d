//! Stable sorting of 64-bit keys that carry a 32-bit value.
//!
//! Keys are first dealt into 256 parts by their top byte, then each part, now small enough for the cache, is sorted by its lower digits, least first.
//! Parts are sorted in parallel. Bucket keys are hashes, so the parts are even; keys that are not only lose parallelism. 16 bytes a record and as much again while sorting.

use rayon::prelude::*;

use crate::memory::with_room;

/// A key and what it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Record {
    pub key: u64,
    pub value: u32,
}

const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// Parts smaller than this are sorted by comparison, which wins there.
const SMALL: usize = 256;

/// Sorts records by key; equal keys keep their order.
pub fn sort(records: &mut [Record]) {
    if records.len() <= SMALL {
        records.sort_by_key(|r| r.key);
        return;
    }
    let mut spare = with_room(records.len());
    spare.resize(records.len(), Record::default());
    let bounds = deal(records, &mut spare);
    let mut parts = Vec::with_capacity(DIGITS);
    let (mut rest_of_records, mut rest_of_spare) = (&mut records[..], &mut spare[..]);
    for size in bounds {
        let (part, later) = rest_of_records.split_at_mut(size);
        let (dealt, later_spare) = rest_of_spare.split_at_mut(size);
        (rest_of_records, rest_of_spare) = (later, later_spare);
        parts.push((part, dealt));
    }
    parts.into_par_iter().for_each(|(part, dealt)| sort_part(dealt, part));
}

/// Copies records to `dealt` by their top byte, order kept, and returns how many went to each part.
fn deal(records: &[Record], dealt: &mut [Record]) -> Vec<usize> {
    let digit = |r: &Record| (r.key >> (64 - DIGIT)) as usize;
    let threads = rayon::current_num_threads().clamp(1, 16);
    let slice = records.len().div_ceil(threads);
    let counts: Vec<Vec<usize>> = records
        .par_chunks(slice)
        .map(|chunk| {
            let mut count = vec![0; DIGITS];
            chunk.iter().for_each(|r| count[digit(r)] += 1);
            count
        })
        .collect();
    let mut next = 0;
    let mut starts = vec![vec![0; DIGITS]; counts.len()];
    let mut sizes = vec![0; DIGITS];
    for d in 0..DIGITS {
        for (start, count) in starts.iter_mut().zip(&counts) {
            start[d] = next;
            next += count[d];
            sizes[d] += count[d];
        }
    }
    let target = Shared(dealt.as_mut_ptr());
    records.par_chunks(slice).zip(starts).for_each(|(chunk, mut starts)| {
        let target = &target;
        for r in chunk {
            let at = &mut starts[digit(r)];
            // SAFETY: the counts give every chunk and digit places of its own, all within `dealt`.
            unsafe { target.0.add(*at).write(*r) };
            *at += 1;
        }
    });
    sizes
}

struct Shared(*mut Record);
// SAFETY: each thread writes places that no other thread reads or writes.
unsafe impl Sync for Shared {}

/// Sorts the records of `dealt`, which share their top byte, into `out`.
fn sort_part(dealt: &mut [Record], out: &mut [Record]) {
    if dealt.len() <= SMALL {
        dealt.sort_by_key(|r| r.key);
        out.copy_from_slice(dealt);
        return;
    }
    if let Some(key) = crowd(dealt) {
        return sort_around(key, dealt, out);
    }
    let varying = dealt.iter().fold(0, |bits, r| bits | (r.key ^ dealt[0].key));
    let (mut from, mut to): (&mut [Record], &mut [Record]) = (dealt, out);
    let mut in_out = false;
    for shift in (0..64 - DIGIT).step_by(DIGIT as usize) {
        if (varying >> shift) & (DIGITS as u64 - 1) == 0 {
            continue;
        }
        let mut starts = [0usize; DIGITS];
        from.iter().for_each(|r| starts[(r.key >> shift) as usize & (DIGITS - 1)] += 1);
        let mut next = 0;
        for start in &mut starts {
            next += std::mem::replace(start, next);
        }
        for r in from.iter() {
            let at = &mut starts[(r.key >> shift) as usize & (DIGITS - 1)];
            to[*at] = *r;
            *at += 1;
        }
        std::mem::swap(&mut from, &mut to);
        in_out = !in_out;
    }
    if !in_out {
        to.copy_from_slice(from);
    }
}

/// A key that about half of the records have, if there seems to be one: a bucket that holds a crowd.
fn crowd(records: &[Record]) -> Option<u64> {
    const LOOKS: usize = 15;
    let mut seen: Vec<u64> = (0..LOOKS).map(|i| records[i * (records.len() - 1) / (LOOKS - 1)].key).collect();
    seen.sort_unstable();
    let middle = seen[LOOKS / 2];
    (seen.iter().filter(|&&key| key == middle).count() > LOOKS / 2).then_some(middle)
}

/// Sorts `dealt` into `out` when most records have `key`: those are copied, and only the others are sorted.
fn sort_around(key: u64, dealt: &mut [Record], out: &mut [Record]) {
    let less = dealt.iter().filter(|r| r.key < key).count();
    let equal = dealt.iter().filter(|r| r.key == key).count();
    let mut next = [0, less, less + equal];
    for r in dealt.iter() {
        let place = &mut next[usize::from(r.key >= key) + usize::from(r.key > key)];
        out[*place] = *r;
        *place += 1;
    }
    for part in [0..less, less + equal..dealt.len()] {
        dealt[part.clone()].copy_from_slice(&out[part.clone()]);
        sort_part(&mut dealt[part.clone()], &mut out[part]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    const CROWD: u64 = 1 << 41;

    #[test]
    fn sorts_like_the_standard_library_and_keeps_ties_in_order() {
        for (count, modulus) in
            [(0, 1), (1, 1), (200, 7), (5_000, 3), (100_000, 1 << 40), (70_000, 1), (100_000, 1000), (100_000, CROWD)]
        {
            for spread in [false, true] {
                // Two of three keys are one and the same where the modulus says so: a crowd among others.
                let key = |i: u64| match modulus {
                    CROWD if !i.is_multiple_of(3) => mix(1),
                    _ if spread => mix(mix(i) % modulus),
                    _ => mix(i) % modulus,
                };
                let mut records: Vec<Record> = (0..count).map(|i| Record { key: key(i), value: i as u32 }).collect();
                let mut expected = records.clone();
                expected.sort_by_key(|r| r.key);
                sort(&mut records);
                assert_eq!(records, expected, "{count} {modulus} {spread}");
            }
        }
    }
}
