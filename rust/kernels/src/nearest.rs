//! Sets that are held, and sets that pass by → the most similar of each, exactly.
//!
//! Who holds an element is looked up by the element; a set that passes by counts what it shares with every held set that shares anything. So a
//! pair that shares nothing costs nothing, and one that shares i elements costs i. Memory: 24 bytes an element held, and as
//! many again while it is made ready.

use std::cmp::Ordering;
use std::iter::repeat_n;

use crate::radix::sorted_runs;

/// One of two similar sets, seen from the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub row: u32,
    pub similarity: f64,
}

impl Neighbour {
    /// The more similar first, and of equals the lower row: an order without ties, so that the best are the same in whatever order they came.
    fn before(&self, other: &Neighbour) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.row.cmp(&other.row))
    }
}

/// The best of what was offered, `k` of them at most.
#[derive(Clone, Default)]
struct Best {
    kept: Vec<Neighbour>,
    /// Nobody behind this one can be among the best any more.
    last: Option<Neighbour>,
}

impl Best {
    fn offer(&mut self, k: usize, one: Neighbour) {
        if self.last.is_some_and(|last| last.before(&one).is_lt()) {
            return;
        }
        self.kept.push(one);
        // Half of them go at a time, so that each costs a few comparisons, whatever k is.
        if self.kept.len() >= 2 * k {
            self.kept.select_nth_unstable_by(k - 1, Neighbour::before);
            self.kept.truncate(k);
            self.last = Some(self.kept[k - 1]);
        }
    }

    fn take(&mut self, k: usize) -> Vec<Neighbour> {
        let mut best = std::mem::take(&mut self.kept);
        best.sort_unstable_by(Neighbour::before);
        best.truncate(k);
        self.last = None;
        best
    }
}

/// Sets, one after the other, and the row number of each.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    pub elements: &'a [u64],
    pub offsets: &'a [i64],
    pub rows: &'a [u32],
}

impl<'a> Numbered<'a> {
    fn iter(self) -> impl Iterator<Item = (u32, &'a [u64])> {
        let sets = self.offsets.windows(2).map(move |o| &self.elements[o[0] as usize..o[1] as usize]);
        self.rows.iter().copied().zip(sets)
    }
}

/// Who holds what, by element.
pub struct Held {
    rows: Vec<u32>,
    sizes: Vec<u32>,
    /// In the order of elements.
    entries: Vec<Entry>,
    /// The places of the sets that hold an element, where that is more than one.
    holders: Vec<u32>,
    /// Where entries with these top bits begin. Elements are mixed well, so that there is about one entry for every other place.
    directory: Vec<u32>,
    shift: u32,
    /// A bit for each of the top bits that an element held begins with. Most elements that pass by are not held, and one bit in eight is set:
    /// they need not ask for more memory than this.
    sieve: Vec<u64>,
}

/// An element and its holders: `first` is the only one, or where there are more, where they begin.
struct Entry {
    element: u64,
    first: u32,
    count: u32,
}

/// Bits of the sieve for each place of the directory, as a power of two.
const FINER: u32 = 2;

/// Elements looked up at a time: the memory they ask for is on its way while the next are looked up.
const AT_ONCE: usize = 64;

impl Held {
    /// Sets of distinct elements, up to 2³² − 1 of them in all.
    pub fn new(sets: Numbered<'_>) -> Held {
        let sizes: Vec<u32> = sets.iter().map(|(_, set)| set.len() as u32).collect();
        let of: Vec<u32> = (0..).zip(&sizes).flat_map(|(at, &size)| repeat_n(at, size as usize)).collect();
        let within = sets.offsets[0] as usize..sets.offsets[sets.offsets.len() - 1] as usize;
        let (elements, places) = sorted_runs(&[&sets.elements[within]], 1, usize::MAX);
        let (mut entries, mut holders) = (Vec::new(), Vec::new());
        let mut start = 0;
        for same in elements.chunk_by(|one, next| one == next) {
            let places = &places[start..start + same.len()];
            start += same.len();
            let alone = places.len() == 1;
            let first = if alone { of[places[0] as usize] } else { holders.len() as u32 };
            if !alone {
                holders.extend(places.iter().map(|&place| of[place as usize]));
            }
            entries.push(Entry { element: same[0], first, count: places.len() as u32 });
        }
        let bits = (2 * entries.len()).max(2).next_power_of_two().ilog2();
        let shift = 64 - bits;
        let mut directory = vec![0u32; (1 << bits) + 1];
        for entry in &entries {
            directory[(entry.element >> shift) as usize + 1] += 1;
        }
        let mut sieve = vec![0u64; (1usize << (bits + FINER)).div_ceil(64)];
        for entry in &entries {
            let bit = entry.element >> (shift - FINER);
            sieve[bit as usize / 64] |= 1 << (bit % 64);
        }
        let mut total = 0;
        for place in &mut directory {
            total += *place;
            *place = total;
        }
        Held { rows: sets.rows.to_vec(), sizes, entries, holders, directory, shift, sieve }
    }

    /// Calls `meet(place, similarity)` for each held set that shares anything with `set`, but for one of the same row.
    ///
    /// What that took: elements that were looked up, and holders of them that were counted.
    fn meet(&self, row: u32, set: &[u64], tally: &mut Tally, mut meet: impl FnMut(usize, f64)) -> usize {
        let mut steps = set.len();
        let (mut passed, mut asked) = ([0u64; AT_ONCE], [(0u32, 0u32); AT_ONCE]);
        for some in set.chunks(AT_ONCE) {
            let mut count = 0;
            for &element in some {
                let bit = element >> (self.shift - FINER);
                passed[count] = element;
                count += (self.sieve[bit as usize / 64] >> (bit % 64) & 1) as usize;
            }
            for (asked, &element) in asked.iter_mut().zip(&passed[..count]) {
                let place = (element >> self.shift) as usize;
                *asked = (self.directory[place], self.directory[place + 1]);
            }
            for (&element, &(first, end)) in passed[..count].iter().zip(&asked) {
                let near = &self.entries[first as usize..end as usize];
                // Mostly none or one; many only if elements are not mixed, which costs time and nothing else.
                let Ok(at) = near.binary_search_by_key(&element, |entry| entry.element) else { continue };
                let entry = &near[at];
                steps += entry.count as usize;
                if entry.count == 1 {
                    tally.add(entry.first);
                } else {
                    let holders = &self.holders[entry.first as usize..][..entry.count as usize];
                    holders.iter().for_each(|&at| tally.add(at));
                }
            }
        }
        for at in tally.met.drain(..) {
            let at = at as usize;
            let shared = std::mem::take(&mut tally.shared[at]);
            if self.rows[at] != row {
                let union = set.len() as f64 + f64::from(self.sizes[at]) - f64::from(shared);
                meet(at, f64::from(shared) / union);
            }
        }
        steps
    }

    fn tally(&self) -> Tally {
        Tally { shared: vec![0; self.rows.len()], met: Vec::new() }
    }

    /// The `k` held sets most similar to each set that passes by, best first: `found(row, neighbour)`.
    ///
    /// Ends after `most` elements looked up and holders counted, and says how many sets it got through: what a set takes is
    /// known only while it is looked up, and whoever calls may want to hear of other things in between.
    pub fn best_for_passing(
        &self,
        sets: Numbered<'_>,
        k: usize,
        most: usize,
        mut found: impl FnMut(u32, Neighbour),
    ) -> usize {
        let (mut tally, mut best) = (self.tally(), Best::default());
        some(sets, most, |row, set| {
            let steps = self.meet(row, set, &mut tally, |at, similarity| {
                best.offer(k, Neighbour { row: self.rows[at], similarity });
            });
            best.take(k).into_iter().for_each(|one| found(row, one));
            steps
        })
    }

    /// The `k` sets that pass by most similar to each held one, best first: `found(row, neighbour)`.
    ///
    /// Ends after `most` steps as `best_for_passing` does: then these are the best of so many sets.
    pub fn best_for_held(
        &self,
        sets: Numbered<'_>,
        k: usize,
        most: usize,
        mut found: impl FnMut(u32, Neighbour),
    ) -> usize {
        let (mut tally, mut best) = (self.tally(), vec![Best::default(); self.rows.len()]);
        let done = some(sets, most, |row, set| {
            self.meet(row, set, &mut tally, |at, similarity| best[at].offer(k, Neighbour { row, similarity }))
        });
        for (at, best) in best.iter_mut().enumerate() {
            best.take(k).into_iter().for_each(|one| found(self.rows[at], one));
        }
        done
    }
}

/// Meets one set after the other until that took `most` steps; how many sets that were, one at least if there is any.
fn some(sets: Numbered<'_>, most: usize, mut meet: impl FnMut(u32, &[u64]) -> usize) -> usize {
    let (mut done, mut steps) = (0, 0);
    for (row, set) in sets.iter() {
        steps += meet(row, set);
        done += 1;
        if steps >= most {
            break;
        }
    }
    done
}

/// What one set shares with the held ones so far.
struct Tally {
    shared: Vec<u32>,
    met: Vec<u32>,
}

impl Tally {
    fn add(&mut self, at: u32) {
        let shared = &mut self.shared[at as usize];
        if *shared == 0 {
            self.met.push(at);
        }
        *shared += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeSet;

    type Sets = Vec<BTreeSet<u64>>;

    /// Sets of up to 12 elements out of 40, some of them empty and some of them equal.
    fn drawn(count: u64, seed: u64) -> Sets {
        let set = |row: u64| (0..mix(seed ^ row) % 12).map(|i| mix(mix(seed + 31 * (row % 25) + i) % 40)).collect();
        (0..count).map(set).collect()
    }

    fn flat(sets: &Sets) -> (Vec<u64>, Vec<i64>) {
        let elements = sets.iter().flatten().copied().collect();
        let ends = sets.iter().scan(0, |end, set| {
            *end += set.len() as i64;
            Some(*end)
        });
        (elements, std::iter::once(0).chain(ends).collect())
    }

    /// Every one of `ones` with every one of `others`, in order of row and rank.
    fn all_pairs(ones: (&Sets, &[u32]), others: (&Sets, &[u32]), k: usize) -> Vec<(u32, u32, f64)> {
        let mut found = Vec::new();
        for (one, &row) in ones.0.iter().zip(ones.1) {
            let mut best: Vec<Neighbour> = Vec::new();
            for (set, &other) in others.0.iter().zip(others.1) {
                let shared = one.intersection(set).count();
                if shared > 0 && row != other {
                    best.push(Neighbour { row: other, similarity: shared as f64 / one.union(set).count() as f64 });
                }
            }
            best.sort_by(|x, y| y.similarity.partial_cmp(&x.similarity).unwrap().then(x.row.cmp(&y.row)));
            found.extend(best.iter().take(k).map(|one| (row, one.row, one.similarity)));
        }
        found
    }

    #[test]
    fn the_best_are_those_of_a_double_loop() {
        for seed in 0..40 {
            let (held, passing) = (drawn(30, seed), drawn(50, seed / 2));
            // Numbers in no order, some of which are in both.
            let held_rows: Vec<u32> = (0..30).map(|i| (i * 7 % 30) + 20).collect();
            let passing_rows: Vec<u32> = (0..50).map(|i| i * 11 % 50).collect();
            let ((a, b), (c, d)) = (flat(&held), flat(&passing));
            let index = Held::new(Numbered { elements: &a, offsets: &b, rows: &held_rows });
            let sets = Numbered { elements: &c, offsets: &d, rows: &passing_rows };
            for k in [1, 2, 10, 100] {
                let mut found = Vec::new();
                index.best_for_passing(sets, k, usize::MAX, |row, one| found.push((row, one.row, one.similarity)));
                assert_eq!(found, all_pairs((&passing, &passing_rows), (&held, &held_rows), k));
                found.clear();
                index.best_for_held(sets, k, usize::MAX, |row, one| found.push((row, one.row, one.similarity)));
                assert_eq!(found, all_pairs((&held, &held_rows), (&passing, &passing_rows), k));
            }
        }
    }

    #[test]
    fn a_call_ends_after_so_many_steps_and_calls_together_find_what_one_does() {
        let (sets, rows) = (drawn(60, 7), (0..60).collect::<Vec<u32>>());
        let (elements, offsets) = flat(&sets);
        let index = Held::new(Numbered { elements: &elements, offsets: &offsets, rows: &rows });
        let shared = |one: &BTreeSet<u64>| sets.iter().map(|other| one.intersection(other).count()).sum::<usize>();
        let steps: Vec<usize> = sets.iter().map(|set| set.len() + shared(set)).collect();
        for most in [0, 1, 100, 1000] {
            let (mut start, mut found) = (0, Vec::new());
            while start < sets.len() {
                let left = Numbered { elements: &elements, offsets: &offsets[start..], rows: &rows[start..] };
                let done = index.best_for_passing(left, 3, most, |row, one| found.push((row, one.row, one.similarity)));
                let taken = &steps[start..start + done];
                assert!(taken[..done - 1].iter().sum::<usize>() < most.max(1), "{taken:?} are more than {most}");
                start += done;
            }
            assert_eq!(found, all_pairs((&sets, &rows), (&sets, &rows), 3));
        }
    }

    #[test]
    fn of_nothing_there_is_no_neighbour() {
        let nothing = Numbered { elements: &[], offsets: &[0], rows: &[] };
        let one = Numbered { elements: &[0, u64::MAX], offsets: &[0, 2, 2], rows: &[3, 4] };
        for (held, passing) in [(nothing, one), (one, nothing), (one, one)] {
            Held::new(held).best_for_passing(passing, 5, usize::MAX, |row, _| panic!("{row} has a neighbour"));
            Held::new(held).best_for_held(passing, 5, usize::MAX, |row, _| panic!("{row} has a neighbour"));
        }
    }
}
