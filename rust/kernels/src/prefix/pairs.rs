//! Entries of one element → candidates that pass the filters of length, position and bits.
//!
//! Entries of a run lie side by side with the bits of their sets, so that most pairs are turned away without a look at the sets:
//! a class in which one set holds an odd number of elements and the other an even one shows an element that is not in both.

use std::ops::Range;

use super::bound::{Bound, UNREACHABLE};
use super::entries::side;
use crate::simd::{Lanes, for_each_path};

/// Columns of entries, equal keys together.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    pub key: &'a [u64],
    pub row: &'a [u32],
    pub size: &'a [u32],
    pub position: &'a [u32],
    pub previous: &'a [u64],
    pub bits: &'a [u64],
    pub side: &'a [u8],
}

/// Rows `a` and `b`, and where in each the common element stands.
#[derive(Default, Debug)]
pub struct Candidates {
    pub a: Vec<u32>,
    pub b: Vec<u32>,
    pub at_a: Vec<u32>,
    pub at_b: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    side: u8,
    size: u32,
    position: u32,
    row: u32,
    previous: u64,
    bits: u64,
}

for_each_path! {
    /// Candidates of runs of entries. With `across`, `a` is on the left; else it is the lesser row.
    ///
    /// Two sets meet at every element that both have in their prefixes. Where the elements before are the same too, they have met there and
    /// do not meet again; what is left of repeats, [`super::shared`] turns away.
    pub fn candidates(level; runs: Runs<'_>, bound: Bound, across: bool) -> Candidates => candidates_on
}

#[inline(always)]
fn candidates_on<L: Lanes>(runs: Runs<'_>, bound: Bound, across: bool) -> Candidates {
    let mut meeting = Meeting {
        bound,
        across,
        entries: Vec::new(),
        bits: Vec::new(),
        groups: Vec::new(),
        out: Candidates::default(),
    };
    let mut start = 0;
    while start < runs.key.len() {
        let run = runs.key[start..].iter().take_while(|&&key| key == runs.key[start]).count();
        if run > 1 {
            meeting.gather(&runs, start..start + run);
            meeting.meet();
        }
        start += run;
    }
    meeting.out
}

/// The entries of a run, sorted, and those of equal side and size as groups.
struct Meeting {
    bound: Bound,
    across: bool,
    entries: Vec<Entry>,
    bits: Vec<u64>,
    groups: Vec<Range<usize>>,
    out: Candidates,
}

impl Meeting {
    #[inline(always)]
    fn gather(&mut self, runs: &Runs<'_>, run: Range<usize>) {
        self.entries.clear();
        let mut sorted = true;
        for i in run {
            let entry = Entry {
                side: runs.side[i],
                size: runs.size[i],
                position: runs.position[i],
                row: runs.row[i],
                previous: runs.previous[i],
                bits: runs.bits[i],
            };
            sorted &= self.entries.last().is_none_or(|last| *last <= entry);
            self.entries.push(entry);
        }
        if !sorted {
            self.entries.sort_unstable();
        }
        self.bits.clear();
        self.bits.extend(self.entries.iter().map(|entry| entry.bits));
        self.groups.clear();
        let mut start = 0;
        for same in self.entries.chunk_by(|x, y| (x.side, x.size) == (y.side, y.size)) {
            self.groups.push(start..start + same.len());
            start += same.len();
        }
    }

    #[inline(always)]
    fn meet(&mut self) {
        for left in 0..self.groups.len() {
            let first = self.entries[self.groups[left].start];
            if first.side == side::RIGHT {
                break;
            }
            for right in left..self.groups.len() {
                let second = self.entries[self.groups[right].start];
                // Those on the right come last; they meet all but each other.
                let meets = match first.side {
                    side::WITHIN => second.side != side::LEFT,
                    _ => second.side == side::RIGHT,
                };
                if !meets {
                    continue;
                }
                match self.bound.least(first.size, second.size, self.across) {
                    // Sizes rise: what is too large for the first will not become smaller. Those on the right begin anew, but
                    // where they stand beside others, it is for containment, and to hold a set nobody is too large.
                    UNREACHABLE if second.size > first.size => break,
                    UNREACHABLE | 0 => {}
                    least => self.meet_groups(left, right, least),
                }
            }
        }
    }

    #[inline(always)]
    fn meet_groups(&mut self, left: usize, right: usize, least: u32) {
        // Behind the common element there must be room for the others.
        let (lefts, rights) = (self.with_room(left, least), self.with_room(right, least));
        if lefts.is_empty() || rights.is_empty() {
            return;
        }
        let different = self.entries[lefts.start].size + self.entries[rights.start].size - 2 * least;
        for x in lefts {
            let from = if left == right { x + 1 } else { rights.start };
            let bits = self.bits[x];
            for y in from..rights.end {
                if (bits ^ self.bits[y]).count_ones() <= different {
                    self.push(x, y);
                }
            }
        }
    }

    #[inline(always)]
    fn with_room(&self, group: usize, least: u32) -> Range<usize> {
        let group = self.groups[group].clone();
        let entries = &self.entries[group.clone()];
        // Entries of a group are of one size.
        let last = entries[0].size - least;
        if entries[entries.len() - 1].position <= last {
            return group;
        }
        group.start..group.start + entries.partition_point(|entry| entry.position <= last)
    }

    #[inline(always)]
    fn push(&mut self, x: usize, y: usize) {
        let (mut x, mut y) = (self.entries[x], self.entries[y]);
        if x.position > 0 && y.position > 0 && x.previous == y.previous {
            return;
        }
        if !self.across && x.row > y.row {
            (x, y) = (y, x);
        }
        self.out.a.push(x.row);
        self.out.b.push(y.row);
        self.out.at_a.push(x.position);
        self.out.at_b.push(y.position);
    }
}
