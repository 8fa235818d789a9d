//! Sorting 64-bit keys to bring equal ones together, each with where it was.
//!
//! Keys are first dealt into 256 parts by the top bits in which they differ. Where only runs of two or more matter, as in buckets, most keys of a part are then dropped unsorted:
//! one pass counts them into a small table, and who is alone there is alone. The rest of a part, now small enough for the cache, is sorted by its lower
//! digits, least first. Parts are worked on in parallel. Bucket keys are hashes, so the parts are even; keys that are not only lose parallelism.
//! 16 bytes a key, and the largest part again for every thread.

use rayon::prelude::*;

use crate::memory::with_room;

/// A key and where it was.
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
/// Parts larger than this have no table of counts: it would not fit the cache.
const COUNTED: usize = 1 << 18;

/// The keys of runs of `least` to `most` equal ones, sorted, and where each was in the pieces, one after the other; equal keys keep their order.
///
/// The caller sees to it that there are at most 2³² keys.
pub fn sorted_runs(pieces: &[&[u64]], least: usize, most: usize) -> (Vec<u64>, Vec<u32>) {
    let count = pieces.iter().map(|piece| piece.len()).sum();
    let mut dealt: Vec<Record> = with_room(count);
    let sizes = deal(pieces, count, &mut dealt);
    let mut parts = Vec::with_capacity(DIGITS);
    let mut rest = &mut dealt[..];
    for size in sizes {
        let (part, later) = rest.split_at_mut(size);
        rest = later;
        parts.push(part);
    }
    let parts: Vec<&mut [Record]> = parts
        .into_par_iter()
        .map_init(Room::default, |room, part| {
            let kept = room.sort_and_keep(part, least, most);
            &mut part[..kept]
        })
        .collect();
    let kept = parts.iter().map(|part| part.len()).sum();
    let (mut keys, mut places) = (with_room(kept), with_room(kept));
    keys.resize(kept, 0);
    places.resize(kept, 0);
    let mut targets = Vec::with_capacity(DIGITS);
    let (mut rest_of_keys, mut rest_of_places) = (&mut keys[..], &mut places[..]);
    for part in parts {
        let (some_keys, later_keys) = rest_of_keys.split_at_mut(part.len());
        let (some_places, later_places) = rest_of_places.split_at_mut(part.len());
        (rest_of_keys, rest_of_places) = (later_keys, later_places);
        targets.push((part, some_keys, some_places));
    }
    targets.into_par_iter().for_each(|(part, keys, places)| {
        for ((r, key), place) in part.iter().zip(keys).zip(places) {
            (*key, *place) = (r.key, r.value);
        }
    });
    (keys, places)
}

/// Writes the keys to `dealt` by their top digit, order kept, and returns how many went to each part.
fn deal(pieces: &[&[u64]], count: usize, dealt: &mut Vec<Record>) -> Vec<usize> {
    let shift = top_digit(pieces);
    let digit = |key: u64| (key >> shift) as usize & (DIGITS - 1);
    let slice = count.div_ceil(rayon::current_num_threads().clamp(1, 16)).max(1);
    let slices: Vec<&[u64]> = pieces.iter().flat_map(|piece| piece.chunks(slice)).collect();
    let counts: Vec<Vec<usize>> = slices
        .par_iter()
        .map(|keys| {
            let mut count = vec![0; DIGITS];
            keys.iter().for_each(|&key| count[digit(key)] += 1);
            count
        })
        .collect();
    let (mut next, mut sizes) = (0, vec![0; DIGITS]);
    let mut starts = vec![vec![0; DIGITS]; slices.len()];
    for d in 0..DIGITS {
        for (start, count) in starts.iter_mut().zip(&counts) {
            start[d] = next;
            next += count[d];
            sizes[d] += count[d];
        }
    }
    let mut firsts = vec![0];
    slices.iter().for_each(|keys| firsts.push(firsts[firsts.len() - 1] + keys.len()));
    let target = Shared(dealt.as_mut_ptr());
    (&slices, starts, &firsts[..slices.len()]).into_par_iter().for_each(|(keys, mut starts, &first)| {
        let target = &target;
        for (value, &key) in (first as u32..).zip(keys.iter()) {
            let at = &mut starts[digit(key)];
            // SAFETY: the counts give every slice and digit places of its own, all within the room of `dealt`.
            unsafe { target.0.add(*at).write(Record { key, value }) };
            *at += 1;
        }
    });
    // SAFETY: the counts add up to `count`, so every place was written.
    unsafe { dealt.set_len(count) };
    sizes
}

/// Where the top digit begins: over it keys do not differ, as those of row numbers do not.
fn top_digit(pieces: &[&[u64]]) -> u32 {
    let Some(&first) = pieces.iter().find_map(|piece| piece.first()) else { return 64 - DIGIT };
    let differing = |keys: &[u64]| keys.iter().fold(0, |bits, key| bits | (key ^ first));
    // Hashes tell by the first few.
    let few = pieces.iter().map(|piece| differing(&piece[..piece.len().min(64)])).fold(0, |bits, more| bits | more);
    let bits = match few.leading_zeros() {
        0 => few,
        _ => pieces.iter().fold(few, |bits, piece| bits | differing(piece)),
    };
    (64 - bits.leading_zeros()).saturating_sub(DIGIT)
}

struct Shared(*mut Record);
// SAFETY: each thread writes places that no other thread reads or writes.
unsafe impl Sync for Shared {}

/// What a thread needs to sort parts, reused from part to part.
#[derive(Default)]
struct Room {
    spare: Vec<Record>,
    counts: Vec<u8>,
}

impl Room {
    /// Sorts a part, keeps the runs of `least` to `most`, and returns how many records those are; they stand at its front.
    fn sort_and_keep(&mut self, part: &mut [Record], least: usize, most: usize) -> usize {
        let left = if least > 1 && part.len() <= COUNTED { self.drop_lonely(part, least) } else { part.len() };
        let part = &mut part[..left];
        if part.len() <= SMALL {
            part.sort_by_key(|r| r.key);
        } else if !part.is_sorted_by_key(|r| r.key) {
            self.spare.clear();
            self.spare.resize(part.len(), Record::default());
            sort_part(part, &mut self.spare);
            part.copy_from_slice(&self.spare);
        }
        if least <= 1 && most >= part.len() {
            return part.len();
        }
        let (mut kept, mut start) = (0, 0);
        while start < part.len() {
            let key = part[start].key;
            let run = part[start..].iter().take_while(|r| r.key == key).count();
            if (least..=most).contains(&run) {
                part.copy_within(start..start + run, kept);
                kept += run;
            }
            start += run;
        }
        kept
    }

    /// Moves to the front what may be in a run of `least`, order kept: keys that share a place of a table with enough others.
    fn drop_lonely(&mut self, part: &mut [Record], least: usize) -> usize {
        let bits = (8 * part.len().max(1)).ilog2();
        let place = |r: &Record| (r.key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize;
        self.counts.clear();
        self.counts.resize(1 << bits, 0);
        for r in part.iter() {
            let count = &mut self.counts[place(r)];
            *count = count.saturating_add(1);
        }
        let enough = least.min(usize::from(u8::MAX)) as u8;
        let mut kept = 0;
        for i in 0..part.len() {
            let r = part[i];
            part[kept] = r;
            kept += usize::from(self.counts[place(&r)] >= enough);
        }
        kept
    }
}

/// Sorts the records of `dealt`, which share their top digit and what is over it, into `out`.
fn sort_part(dealt: &mut [Record], out: &mut [Record]) {
    if dealt.len() <= SMALL {
        dealt.sort_by_key(|r| r.key);
        out.copy_from_slice(dealt);
        return;
    }
    if let Some(key) = crowd(dealt)
        && sort_around(key, dealt, out)
    {
        return;
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

/// Sorts `dealt` into `out` when many records have `key`: those are copied, and only the others are sorted. False, and nothing done, if they are few:
/// a look at keys that come in turns may take one of them for a crowd.
fn sort_around(key: u64, dealt: &mut [Record], out: &mut [Record]) -> bool {
    let less = dealt.iter().filter(|r| r.key < key).count();
    let equal = dealt.iter().filter(|r| r.key == key).count();
    if equal < dealt.len() / 4 {
        return false;
    }
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
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    const CROWD: u64 = 1 << 41;

    /// Runs of equal keys by the standard library's stable sort.
    fn expected(keys: &[u64], least: usize, most: usize) -> (Vec<u64>, Vec<u32>) {
        let mut records: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
        records.sort_by_key(|r| r.0);
        records.chunk_by(|a, b| a.0 == b.0).filter(|run| (least..=most).contains(&run.len())).flatten().copied().unzip()
    }

    #[test]
    fn keys_that_come_in_turns_are_not_taken_for_a_crowd() {
        // Fifteen looks at fourteen rounds of the same keys see one key fifteen times, and so on for what is left.
        let keys: Vec<u64> = (0..14).flat_map(|_| 0..20_000).collect();
        assert!(sorted_runs(&[&keys], 1, usize::MAX) == expected(&keys, 1, usize::MAX));
    }

    #[test]
    fn runs_are_those_of_the_standard_library_and_ties_keep_their_order() {
        for (count, modulus) in [
            (0, 1),
            (1, 1),
            (200, 7),
            (5_000, 3),
            (100_000, 1 << 40),
            (70_000, 1),
            (100_000, 1000),
            (100_000, CROWD),
            (50_000, 40_000),
        ] {
            for spread in [false, true] {
                // Two of three keys are one and the same where the modulus says so: a crowd among others.
                let key = |i: u64| match modulus {
                    CROWD if !i.is_multiple_of(3) => mix(1),
                    _ if spread => mix(mix(i) % modulus),
                    _ => mix(i) % modulus,
                };
                let keys: Vec<u64> = (0..count).map(key).collect();
                let cut = keys.len() / 3;
                for (least, most) in
                    [(1, usize::MAX), (2, usize::MAX), (2, 64), (65, usize::MAX), (300, usize::MAX), (1, 1)]
                {
                    for pieces in [vec![&keys[..]], vec![&keys[..cut], &[], &keys[cut..]]] {
                        let found = sorted_runs(&pieces, least, most);
                        assert!(found == expected(&keys, least, most), "{count} {modulus} {spread} {least} {most}");
                    }
                }
            }
        }
    }
}
