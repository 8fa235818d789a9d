//! Vectors → products with random directions, several rows and many directions at a time.
//!
//! Directions lie in blocks of a few lanes, coordinate by coordinate, so that one coordinate of a row meets a block of directions in a few vector
//! instructions. Every product is one lane's running sum over the coordinates in their order, a product and an addition each (no fused ones): the
//! same bits on every path, however rows are put together.
//!
//! Sides of hyperplanes ([`crate::hyperplane`]) are told in 32 bits, places on lines in 64: a place is a small difference of what may be large numbers.

use std::ops::Range;

use rayon::prelude::*;

use crate::bands::Bands;
use crate::draws::Draws;
use crate::simd::{Lanes, Level, for_each_path};

/// Rows whose products are summed at the same time: enough sums that none waits for another.
const TOGETHER: usize = 4;
/// Rows that meet a block of directions before the next block comes: they stay in a core's own cache.
pub(crate) const TILE: usize = 32;

/// A number that products are summed in.
pub trait Real: Copy + Default + Send + Sync + std::ops::Mul<Output = Self> + std::ops::AddAssign + 'static {
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

/// A coordinate as users have it.
pub trait Coordinate: Copy + Send + Sync + Into<f64> + PartialEq {}
impl Coordinate for f32 {}
impl Coordinate for f64 {}

/// Random directions, in blocks.
pub struct Directions<R, const LANES: usize> {
    pub dimensions: usize,
    pub slots: usize,
    /// `[block][coordinate][lane]`; zeros where the last block has no direction.
    blocks: Vec<R>,
}

impl<R: Real, const LANES: usize> Directions<R, LANES> {
    /// The directions of `drawn` slots of a seed, which here are slots from 0 on.
    pub fn new(dimensions: usize, drawn: Range<usize>, seed: u64, draw: impl Fn(Draws, usize) -> f64) -> Self {
        let slots = drawn.len();
        let mut blocks = vec![R::default(); slots.div_ceil(LANES) * LANES * dimensions];
        for slot in 0..slots {
            let draws = Draws::new(seed, drawn.start + slot);
            let block = &mut blocks[slot / LANES * LANES * dimensions..];
            for at in 0..dimensions {
                block[at * LANES + slot % LANES] = R::of(draw(draws, at));
            }
        }
        Directions { dimensions, slots, blocks }
    }

    /// Hands the products of a tile of rows to `emit`: row, first slot, and a block of products.
    #[inline(always)]
    pub(crate) fn each_product(&self, tile: &[R], mut emit: impl FnMut(usize, usize, &[R; LANES])) {
        let width = self.dimensions;
        for (number, block) in self.blocks.chunks_exact(LANES * width).enumerate() {
            let first = number * LANES;
            let mut rows = tile.chunks_exact(TOGETHER * width);
            let mut row = 0;
            for several in &mut rows {
                for sums in &products::<R, LANES, TOGETHER>(several, block, width) {
                    emit(row, first, sums);
                    row += 1;
                }
            }
            for one in rows.remainder().chunks_exact(width) {
                emit(row, first, &products::<R, LANES, 1>(one, block, width)[0]);
                row += 1;
            }
        }
    }
}

#[inline(always)]
fn products<R: Real, const LANES: usize, const ROWS: usize>(
    rows: &[R],
    block: &[R],
    width: usize,
) -> [[R; LANES]; ROWS] {
    let mut sums = [[R::default(); LANES]; ROWS];
    for (at, directions) in block.chunks_exact(LANES).enumerate() {
        for (row, sums) in sums.iter_mut().enumerate() {
            let x = rows[row * width + at];
            for (sum, &direction) in sums.iter_mut().zip(directions) {
                *sum += x * direction;
            }
        }
    }
    sums
}

/// Random lines, each cut into buckets of one width at a random place.
pub struct Lines {
    directions: Directions<f64, 16>,
    /// Where on each line a bucket begins, as a share of a bucket.
    offsets: Vec<f64>,
    width: f64,
}

/// How the directions of lines are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stable {
    /// Projections differ by a normal number times the L2 distance.
    Gaussian,
    /// Projections differ by a Cauchy number times the L1 distance.
    Cauchy,
}

impl Lines {
    /// The lines of `drawn` slots of a seed.
    pub fn new(kind: Stable, dimensions: usize, drawn: Range<usize>, width: f64, seed: u64) -> Lines {
        let directions = match kind {
            Stable::Gaussian => Directions::new(dimensions, drawn.clone(), seed, Draws::normal),
            Stable::Cauchy => Directions::new(dimensions, drawn.clone(), seed, Draws::cauchy),
        };
        // Counted on behind the coordinates, of which Cauchy numbers take two each.
        let offsets = drawn.map(|slot| Draws::new(seed, slot).uniform(2 * dimensions)).collect();
        Lines { directions, offsets, width }
    }

    pub fn slots(&self) -> usize {
        self.directions.slots
    }

    pub fn dimensions(&self) -> usize {
        self.directions.dimensions
    }
}

#[inline(always)]
fn places_on<L: Lanes>(tile: &[f64], lines: &Lines, out: &mut [f64]) {
    let slots = lines.slots();
    lines.directions.each_product(tile, |row, first, products| {
        let out = &mut out[row * slots..(row + 1) * slots];
        for ((out, product), offset) in out[first..].iter_mut().zip(products).zip(&lines.offsets[first..]) {
            *out = product / lines.width + offset;
        }
    });
}

for_each_path! {
    /// The place of every row of a tile on every line, a·x/w + b; its floor is the bucket.
    pub(crate) fn tile_places(level; tile: &[f64], lines: &Lines, out: &mut [f64]) => places_on
}

/// The bucket of every row on every line, ⌊a·x/w + b⌋.
pub fn buckets<T: Coordinate>(level: Level, values: &[T], lines: &Lines, out: &mut [i64]) {
    let (width, slots) = (lines.dimensions(), lines.slots());
    out.par_chunks_mut(TILE * slots).zip(values.par_chunks(TILE * width)).for_each_init(
        || (Vec::new(), Vec::new()),
        |(tile, places), (out, rows)| {
            tile.clear();
            tile.extend(rows.iter().map(|&x| x.into()));
            places.resize(out.len(), 0.0);
            tile_places(level, tile, lines, places);
            out.iter_mut().zip(places).for_each(|(out, place)| *out = place.floor() as i64);
        },
    );
}

/// The bucket keys of every row, `keys[band][row]`.
pub fn bucket_keys<T: Coordinate>(level: Level, values: &[T], lines: &Lines, bands: &Bands, keys: &mut [u64]) {
    let (width, slots) = (lines.dimensions(), lines.slots());
    keys_by_tile(values, width, slots, bands, keys, |rows, signatures| {
        let tile: Vec<f64> = rows.iter().map(|&x| x.into()).collect();
        let mut places = vec![0.0; signatures.len()];
        tile_places(level, &tile, lines, &mut places);
        // Buckets 2³² apart would share a key, at the price of a check.
        signatures.iter_mut().zip(&places).for_each(|(slot, &place)| *slot = place.floor() as i64 as u32);
    });
}

/// Signs tile after tile and keeps the keys of its bands alone. On one thread: an engine hands out batches.
pub(crate) fn keys_by_tile<T: Coordinate>(
    values: &[T],
    width: usize,
    slots: usize,
    bands: &Bands,
    keys: &mut [u64],
    mut sign: impl FnMut(&[T], &mut [u32]),
) {
    let count = values.len() / width;
    let mut signatures = vec![0u32; TILE * slots];
    for (number, rows) in values.chunks(TILE * width).enumerate() {
        let signatures = &mut signatures[..rows.len() / width * slots];
        sign(rows, signatures);
        for (i, signature) in signatures.chunks_exact(slots).enumerate() {
            bands.keys_into(signature, keys, number * TILE + i, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn some_rows(rows: usize, width: usize) -> Vec<f64> {
        (0..rows * width).map(|i| (mix(i as u64) >> 40) as f64 / 1e6 - 8.0).collect()
    }

    #[test]
    fn buckets_are_those_of_a_plain_loop_on_every_path() {
        for (width, slots, rows) in [(1, 1, 1), (3, 40, 5), (128, 33, 71)] {
            let values = some_rows(rows, width);
            for kind in [Stable::Gaussian, Stable::Cauchy] {
                let lines = Lines::new(kind, width, 0..slots, 2.5, 7);
                let mut expected = vec![];
                for row in values.chunks(width) {
                    for slot in 0..slots {
                        let draws = Draws::new(7, slot);
                        let mut sum = 0.0;
                        for (at, x) in row.iter().enumerate() {
                            sum += x * if kind == Stable::Gaussian { draws.normal(at) } else { draws.cauchy(at) };
                        }
                        expected.push((sum / 2.5 + draws.uniform(2 * width)).floor() as i64);
                    }
                }
                for level in Level::available() {
                    let mut out = vec![0; rows * slots];
                    buckets(level, &values, &lines, &mut out);
                    assert_eq!(out, expected, "{level:?}");
                }
            }
        }
    }

    #[test]
    fn keys_are_those_of_the_signatures() {
        let (width, slots, rows) = (9, 20, 70);
        let values = some_rows(rows, width);
        let lines = Lines::new(Stable::Gaussian, width, 0..slots, 4.0, 1);
        let mut places = vec![0; rows * slots];
        buckets(Level::detect(), &values, &lines, &mut places);
        let bands = Bands::new(0, 5, 4);
        let mut keys = vec![0; 5 * rows];
        bucket_keys(Level::detect(), &values, &lines, &bands, &mut keys);
        let mut expected = vec![0; 5 * rows];
        for (row, places) in places.chunks(slots).enumerate() {
            let signature: Vec<u32> = places.iter().map(|&place| place as u32).collect();
            bands.keys_into(&signature, &mut expected, row, rows);
        }
        assert_eq!(keys, expected);
    }
}
