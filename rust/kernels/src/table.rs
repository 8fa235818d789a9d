//! A set of premixed 64-bit elements that is cleared and filled again many times a second.
//!
//! Open addressing with linear probing; elements are hashes already, so their low bits are the address. Clearing is a new stamp, not a pass over memory.

#[derive(Clone, Copy, Default)]
struct Entry {
    element: u64,
    /// The filling this entry belongs to; any other means free.
    filling: u32,
    /// The marking in which this element was last marked.
    marked: u32,
}

#[derive(Default)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    len: usize,
    filling: u32,
    marking: u32,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        if self.filling == u32::MAX || self.entries.is_empty() {
            self.entries.clear();
            self.entries.resize(self.entries.capacity().max(64).next_power_of_two(), Entry::default());
            self.filling = 0;
            self.marking = 0;
        }
        self.filling += 1;
    }

    /// Clears, and makes room for so many elements: none of them moves another.
    pub(crate) fn clear_for(&mut self, count: usize) {
        self.clear();
        if count * 2 > self.entries.len() {
            self.entries.clear();
            self.entries.resize((count * 2).next_power_of_two(), Entry::default());
            self.filling = 1;
            self.marking = 0;
        }
    }

    pub(crate) fn forget_marks(&mut self) {
        if self.marking == u32::MAX {
            self.entries.iter_mut().for_each(|entry| entry.marked = 0);
            self.marking = 0;
        }
        self.marking += 1;
    }

    #[inline(always)]
    pub(crate) fn insert_all(&mut self, elements: &[u64]) {
        for &x in elements {
            self.insert(x);
        }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, x: u64) {
        self.insert_at(x);
        if self.len * 2 > self.entries.len() {
            self.grow();
        }
    }

    /// Inserts where there is room for it, and says at which place the element is, until the table grows.
    #[inline(always)]
    pub(crate) fn insert_at(&mut self, x: u64) -> u32 {
        let mask = self.entries.len() - 1;
        let mut at = x as usize & mask;
        loop {
            let entry = &mut self.entries[at];
            if entry.filling != self.filling {
                *entry = Entry { element: x, filling: self.filling, marked: 0 };
                self.len += 1;
                return at as u32;
            }
            if entry.element == x {
                return at as u32;
            }
            at = (at + 1) & mask;
        }
    }

    /// How many places there are, until the next insertion.
    pub(crate) fn places(&self) -> usize {
        self.entries.len()
    }

    /// Marks what stands at a place: whether this was the first time since marks were forgotten.
    #[inline(always)]
    pub(crate) fn mark_place(&mut self, place: u32) -> bool {
        std::mem::replace(&mut self.entries[place as usize].marked, self.marking) != self.marking
    }

    /// Marks an element, unless its place was counted: `None` if it is not here, else whether it was marked for the first time.
    #[inline(always)]
    pub(crate) fn mark(&mut self, x: u64, counted: impl Fn(u32) -> bool) -> Option<bool> {
        let mask = self.entries.len() - 1;
        let mut at = x as usize & mask;
        loop {
            let entry = &mut self.entries[at];
            if entry.filling != self.filling {
                return None;
            }
            if entry.element == x {
                let new = std::mem::replace(&mut entry.marked, self.marking) != self.marking;
                return Some(new && !counted(at as u32));
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let filling = self.filling;
        let held: Vec<u64> = self.entries.iter().filter(|e| e.filling == filling).map(|e| e.element).collect();
        let size = self.entries.len() * 2;
        self.entries.clear();
        self.entries.resize(size, Entry::default());
        self.len = 0;
        self.filling = 1;
        self.insert_all(&held);
    }
}

/// A sketch of a few hundred elements at most: what it does not show is not among them.
#[derive(Clone, Copy)]
pub(crate) struct Sieve([u64; 64]);

impl Default for Sieve {
    fn default() -> Sieve {
        Sieve([0; 64])
    }
}

impl Sieve {
    #[inline(always)]
    pub(crate) fn add(&mut self, x: u64) {
        self.0[Self::word(x)] |= Self::bit(x);
    }

    #[inline(always)]
    pub(crate) fn shows(&self, x: u64) -> bool {
        self.0[Self::word(x)] & Self::bit(x) != 0
    }

    /// Elements are hashes, whose low bits are addresses in a table; these are other ones.
    #[inline(always)]
    fn word(x: u64) -> usize {
        (x >> 58) as usize
    }

    #[inline(always)]
    fn bit(x: u64) -> u64 {
        1 << (x >> 52 & 63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::HashSet;

    #[test]
    fn what_there_is_room_for_stays_at_its_place() {
        let mut table = Table::default();
        for count in [0, 1, 40, 700, 30] {
            table.clear_for(count);
            let places: Vec<u32> = (0..count as u64).map(|i| table.insert_at(mix(i))).collect();
            assert_eq!(table.len(), count);
            for (i, place) in places.into_iter().enumerate() {
                assert_eq!(table.insert_at(mix(i as u64)), place);
            }
        }
    }

    #[test]
    fn holds_what_a_hash_set_holds_through_many_fillings() {
        let mut table = Table::default();
        for round in 0..50u64 {
            table.clear();
            let elements: Vec<u64> = (0..round * 20).map(|i| mix(i % (round * 7 + 1))).collect();
            table.insert_all(&elements);
            let expected: HashSet<u64> = elements.iter().copied().collect();
            assert_eq!(table.len(), expected.len());
            table.forget_marks();
            for i in 0..500 {
                assert_eq!(table.mark(mix(i), |_| false).is_some(), expected.contains(&mix(i)));
            }
            if let Some(&x) = elements.first() {
                table.forget_marks();
                assert_eq!((table.mark(x, |_| false), table.mark(x, |_| false)), (Some(true), Some(false)));
                table.forget_marks();
                let place = table.insert_at(x);
                assert_eq!(table.mark(x, |counted| counted == place), Some(false));
            }
        }
    }
}
