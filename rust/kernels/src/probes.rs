//! Vectors → the keys of the buckets in which near ones probably are: multi-probe (Lv, Josephson, Wang, Charikar and Li 2007).
//!
//! A bucket is a value for each slot of a band. A near vector that is not in a row's own bucket is mostly one step away in a few slots: across a
//! hyperplane that the row lies close to, or over an edge of its bucket on a line. A set of steps scores the sum of the distances to what they cross,
//! and buckets are looked at by score. A chance falls about exponentially with such a distance, so sums order sets of steps by how likely they are.
//!
//! Keys here are not those of [`crate::bands`]. The state of a bucket is Σ value · factor over its slots, so that a step is one addition.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::bands::BAND_BITS;
use crate::hash::mix;
use crate::hyperplane::{Hyperplanes, levelled, tile_products};
use crate::projection::{Coordinate, Lines, TILE, tile_places};
use crate::simd::Level;

/// The most buckets of a band that can be looked at. A set of the first so many holds none but the 127 nearest steps, which are bits of a word.
pub const MOST_PROBES: usize = 128;

/// Which bands of a row, and how many buckets of each.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// The number of the first band; the functions at hand begin with its first row.
    pub first: usize,
    pub bands: usize,
    pub rows: usize,
    pub probes: usize,
}

/// A step out of a row's bucket in one slot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    distance: f64,
    slot: usize,
    /// What it adds to the bucket's state.
    change: u64,
}

/// The steps that buckets may take, nearest first; of equal ones that of the earlier slot.
#[derive(Default)]
struct Steps {
    nearest: Vec<Step>,
    most: usize,
}

impl Steps {
    fn clear(&mut self, most: usize) {
        self.nearest.clear();
        self.most = most;
    }

    /// Steps come slot by slot. One that is behind `most` others stands in none of the `most` + 1 best sets: each of those alone is better.
    #[inline]
    fn offer(&mut self, step: Step) {
        if self.nearest.len() == self.most {
            match self.nearest.last() {
                Some(last) if step.distance < last.distance => self.nearest.pop(),
                _ => return,
            };
        }
        let at = self.nearest.partition_point(|kept| kept.distance <= step.distance);
        self.nearest.insert(at, step);
    }
}

/// Some steps taken together.
struct Set {
    score: f64,
    /// The score without the last step: sums are always made in the order of steps, so that equal sets score the same bits.
    before: f64,
    /// A bit a step.
    steps: u128,
    last: usize,
    change: u64,
    /// Whether no slot is stepped out of twice.
    lawful: bool,
}

impl Set {
    /// The steps `before` and, behind them, step `last`.
    fn with(before: u128, score: f64, change: u64, last: usize, steps: &[Step]) -> Set {
        let step = steps[last];
        let mut left = before;
        let mut lawful = true;
        while left != 0 {
            lawful &= steps[left.trailing_zeros() as usize].slot != step.slot;
            left &= left - 1;
        }
        Set {
            score: score + step.distance,
            before: score,
            steps: before | 1 << last,
            last,
            change: change.wrapping_add(step.change),
            lawful,
        }
    }
}

impl Ord for Set {
    /// The best is the greatest, for the heap: the least score, then the set of earlier steps.
    fn cmp(&self, other: &Set) -> Ordering {
        other.score.total_cmp(&self.score).then(other.steps.cmp(&self.steps))
    }
}

impl PartialOrd for Set {
    fn partial_cmp(&self, other: &Set) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Set {}

/// What the best sets of steps add to a bucket's state, best first, beginning with no step at all; fewer than `count` where there are no more.
///
/// A set leads to two others, neither of them better: its last step shifted by one, or the next step taken as well. Every set is reached once, from
/// {first}. One that steps out of a slot twice is none, and neither is any with a step more; shifted, it may be one again.
fn best_sets(steps: &[Step], count: usize, heap: &mut BinaryHeap<Set>, changes: &mut Vec<u64>) {
    changes.clear();
    changes.push(0);
    heap.clear();
    if !steps.is_empty() {
        heap.push(Set::with(0, 0.0, 0, 0, steps));
    }
    while changes.len() < count {
        let Some(set) = heap.pop() else { return };
        let next = set.last + 1;
        if next < steps.len() {
            let without = set.change.wrapping_sub(steps[set.last].change);
            heap.push(Set::with(set.steps & !(1 << set.last), set.before, without, next, steps));
            if set.lawful {
                heap.push(Set::with(set.steps, set.score, set.change, next, steps));
            }
        }
        if set.lawful {
            changes.push(set.change);
        }
    }
}

/// What a slot's value is multiplied by.
fn factors(probing: &Probing) -> Vec<u64> {
    let slots = probing.first * probing.rows..(probing.first + probing.bands) * probing.rows;
    slots.map(|slot| mix(mix(slot as u64 + 1) ^ 0x7072_6F62_6573)).collect()
}

/// Writes `keys[band][probe][row]`: `sign` gives a tile's values, one a row and slot, and `step` the value of a slot and the steps out of it.
fn keys_by_tile<T: Coordinate, V: Copy + Default>(
    values: &[T],
    width: usize,
    slots: usize,
    probing: &Probing,
    keys: &mut [u64],
    mut sign: impl FnMut(&[T], &mut [V]),
    step: impl Fn(V, u64, usize, &mut Steps) -> u64,
) {
    let Probing { first, bands, rows, probes } = *probing;
    assert!((1..=MOST_PROBES).contains(&probes) && bands * rows <= slots);
    let count = values.len() / width;
    let factors = factors(probing);
    let mut places = vec![V::default(); TILE * slots];
    let (mut steps, mut heap, mut changes) = (Steps::default(), BinaryHeap::new(), Vec::new());
    for (tile, vectors) in values.chunks(TILE * width).enumerate() {
        let places = &mut places[..vectors.len() / width * slots];
        sign(vectors, places);
        for (i, places) in places.chunks_exact(slots).enumerate() {
            let row = tile * TILE + i;
            for (band, (places, factors)) in places.chunks(rows).zip(factors.chunks(rows)).enumerate() {
                steps.clear(probes - 1);
                let mut state = 0u64;
                for (slot, (&place, &factor)) in places.iter().zip(factors).enumerate() {
                    state = state.wrapping_add(step(place, factor, slot, &mut steps));
                }
                best_sets(&steps.nearest, probes, &mut heap, &mut changes);
                assert_eq!(changes.len(), probes, "a band of {rows} rows has too few buckets");
                for (probe, change) in changes.iter().enumerate() {
                    let key = mix(state.wrapping_add(*change)) >> BAND_BITS << BAND_BITS | (first + band) as u64;
                    keys[(band * probes + probe) * count + row] = key;
                }
            }
        }
    }
}

/// The keys of the cones nearest to every row, `keys[band][probe][row]`, its own first. There are 2ʳᵒʷˢ of them a band.
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
        |product, factor, slot, steps| {
            let upper = product >= 0.0;
            let change = if upper { factor.wrapping_neg() } else { factor };
            steps.offer(Step { distance: f64::from(product.abs()), slot, change });
            if upper { factor } else { 0 }
        },
    );
}

/// The keys of the cells nearest to every row, `keys[band][probe][row]`, its own first. There are 3ʳᵒʷˢ of them a band.
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
        |place, factor, slot, steps| {
            let bucket = place.floor();
            // So far out that there is nothing behind the point: no edge is near.
            let above = if place.is_finite() { place - bucket } else { f64::INFINITY };
            steps.offer(Step { distance: above, slot, change: factor.wrapping_neg() });
            steps.offer(Step { distance: (1.0 - above).abs(), slot, change: factor });
            (bucket as i64 as u64).wrapping_mul(factor)
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;
    use crate::hyperplane::Normals;
    use crate::projection::Stable;

    /// Every set of steps that leaves no slot twice, sorted by score and then by steps: what each adds.
    fn enumerated(steps: &[Step]) -> Vec<u64> {
        let mut sets: Vec<(f64, u128, u64)> = vec![];
        'sets: for set in 0..1u128 << steps.len() {
            let (mut score, mut change, mut slots) = (0.0, 0u64, vec![]);
            for (i, step) in steps.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1) {
                if slots.contains(&step.slot) {
                    continue 'sets;
                }
                slots.push(step.slot);
                score += steps[i].distance;
                change = change.wrapping_add(step.change);
            }
            sets.push((score, set, change));
        }
        sets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        sets.into_iter().map(|set| set.2).collect()
    }

    fn best(steps: &[Step], count: usize) -> Vec<u64> {
        let mut changes = vec![];
        best_sets(steps, count, &mut BinaryHeap::new(), &mut changes);
        changes
    }

    fn all_steps(distances: &[f64], both_ways: bool) -> Vec<Step> {
        let mut steps = vec![];
        for (slot, &distance) in distances.iter().enumerate() {
            steps.push(Step { distance, slot, change: 1 << slot });
            if both_ways {
                steps.push(Step { distance: 1.0 - distance, slot, change: 1 << (slot + 32) });
            }
        }
        steps.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        steps
    }

    #[test]
    fn the_best_sets_are_those_of_all_sets_in_their_order() {
        for case in 0..60 {
            let draws = Draws::new(case, 0);
            let slots = 1 + case as usize % 7;
            // Every third case has ties, down to all distances the same.
            let coarse = [f64::INFINITY, 8.0, 1.0][case as usize % 3];
            let distances: Vec<f64> =
                (0..slots)
                    .map(|i| {
                        if coarse.is_finite() { (draws.uniform(i) * coarse).floor() / coarse } else { draws.uniform(i) }
                    })
                    .collect();
            for both_ways in [false, true] {
                let steps = all_steps(&distances, both_ways);
                let expected = enumerated(&steps);
                assert_eq!(expected.len(), if both_ways { 3usize } else { 2 }.pow(slots as u32));
                for count in [1, 2, 3, 10, expected.len(), expected.len() + 5] {
                    assert_eq!(best(&steps, count), expected[..count.min(expected.len())], "{case}");
                }
            }
        }
    }

    #[test]
    fn the_nearest_steps_are_enough_for_the_best_sets() {
        for case in 0..40 {
            let draws = Draws::new(case, 1);
            let distances: Vec<f64> = (0..9).map(|i| (draws.uniform(i) * 12.0).floor() / 12.0).collect();
            let all = all_steps(&distances, true);
            for count in [1, 2, 5, 16] {
                let mut some = Steps::default();
                some.clear(count - 1);
                let mut by_slot = all.clone();
                by_slot.sort_by_key(|step| step.slot);
                by_slot.into_iter().for_each(|step| some.offer(step));
                assert_eq!(some.nearest, all[..count - 1]);
                assert_eq!(best(&some.nearest, count), best(&all, count));
            }
        }
    }

    fn some_rows(rows: usize, width: usize) -> Vec<f64> {
        (0..rows * width).map(|i| (mix(i as u64) >> 40) as f64 / 1e6 - 8.0).collect()
    }

    #[test]
    fn keys_are_those_of_all_neighbouring_buckets_by_their_distance() {
        let (width, rows, count) = (6, 4, 40);
        let values = some_rows(count, width);
        for level in Level::available() {
            // Functions of two bands behind the first three, so that nothing depends on where a part begins.
            let (drawn, band) = (3 * rows..5 * rows, 4);
            let probing = Probing { first: 3, bands: 2, rows, probes: 16 };
            let factors = factors(&probing);
            let planes = Hyperplanes::new(Normals::Gaussian, width, drawn.clone(), 3);
            let mut keys = vec![0; 2 * 16 * count];
            cone_keys(level, &values, &planes, &probing, &mut keys);
            let mut tile = vec![];
            levelled(&values, width, &mut tile);
            let mut products = vec![0f32; count * 2 * rows];
            tile_products(level, &tile, &planes, &mut products);
            for row in 0..count {
                let mine = &products[(2 * row + 1) * rows..(2 * row + 2) * rows];
                let mut cones: Vec<(f64, u64)> = (0..1usize << rows)
                    .map(|flipped| {
                        let crossed = (0..rows).filter(|i| flipped >> i & 1 == 1);
                        let score = crossed.map(|i| f64::from(mine[i].abs())).sum();
                        let sides = (0..rows).filter(|&i| (mine[i] >= 0.0) != (flipped >> i & 1 == 1));
                        (score, sides.fold(0u64, |sum, i| sum.wrapping_add(factors[rows + i])))
                    })
                    .collect();
                cones.sort_by(|a, b| a.0.total_cmp(&b.0));
                let expected: Vec<u64> = cones.iter().map(|cone| mix(cone.1) >> 16 << 16 | band).collect();
                let seen: Vec<u64> = (0..16).map(|probe| keys[(16 + probe) * count + row]).collect();
                assert_eq!(seen[0], expected[0]);
                assert_eq!(seen.iter().collect::<std::collections::BTreeSet<_>>().len(), 16);
                // Sums in another order may swap two that are equal but for their last bit.
                let swapped = seen.iter().zip(&expected).filter(|(a, b)| a != b).count();
                assert!(swapped <= 2, "{swapped}");
            }
        }
    }

    #[test]
    fn a_row_looks_where_a_row_beyond_its_nearest_edge_is_at_home() {
        for kind in [Stable::Gaussian, Stable::Cauchy] {
            let (rows, bands, count) = (5, 2, 50);
            let lines = Lines::new(kind, 3, 0..rows * bands, 4.0, 9);
            let values = some_rows(count, 3);
            let probing = Probing { first: 0, bands, rows, probes: 8 };
            let mut keys = vec![0; bands * 8 * count];
            cell_keys(Level::detect(), &values, &lines, &probing, &mut keys);
            let mut places = vec![0.0; count * rows * bands];
            tile_places(Level::detect(), &values, &lines, &mut places);
            let factors = factors(&probing);
            for (row, places) in places.chunks(rows * bands).enumerate() {
                let home = |moved: Option<(usize, f64)>| {
                    let state = (0..rows).fold(0u64, |sum, i| {
                        let by = moved.map_or(0.0, |(slot, by)| if slot == i { by } else { 0.0 });
                        sum.wrapping_add(((places[i].floor() + by) as i64 as u64).wrapping_mul(factors[i]))
                    });
                    mix(state) >> 16 << 16
                };
                let edges = (0..rows).flat_map(|i| {
                    let above = places[i] - places[i].floor();
                    [(above, i, -1.0), (1.0 - above, i, 1.0)]
                });
                let nearest = edges.min_by(|a, b| a.0.total_cmp(&b.0)).expect("an edge");
                assert_eq!(keys[row], home(None));
                assert_eq!(keys[count + row], home(Some((nearest.1, nearest.2))));
            }
        }
    }
}
