//! Shingles → MinHash signatures.
//!
//! A slot holds the least element of a set under one random order of all elements; two sets agree in a slot with probability equal to their Jaccard
//! similarity. [`Family::Bucketed`], the default, draws its orders so that one pass over the set fills most slots:
//!
//! * every element belongs to one slot, its bucket, and ranks first there, by its own value (31 bits, top bit clear);
//! * in every other slot it ranks behind, by that slot's hash of it (31 bits, top bit set).
//!
//! Each slot so has one fixed order of the universe, the same for all sets: collisions are exactly Jaccard and signatures merge by slot-wise minimum.
//! Only slots whose bucket stayed empty pay for the second kind of rank.

use crate::hash;
use crate::memory::ask_for;
use crate::simd::{Lanes, for_each_path};

/// The slot of an empty set, and of nothing else that matters: rows without elements are kept out of the bands.
pub const EMPTY: u32 = u32::MAX;

/// Ranks at or over this are of elements outside their bucket.
const BEHIND: u32 = 1 << 31;

/// The slot orders to draw from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The default, described above.
    Bucketed,
    /// One independent hash a slot, over all elements: the textbook scheme, 32-bit.
    KHash,
    /// `(a·x + b) mod 2⁶¹−1`, computed in 128 bits: the exact universal family. Slots keep a 32-bit hash of the minimum.
    Universal,
}

/// The random orders of one family, number of slots and seed.
#[derive(Clone, Debug)]
pub struct Orders {
    family: Family,
    multipliers: Vec<u32>,
    coefficients: Vec<(u64, u64)>,
}

pub const P61: u64 = (1 << 61) - 1;

impl Orders {
    /// `seed` as the user gave it.
    pub fn new(family: Family, slots: usize, seed: u64) -> Orders {
        let start = hash::spread_seed(seed ^ 0x736C_6F74_7300_0000);
        let draw = |i: usize| hash::mix(start.wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let multipliers = (0..slots).map(|i| (draw(i) >> 32) as u32 | 1).collect();
        let coefficients = match family {
            Family::Universal => (0..slots).map(|i| (1 + draw(2 * i) % (P61 - 1), draw(2 * i + 1) % P61)).collect(),
            _ => Vec::new(),
        };
        Orders { family, multipliers, coefficients }
    }

    pub fn slots(&self) -> usize {
        self.multipliers.len()
    }

    pub fn family(&self) -> Family {
        self.family
    }

    /// The `(a, b)` of every slot of the universal family.
    pub fn coefficients(&self) -> &[(u64, u64)] {
        &self.coefficients
    }
}

/// A signature in the making: elements are taken in piece by piece, in any order, repeats allowed.
#[derive(Default)]
pub(crate) struct Signer {
    halves: Vec<u32>,
    others: Vec<u32>,
    buckets: Vec<u32>,
    early: Vec<u64>,
    /// Elements taken in so far.
    taken: usize,
    open: Vec<u32>,
    wide: Vec<u64>,
}

impl Signer {
    #[inline(always)]
    pub(crate) fn begin(&mut self, orders: &Orders, signature: &mut [u32]) {
        signature.fill(EMPTY);
        self.taken = 0;
        if orders.family == Family::Universal {
            self.wide.clear();
            self.wide.resize(orders.slots(), u64::MAX);
        }
    }

    /// Lowers the slots by these elements.
    #[inline(always)]
    pub(crate) fn take<L: Lanes>(&mut self, elements: &[u64], orders: &Orders, signature: &mut [u32]) {
        match orders.family {
            Family::Bucketed => {
                for piece in elements.chunks(PIECE) {
                    self.claim::<L>(piece, signature);
                    // A slot still open here may be filled from a later piece, and then that lower rank wins.
                    if highest(signature) >= BEHIND {
                        self.find_open::<L>(signature);
                        self.split(piece);
                        self.lower_open::<L>(orders, |least| BEHIND | least >> 1, signature);
                    }
                }
            }
            Family::KHash => {
                self.open.clear();
                self.open.extend(0..signature.len() as u32);
                self.split(elements);
                self.lower_open::<L>(orders, |least| least, signature);
            }
            Family::Universal => universal_into(elements, &orders.coefficients, &mut self.wide),
        }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, orders: &Orders, signature: &mut [u32]) {
        if orders.family == Family::Universal {
            for (slot, &least) in signature.iter_mut().zip(&self.wide) {
                // Low bits of a mixed minimum: the high bits of a large set's minimum are all zero.
                *slot = if least == u64::MAX { EMPTY } else { hash::mix(least) as u32 };
            }
        }
    }

    /// Lets the elements claim their buckets; of those that come late, only the ones that may still lower a slot.
    #[inline(always)]
    fn claim<L: Lanes>(&mut self, piece: &[u64], signature: &mut [u32]) {
        let Signer { others, buckets, early, .. } = self;
        if self.taken < LATE * signature.len() {
            first_ranks::<L>(piece, signature, others, buckets);
        } else {
            early.resize(piece.len() + 8, 0);
            // SAFETY: a path is only entered on a machine that has it, and there is room for a vector more.
            let count = unsafe { L::ranked_below(piece, highest(signature).min(BEHIND), early) };
            first_ranks::<L>(&early[..count], signature, others, buckets);
        }
        self.taken += piece.len();
    }

    /// Lists the slots whose bucket no element has claimed.
    #[inline(always)]
    fn find_open<L: Lanes>(&mut self, signature: &[u32]) {
        self.open.resize(signature.len() + 16, 0);
        // SAFETY: a path is only entered on a machine that has it, and there is room for a vector more.
        let count = unsafe { L::places_from(signature, BEHIND, &mut self.open) };
        self.open.truncate(count);
    }

    /// Lowers the open slots by the least product of any element with each slot's multiplier.
    ///
    /// A vector holds many slots and one element at a time, so that nothing has to be reduced across lanes in the end.
    #[inline(always)]
    fn lower_open<L: Lanes>(&self, orders: &Orders, rank: impl Fn(u32) -> u32 + Copy, signature: &mut [u32]) {
        for slots in self.open.chunks(4 * LANES) {
            match slots.len().div_ceil(LANES) {
                1 => self.lower::<L, 1>(slots, orders, rank, signature),
                2 => self.lower::<L, 2>(slots, orders, rank, signature),
                _ => self.lower::<L, 4>(slots, orders, rank, signature),
            }
        }
    }

    #[inline(always)]
    fn lower<L: Lanes, const VECTORS: usize>(
        &self,
        slots: &[u32],
        orders: &Orders,
        rank: impl Fn(u32) -> u32,
        signature: &mut [u32],
    ) {
        let mut multipliers = [[1; LANES]; VECTORS];
        for (multiplier, &slot) in multipliers.as_flattened_mut().iter_mut().zip(slots) {
            *multiplier = orders.multipliers[slot as usize];
        }
        // A product by an odd number orders premixed elements at random.
        // SAFETY: a path is only entered on a machine that has it.
        let least = unsafe { L::least_products(&self.halves, &multipliers) };
        for (&slot, &least) in slots.iter().zip(least.as_flattened()) {
            let slot = &mut signature[slot as usize];
            *slot = (*slot).min(rank(least));
        }
    }

    /// Half of each element, which the slots' own hashes work on.
    ///
    /// No product moves a half of 0: such an element, one in 2³², comes first in every open slot.
    #[inline(always)]
    fn split(&mut self, elements: &[u64]) {
        self.halves.clear();
        self.halves.extend(elements.iter().map(|&x| (x ^ x >> 32) as u32));
    }
}

/// Elements that are worked on at a time: few enough for the first-level cache.
const PIECE: usize = 1024;

/// Slots in a vector.
const LANES: usize = 16;

/// From this many elements a slot on, most come too late for any slot.
const LATE: usize = 8;

/// How many elements ahead memory is asked for more.
const AHEAD: usize = 128;

/// From this many elements on, four tables of minima pay for being put together in the end.
const MANY: usize = 512;

#[inline(always)]
fn highest(signature: &[u32]) -> u32 {
    signature.iter().fold(0, |highest, &rank| highest.max(rank))
}

/// Lets every element claim its bucket: the bucket comes from the high half, the rank from the low.
///
/// The minima go to two tables in turn, or four, so that an element seldom waits for the store of one before it. Of a power of two slots the bucket is
/// a shift away; else all buckets are worked out first, which vectorises.
#[inline(always)]
fn first_ranks<L: Lanes>(elements: &[u64], signature: &mut [u32], others: &mut Vec<u32>, buckets: &mut Vec<u32>) {
    let slots = signature.len();
    let claim = |table: &mut [u32], bucket: usize, x: u64| {
        // SAFETY: the high half times the slots, halved again, is under the number of slots, and so is what the shift leaves.
        let slot = unsafe { table.get_unchecked_mut(bucket) };
        // SAFETY: a path is only entered on a machine that has it.
        unsafe { L::lower(slot, x as u32 & !BEHIND) };
    };
    others.clear();
    if !slots.is_power_of_two() || slots == 1 {
        others.resize(slots, EMPTY);
        buckets.clear();
        buckets.extend(elements.iter().map(|&x| (((x >> 32) * slots as u64) >> 32) as u32));
        let mut pairs = elements.chunks_exact(2).zip(buckets.chunks_exact(2));
        for (x, bucket) in &mut pairs {
            claim(signature, bucket[0] as usize, x[0]);
            claim(others, bucket[1] as usize, x[1]);
        }
        if elements.len() % 2 == 1 {
            claim(signature, buckets[elements.len() - 1] as usize, elements[elements.len() - 1]);
        }
    } else if elements.len() < MANY {
        let shift = u64::BITS - slots.trailing_zeros();
        others.resize(slots, EMPTY);
        let (pairs, rest) = elements.as_chunks::<2>();
        for x in pairs {
            claim(signature, (x[0] >> shift) as usize, x[0]);
            claim(others, (x[1] >> shift) as usize, x[1]);
        }
        rest.iter().for_each(|&x| claim(signature, (x >> shift) as usize, x));
    } else {
        let shift = u64::BITS - slots.trailing_zeros();
        // Tables of its own: the signature may lie in memory that is yet to come near.
        others.resize(4 * slots, EMPTY);
        let (first, more) = others.split_at_mut(slots);
        let (second, more) = more.split_at_mut(slots);
        let (third, fourth) = more.split_at_mut(slots);
        let (lines, rest) = elements.as_chunks::<8>();
        for line in lines {
            // Sets come one after the other, so what lies ahead is wanted soon.
            ask_for(line.as_ptr().wrapping_add(AHEAD));
            for x in line.as_chunks::<4>().0 {
                claim(first, (x[0] >> shift) as usize, x[0]);
                claim(second, (x[1] >> shift) as usize, x[1]);
                claim(third, (x[2] >> shift) as usize, x[2]);
                claim(fourth, (x[3] >> shift) as usize, x[3]);
            }
        }
        rest.iter().for_each(|&x| claim(first, (x >> shift) as usize, x));
        let ranks = first.iter().zip(&*second).zip(third.iter().zip(&*fourth));
        for (slot, ((&first, &second), (&third, &fourth))) in signature.iter_mut().zip(ranks) {
            *slot = first.min(second).min(third.min(fourth)).min(*slot);
        }
        return;
    }
    for (slot, &rank) in signature.iter_mut().zip(others.iter()) {
        *slot = rank.min(*slot);
    }
}

/// Lowers `signature` to the MinHash minima of one shingle set under the exact universal family.
///
/// Slot `i` holds the least `(a·x + b) mod P61` over the shingles, `(a, b) = coefficients[i]`. The product is 128 bits
/// wide: in 64 it would wrap before the modulus and the family would no longer be universal.
/// An empty set leaves every slot as it is, `u64::MAX` from the start.
pub fn universal_into(shingles: &[u64], coefficients: &[(u64, u64)], signature: &mut [u64]) {
    for (slot, &(a, b)) in signature.iter_mut().zip(coefficients) {
        for &x in shingles {
            let value = (u128::from(a) * u128::from(x % P61) + u128::from(b)) % u128::from(P61);
            *slot = (*slot).min(value as u64);
        }
    }
}

#[inline(always)]
fn sign_set_on<L: Lanes>(elements: &[u64], orders: &Orders, signature: &mut [u32], signer: &mut SetSigner) -> u64 {
    signer.0.begin(orders, signature);
    signer.0.take::<L>(elements, orders, signature);
    signer.0.end(orders, signature);
    bag_of(elements)
}

/// A digest of a bag of shingles: equal for equal bags.
#[inline(always)]
pub(crate) fn bag_of(elements: &[u64]) -> u64 {
    elements.iter().fold(0, |sum, &x| sum.wrapping_add(x))
}

/// The buffers of [`sign_set`], reused from set to set.
#[derive(Default)]
pub struct SetSigner(Signer);

for_each_path! {
    /// Writes the signature of one set of premixed elements and returns the digest of its bag.
    pub fn sign_set(level; elements: &[u64], orders: &Orders, signature: &mut [u32], signer: &mut SetSigner) -> u64 => sign_set_on
}

#[inline(always)]
fn agreements_on<L: Lanes>(signature: &[u32], others: &[u32], histogram: &mut [u64]) {
    for other in others.chunks_exact(signature.len()) {
        histogram[agreement(signature, other) as usize] += 1;
    }
}

for_each_path! {
    /// Adds to a histogram in how many slots a signature agrees with each of the `others`.
    pub fn count_agreements(level; signature: &[u32], others: &[u32], histogram: &mut [u64]) => agreements_on
}

/// How many slots two signatures agree in.
#[inline(always)]
pub fn agreement(a: &[u32], b: &[u32]) -> u32 {
    a.iter().zip(b).map(|(x, y)| u32::from(x == y)).sum()
}

/// A hash of a whole signature: equal for equal sets, and what leaders and samples are chosen by.
pub fn content(signature: &[u32], seed: u64) -> u64 {
    // Four strands side by side, so that one multiplication need not wait for another.
    let mut strands = [0, 1, 2, 3].map(|strand| hash::begin(seed, 4 * signature.len() + strand));
    let (eights, rest) = signature.as_chunks::<8>();
    for slots in eights {
        for (strand, pair) in strands.iter_mut().zip(slots.as_chunks::<2>().0) {
            *strand = hash::round(*strand, u64::from(pair[0]) | u64::from(pair[1]) << 32);
        }
    }
    for (strand, pair) in strands.iter_mut().zip(rest.chunks(2)) {
        let high = pair.get(1).map_or(0, |&slot| u64::from(slot));
        *strand = hash::round(*strand, u64::from(pair[0]) | high << 32);
    }
    hash::mix(strands.into_iter().fold(0, hash::round))
}
