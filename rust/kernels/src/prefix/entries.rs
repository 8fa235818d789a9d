//! Sets → the entries of their prefixes, in columns, ready to be brought together by key.

use std::cmp::Ordering;

use crate::hash::mix;

/// Who meets whom in a run of entries with one key.
pub mod side {
    /// Every two, and those on the right.
    pub const WITHIN: u8 = 0;
    /// Only those on the right.
    pub const LEFT: u8 = 1;
    pub const RIGHT: u8 = 2;
}

/// One entry a prefix element and set.
///
/// * `key`: equal for entries that must meet;
/// * `row`, `size`: the set, and how many elements it has;
/// * `position`: where the element stands in it;
/// * `previous`: the code before it, by which two sets know that they have met before;
/// * `bits`: of the whole set, for each of 64 classes whether it holds an odd number of elements of it;
/// * `side`: who meets whom.
#[derive(Default)]
pub struct Entries {
    pub key: Vec<u64>,
    pub row: Vec<u32>,
    pub size: Vec<u32>,
    pub position: Vec<u32>,
    pub previous: Vec<u64>,
    pub bits: Vec<u64>,
    pub side: Vec<u8>,
}

/// How prefixes are cut and crowds dealt out.
pub struct Cut<'a> {
    /// How many entries there are of the elements of each bucket, by rank. Has a power of two of entries.
    pub counts: &'a [u32],
    /// Elements with more entries than `2 · block` are dealt into blocks of about this many, which meet two by two.
    pub block: u32,
    /// Rows from here on meet only rows before; `None`: all meet all.
    pub boundary: Option<u32>,
    /// Which entries ask; `None`: all do.
    pub asking: Option<Asking<'a>>,
}

/// Entries that ask meet all others, those that do not are met by them alone: two that do not ask never meet.
///
/// Of containment, a set asks who holds it by fewer elements than it must show to be met by the smallest set there is.
/// With a boundary, rows before it ask with all that they show, and rows behind it do not ask.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// How many elements each set asks with, no more than it shows.
    pub lengths: &'a [u32],
    /// As [`Cut::counts`], of those elements alone.
    pub counts: &'a [u32],
}

/// Adds the prefix elements of each bucket to `counts`.
pub fn count(codes: &[u64], offsets: &[i64], lengths: &[u32], counts: &mut [u32]) {
    for (row, &length) in offsets.windows(2).zip(lengths) {
        super::order::count(&codes[row[0] as usize..row[0] as usize + length as usize], counts);
    }
}

impl Entries {
    /// Adds an entry of `set`, number `row`, under every key that the blocks of a crowd call for.
    fn add(&mut self, set: &Set<'_>, position: usize, key: u64, crowd: Crowd, cut: &Cut<'_>) {
        let of = match cut.boundary {
            Some(boundary) if set.row < boundary => side::LEFT,
            None if position < set.asking => side::WITHIN,
            _ => side::RIGHT,
        };
        let previous = if position == 0 { 0 } else { set.codes[position - 1] };
        let mut push = |key: u64, side: u8| {
            self.key.push(mix(key));
            self.row.push(set.row);
            self.size.push(set.codes.len() as u32);
            self.position.push(position as u32);
            self.previous.push(previous);
            self.bits.push(set.bits);
            self.side.push(side);
        };
        if crowd.all <= cut.block.saturating_mul(2) {
            push(key, of);
        } else {
            let blocks = |entries: u32| u64::from(entries.div_ceil(cut.block));
            let (asking, asked) = (blocks(crowd.asking), blocks(crowd.asked));
            in_blocks(set.row, of, asking, asked, |pair, side| push(key ^ mix(pair + 1), side));
        }
    }
}

/// How many entries there are of an element, or more.
#[derive(Clone, Copy)]
struct Crowd {
    all: u32,
    /// Those that ask.
    asking: u32,
    /// Those that do not; 0 only where there cannot be any.
    asked: u32,
}

impl Crowd {
    /// `all` entries of which nobody knows how many ask.
    fn any(all: u32, cut: &Cut<'_>) -> Crowd {
        Crowd { all, asking: all, asked: if cut.boundary.is_some() { all } else { 0 } }
    }

    /// The crowd of a code; `None` if nobody in it meets anybody.
    fn of(bucket: usize, cut: &Cut<'_>) -> Option<Crowd> {
        let all = cut.counts[bucket];
        let crowd = match cut.asking {
            None => Crowd::any(all, cut),
            // Counts stay as large as they can be, so the difference may be too small: there may always be one.
            Some(asking) => {
                Crowd { all, asking: asking.counts[bucket], asked: (all - asking.counts[bucket].min(all)).max(1) }
            }
        };
        (crowd.all > 1 && crowd.asking > 0).then_some(crowd)
    }
}

struct Set<'a> {
    codes: &'a [u64],
    row: u32,
    bits: u64,
    /// How many of its elements ask.
    asking: usize,
}

/// Sets that have a prefix, and how long it is.
fn showing<'a>(
    codes: &'a [u64],
    offsets: &'a [i64],
    rows: &'a [u32],
    lengths: &'a [u32],
    cut: &Cut<'a>,
) -> impl Iterator<Item = (Set<'a>, usize)> {
    let asking = cut.asking.map_or(lengths, |asking| asking.lengths);
    let all = offsets.windows(2).zip(rows).zip(lengths.iter().zip(asking)).filter(|&(_, (&length, _))| length > 0);
    all.map(|((place, &row), (&length, &asking))| {
        let codes = &codes[place[0] as usize..place[1] as usize];
        let bits = codes.iter().fold(0, |bits, code| bits ^ 1u64 << (code & 63));
        (Set { codes, row, bits, asking: asking as usize }, length as usize)
    })
}

/// The entries of sets of codes: of set `i`, number `rows[i]`, the first `lengths[i]`.
///
/// An element that no other set has in its prefix gets none, nor does one that nobody asks with. A crowd of `n` costs `n² / block` entries, and the pairs of
/// it n² tests, so the entries are never the dearer part.
pub fn entries(codes: &[u64], offsets: &[i64], rows: &[u32], lengths: &[u32], cut: &Cut<'_>) -> Entries {
    let shift = 64 - cut.counts.len().trailing_zeros();
    let mut out = Entries::default();
    for (set, length) in showing(codes, offsets, rows, lengths, cut) {
        for (position, &code) in set.codes[..length].iter().enumerate() {
            if let Some(crowd) = Crowd::of((code >> shift) as usize, cut) {
                out.add(&set, position, code, crowd, cut);
            }
        }
    }
    out
}

/// One entry of every set that has a prefix, all under one key, as if all sets had an element in common before all others.
///
/// For collections whose sets meet so often that every two might as well meet once. `sets` says how many there are, or more.
pub fn everybody(codes: &[u64], offsets: &[i64], rows: &[u32], lengths: &[u32], sets: u32, cut: &Cut<'_>) -> Entries {
    let mut out = Entries::default();
    // Every two meet, so that every set asks.
    let cut = &Cut { asking: None, ..*cut };
    for (set, _) in showing(codes, offsets, rows, lengths, cut) {
        out.add(&set, 0, 0, Crowd::any(sets, cut), cut);
    }
    out
}

/// Blocks of those that ask and of those that do not have pairs of their own.
const TO_ASKED: u64 = 1 << 63;

/// Hands the row to every pair of blocks that it has to be in: its own with each of the others, and with itself.
fn in_blocks(row: u32, of: u8, asking: u64, asked: u64, mut push: impl FnMut(u64, u8)) {
    // Drawn, so that blocks are even whichever rows have the element.
    let own = |blocks: u64| ((u128::from(mix(u64::from(row))) * u128::from(blocks)) >> 64) as u64;
    if of == side::RIGHT {
        let own = own(asked);
        (0..asking).for_each(|other| push(TO_ASKED | other << 32 | own, side::RIGHT));
        return;
    }
    let own = own(asking);
    if of == side::WITHIN {
        for other in 0..asking {
            let side = match own.cmp(&other) {
                Ordering::Less => side::LEFT,
                Ordering::Equal => side::WITHIN,
                Ordering::Greater => side::RIGHT,
            };
            push(own.min(other) << 32 | own.max(other), side);
        }
    }
    (0..asked).for_each(|other| push(TO_ASKED | own << 32 | other, side::LEFT));
}
