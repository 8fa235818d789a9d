//! Sets → the entries of their prefixes, in columns, ready to be brought together by key.

use crate::hash::mix;

/// Who meets whom in a run of entries with one key.
pub mod side {
    /// Every two.
    pub const WITHIN: u8 = 0;
    /// Only with those on the right.
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
}

/// Adds the prefix elements of each bucket to `counts`.
pub fn count(codes: &[u64], offsets: &[i64], lengths: &[u32], counts: &mut [u32]) {
    for (row, &length) in offsets.windows(2).zip(lengths) {
        super::order::count(&codes[row[0] as usize..row[0] as usize + length as usize], counts);
    }
}

impl Entries {
    /// Adds an entry of `set`, number `row`, under every key that the blocks of a crowd call for.
    fn add(&mut self, set: &Set<'_>, position: usize, key: u64, crowd: u32, cut: &Cut<'_>) {
        let of = cut.boundary.map_or(side::WITHIN, |b| if set.row < b { side::LEFT } else { side::RIGHT });
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
        if crowd <= cut.block.saturating_mul(2) {
            push(key, of);
        } else {
            let blocks = u64::from(crowd.div_ceil(cut.block));
            in_blocks(set.row, of, blocks, |pair, side| push(key ^ mix(pair + 1), side));
        }
    }
}

struct Set<'a> {
    codes: &'a [u64],
    row: u32,
    bits: u64,
}

/// Sets that have a prefix, and how long it is.
fn showing<'a>(
    codes: &'a [u64],
    offsets: &'a [i64],
    rows: &'a [u32],
    lengths: &'a [u32],
) -> impl Iterator<Item = (Set<'a>, usize)> {
    let all = offsets.windows(2).zip(rows).zip(lengths).filter(|&(_, &length)| length > 0);
    all.map(|((place, &row), &length)| {
        let codes = &codes[place[0] as usize..place[1] as usize];
        let bits = codes.iter().fold(0, |bits, code| bits ^ 1u64 << (code & 63));
        (Set { codes, row, bits }, length as usize)
    })
}

/// The entries of sets of codes: of set `i`, number `rows[i]`, the first `lengths[i]`.
///
/// An element that no other set has in its prefix gets none. A crowd of `n` costs `n² / block` entries, and the pairs of
/// it n² tests, so the entries are never the dearer part.
pub fn entries(codes: &[u64], offsets: &[i64], rows: &[u32], lengths: &[u32], cut: &Cut<'_>) -> Entries {
    let shift = 64 - cut.counts.len().trailing_zeros();
    let mut out = Entries::default();
    for (set, length) in showing(codes, offsets, rows, lengths) {
        for (position, &code) in set.codes[..length].iter().enumerate() {
            let crowd = cut.counts[(code >> shift) as usize];
            if crowd > 1 {
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
    for (set, _) in showing(codes, offsets, rows, lengths) {
        out.add(&set, 0, 0, sets, cut);
    }
    out
}

/// Hands the row to every pair of blocks that it has to be in: its own with each of the others, and with itself.
fn in_blocks(row: u32, of: u8, blocks: u64, mut push: impl FnMut(u64, u8)) {
    // Drawn, so that blocks are even whichever rows have the element.
    let own = ((u128::from(mix(u64::from(row))) * u128::from(blocks)) >> 64) as u64;
    for other in 0..blocks {
        let (left, right) = match of {
            side::LEFT => (own, other),
            side::RIGHT => (other, own),
            _ => (own.min(other), own.max(other)),
        };
        let side = match of {
            side::WITHIN if own < other => side::LEFT,
            side::WITHIN if own > other => side::RIGHT,
            of => of,
        };
        push(left << 32 | right, side);
    }
}
