//! Vectors → the keys of the buckets in which near ones probably are: multi-probe (Lv, Josephson, Wang, Charikar and Li 2007).
//!
//! A bucket is a value for each slot of a band. A near vector that is not in a row's own bucket is mostly one step away in a few slots: across a
//! hyperplane that the row lies close to, or over an edge of its bucket on a line. A row's slots are ranked by how close that is, and it looks into the
//! buckets that a list of sets of ranks names, the same list for every row: {0}, {1}, {0, 1}, {2}, … (`theory/multiprobe.py` makes it, and knows what it
//! finds). A list costs a row one addition a bucket; a queue of sets by its own distances took ten times as long and found some 2% more.
//!
//! Keys here are not those of [`crate::bands`]. The state of a bucket is Σ value · factor over its slots, so that a step is one addition.

use crate::bands::BAND_BITS;
use crate::hash::mix;
use crate::hyperplane::{Hyperplanes, levelled, tile_products};
use crate::projection::{Coordinate, Lines, TILE, tile_places};
use crate::simd::Level;

/// One more step than an earlier set of the list; the first set, which the list does not name, is no step at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The number of the earlier set.
    pub from: usize,
    /// Of the slot that is stepped out of, the one closest to an edge being of rank 0.
    pub rank: usize,
    /// Over the edge on the other side, which lines alone have.
    pub far: bool,
}

/// Which bands of a row, and which buckets of each.
#[derive(Clone, Copy, Debug)]
pub struct Probing<'a> {
    /// The number of the first band; the functions at hand begin with its first row.
    pub first: usize,
    pub bands: usize,
    pub rows: usize,
    pub sets: &'a [Reached],
}

impl Probing<'_> {
    /// The buckets a row looks into, its own included.
    pub fn probes(&self) -> usize {
        self.sets.len() + 1
    }

    /// Whether every set follows from an earlier one, and ranks are those of rows.
    pub fn is_sound(&self) -> bool {
        self.sets.iter().enumerate().all(|(i, set)| set.from <= i && set.rank < self.rows)
    }

    /// What a slot's value is multiplied by.
    fn factors(&self) -> Vec<u64> {
        let slots = self.first * self.rows..(self.first + self.bands) * self.rows;
        slots.map(|slot| mix(mix(slot as u64 + 1) ^ 0x7072_6F62_6573)).collect()
    }
}

/// Bits of a ranked margin that say whose it is.
const SLOT_BITS: u32 = 16;

/// A margin, 0 or more, as a number in the same order, with its slot in the lowest bits: equal margins are ranked by their slots. Margins that differ in
/// their last digits alone, beyond the tenth, are as good as equal; those of 32 bits are all told apart.
#[inline(always)]
fn placed(margin: f64, slot: usize) -> u64 {
    margin.to_bits() >> SLOT_BITS << SLOT_BITS | slot as u64
}

/// The slots of the `most` least margins, in their order. Gone through once a rank: no branch depends on a margin.
#[inline]
fn rank(margins: &mut [u64], most: usize, ranked: &mut Vec<usize>) {
    ranked.clear();
    for _ in 0..most {
        let least = margins.iter().fold(u64::MAX, |least, &margin| if margin < least { margin } else { least });
        let slot = (least & ((1 << SLOT_BITS) - 1)) as usize;
        margins[slot] = u64::MAX;
        ranked.push(slot);
    }
}

/// Writes `keys[band][probe][row]`: `sign` gives a tile's places, one a row and slot; `value` what the slot holds there, the margin to the nearer
/// edge, and whether that is the upper one.
fn keys_by_tile<T: Coordinate, R: Copy + Default>(
    values: &[T],
    width: usize,
    slots: usize,
    probing: &Probing,
    keys: &mut [u64],
    mut sign: impl FnMut(&[T], &mut [R]),
    value: impl Fn(R) -> (u64, f64, bool),
) {
    let Probing { first, bands, rows, sets } = *probing;
    assert!(bands * rows <= slots && rows <= 1 << SLOT_BITS && probing.is_sound());
    let (count, probes, factors) = (values.len() / width, probing.probes(), probing.factors());
    // Behind the last rank that is stepped out of, order does not matter.
    let most = sets.iter().map(|set| set.rank + 1).max().unwrap_or(0);
    let mut places = vec![R::default(); TILE * slots];
    let (mut margins, mut changes) = (vec![0u64; rows], vec![0u64; rows]);
    let (mut ranked, mut states) = (Vec::with_capacity(most), vec![0u64; probes]);
    for (tile, vectors) in values.chunks(TILE * width).enumerate() {
        let places = &mut places[..vectors.len() / width * slots];
        sign(vectors, places);
        for (i, places) in places.chunks_exact(slots).enumerate() {
            let row = tile * TILE + i;
            for (band, (places, factors)) in places.chunks(rows).zip(factors.chunks(rows)).enumerate() {
                if sets.is_empty() {
                    // Of a row's own bucket alone no margin is asked.
                    let held = places.iter().zip(factors).map(|(&place, &factor)| value(place).0.wrapping_mul(factor));
                    let state = held.fold(0, u64::wrapping_add);
                    keys[band * count + row] = mix(state) >> BAND_BITS << BAND_BITS | (first + band) as u64;
                    continue;
                }
                states[0] = 0;
                for (slot, (&place, &factor)) in places.iter().zip(factors).enumerate() {
                    let (held, margin, up) = value(place);
                    states[0] = states[0].wrapping_add(held.wrapping_mul(factor));
                    margins[slot] = placed(margin, slot);
                    changes[slot] = if up { factor } else { factor.wrapping_neg() };
                }
                rank(&mut margins, most, &mut ranked);
                for (at, set) in sets.iter().enumerate() {
                    let change = changes[ranked[set.rank]];
                    states[at + 1] =
                        states[set.from].wrapping_add(if set.far { change.wrapping_neg() } else { change });
                }
                for (probe, state) in states.iter().enumerate() {
                    let key = mix(*state) >> BAND_BITS << BAND_BITS | (first + band) as u64;
                    keys[(band * probes + probe) * count + row] = key;
                }
            }
        }
    }
}

/// The keys of the cones that every row looks into, `keys[band][probe][row]`, its own first.
pub fn cone_keys<T: Coordinate>(level: Level, values: &[T], planes: &Hyperplanes, probing: &Probing, keys: &mut [u64]) {
    let mut tile = Vec::new();
    keys_by_tile(
        values,
        planes.dimensions(),
        planes.slots(),
        probing,
        keys,
        |rows, products: &mut [f32]| {
            levelled(rows, planes.dimensions(), &mut tile);
            tile_products(level, &tile, planes, products);
        },
        |product| (u64::from(product >= 0.0), f64::from(product.abs()), product < 0.0),
    );
}

/// The keys of the cells that every row looks into, `keys[band][probe][row]`, its own first.
pub fn cell_keys<T: Coordinate>(level: Level, values: &[T], lines: &Lines, probing: &Probing, keys: &mut [u64]) {
    let mut tile = Vec::new();
    keys_by_tile(
        values,
        lines.dimensions(),
        lines.slots(),
        probing,
        keys,
        |rows, places: &mut [f64]| {
            tile.clear();
            tile.extend(rows.iter().map(|&x| x.into()));
            tile_places(level, &tile, lines, places);
        },
        |place| {
            let bucket = place.floor();
            // So far out that numbers have no places behind the point: any edge will do.
            let above = if place.is_finite() { place - bucket } else { 0.0 };
            (bucket as i64 as u64, above.min(1.0 - above), above > 0.5)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hyperplane::Normals;
    use crate::projection::Stable;
    use std::collections::BTreeSet;

    fn set(from: usize, rank: usize, far: bool) -> Reached {
        Reached { from, rank, far }
    }

    fn some_rows(rows: usize, width: usize) -> Vec<f64> {
        (0..rows * width).map(|i| (mix(i as u64) >> 40) as f64 / 1e6 - 8.0).collect()
    }

    /// The sets of a list as (rank, far) each, followed back to no step at all.
    fn written_out(sets: &[Reached]) -> Vec<Vec<(usize, bool)>> {
        let mut out = vec![vec![]];
        for set in sets {
            let mut steps: Vec<(usize, bool)> = out[set.from].clone();
            steps.push((set.rank, set.far));
            out.push(steps);
        }
        out
    }

    /// A bucket's key, from the values of a band's slots.
    fn key(values: &[i64], factors: &[u64], band: u64) -> u64 {
        let state = values.iter().zip(factors).fold(0u64, |sum, (&v, f)| sum.wrapping_add((v as u64).wrapping_mul(*f)));
        mix(state) >> 16 << 16 | band
    }

    #[test]
    fn keys_are_those_of_cones_beyond_the_nearest_hyperplanes() {
        let (width, rows, count) = (6, 5, 70);
        let values = some_rows(count, width);
        let sets = [set(0, 0, false), set(0, 1, false), set(1, 1, false), set(0, 4, false), set(3, 2, false)];
        // Functions of two bands behind the first three: nothing depends on where a part begins.
        let probing = Probing { first: 3, bands: 2, rows, sets: &sets };
        let factors = probing.factors();
        for level in Level::available() {
            let planes = Hyperplanes::new(Normals::Gaussian, width, 3 * rows..5 * rows, 3);
            let mut keys = vec![0; 2 * 6 * count];
            cone_keys(level, &values, &planes, &probing, &mut keys);
            let mut tile = vec![];
            levelled(&values, width, &mut tile);
            let mut products = vec![0f32; count * 2 * rows];
            tile_products(level, &tile, &planes, &mut products);
            for (at, mine) in products.chunks(rows).enumerate() {
                let (row, band) = (at / 2, at % 2);
                let mut by_margin: Vec<usize> = (0..rows).collect();
                by_margin.sort_by(|&a, &b| mine[a].abs().total_cmp(&mine[b].abs()));
                for (probe, steps) in written_out(&sets).iter().enumerate() {
                    let mut sides: Vec<i64> = mine.iter().map(|&y| i64::from(y >= 0.0)).collect();
                    steps.iter().for_each(|&(rank, _)| sides[by_margin[rank]] ^= 1);
                    let expected = key(&sides, &factors[band * rows..(band + 1) * rows], 3 + band as u64);
                    assert_eq!(keys[(band * 6 + probe) * count + row], expected);
                }
            }
        }
    }

    #[test]
    fn keys_are_those_of_cells_beyond_the_nearest_edges() {
        let (rows, bands, count) = (4, 2, 50);
        // All nine cells around, in two slots of four.
        let sets = [
            set(0, 0, false),
            set(0, 3, false),
            set(1, 3, false),
            set(0, 3, true),
            set(1, 3, true),
            set(0, 0, true),
            set(6, 3, false),
            set(6, 3, true),
        ];
        for kind in [Stable::Gaussian, Stable::Cauchy] {
            let lines = Lines::new(kind, 3, 0..rows * bands, 4.0, 9);
            let values = some_rows(count, 3);
            let probing = Probing { first: 0, bands, rows, sets: &sets };
            let factors = probing.factors();
            let mut keys = vec![0; bands * 9 * count];
            cell_keys(Level::detect(), &values, &lines, &probing, &mut keys);
            let mut places = vec![0.0; count * rows * bands];
            tile_places(Level::detect(), &values, &lines, &mut places);
            for (at, mine) in places.chunks(rows).enumerate() {
                let (row, band) = (at / bands, at % bands);
                let above: Vec<f64> = mine.iter().map(|place| place - place.floor()).collect();
                let margins: Vec<f64> = above.iter().map(|&x| x.min(1.0 - x)).collect();
                let mut by_margin: Vec<usize> = (0..rows).collect();
                by_margin.sort_by(|&a, &b| margins[a].total_cmp(&margins[b]));
                let mut seen = BTreeSet::new();
                for (probe, steps) in written_out(&sets).iter().enumerate() {
                    let mut cell: Vec<i64> = mine.iter().map(|place| place.floor() as i64).collect();
                    for &(rank, far) in steps {
                        let slot = by_margin[rank];
                        cell[slot] += if (above[slot] > 0.5) != far { 1 } else { -1 };
                    }
                    let expected = key(&cell, &factors[band * rows..(band + 1) * rows], band as u64);
                    assert_eq!(keys[(band * 9 + probe) * count + row], expected);
                    seen.insert(expected);
                }
                assert_eq!(seen.len(), 9);
            }
        }
    }

    #[test]
    fn equal_margins_are_ranked_by_their_slots() {
        for most in 0..6 {
            let margins = [2.0, 1.0, 2.0, 1.0, 3.0].into_iter().enumerate();
            let mut margins: Vec<u64> = margins.map(|(slot, margin)| placed(margin, slot)).collect();
            let mut ranked = vec![9];
            rank(&mut margins, most, &mut ranked);
            assert_eq!(ranked, [1, 3, 0, 2, 4][..most]);
        }
    }

    #[test]
    fn a_row_that_looks_nowhere_else_has_its_own_key_alone() {
        let lines = Lines::new(Stable::Gaussian, 2, 0..6, 1.0, 0);
        let probing = Probing { first: 0, bands: 2, rows: 3, sets: &[] };
        let more = [set(0, 2, true)];
        let looking = Probing { sets: &more, ..probing };
        let values = [0.5, -7.0, 1e300, 3.0];
        let (mut own, mut both) = (vec![0; 4], vec![0; 8]);
        cell_keys(Level::Scalar, &values, &lines, &probing, &mut own);
        cell_keys(Level::Scalar, &values, &lines, &looking, &mut both);
        assert_eq!((&own[..2], &own[2..]), (&both[..2], &both[4..6]));
    }
}
