//! Vectors → the sides of random hyperplanes on which they lie.
//!
//! A side is one bit: 1 where the product with the normal is 0 or more. Only the direction of a vector matters, so rows are first divided by a power of
//! two near their greatest coordinate, which changes no side and keeps sums of 32-bit products from overflowing.

use std::ops::Range;

use rayon::prelude::*;

use crate::bands::Bands;
use crate::draws::Draws;
use crate::projection::{Coordinate, Directions, TILE, keys_by_tile};
use crate::simd::{Lanes, Level, for_each_path};

/// How the normals of hyperplanes are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normals {
    /// Normal numbers: every direction is equally likely.
    Gaussian,
    /// 1 and −1: a cheap sketch, whose directions are only nearly even, and only of many coordinates.
    Signs,
}

/// Random hyperplanes through the origin.
pub struct Hyperplanes {
    normals: Directions<f32, 32>,
}

impl Hyperplanes {
    /// The hyperplanes of `drawn` slots of a seed.
    pub fn new(kind: Normals, dimensions: usize, drawn: Range<usize>, seed: u64) -> Hyperplanes {
        let normals = match kind {
            Normals::Gaussian => Directions::new(dimensions, drawn, seed, Draws::normal),
            Normals::Signs => Directions::new(dimensions, drawn, seed, Draws::sign),
        };
        Hyperplanes { normals }
    }

    pub fn slots(&self) -> usize {
        self.normals.slots
    }

    pub fn dimensions(&self) -> usize {
        self.normals.dimensions
    }
}

/// A row for 32-bit products: its greatest coordinate between 1 and 2.
fn level_out<T: Coordinate>(row: &[T], tile: &mut Vec<f32>) {
    let greatest = row.iter().fold(0.0, |most: f64, &x| most.max(x.into().abs()));
    // What is under the least normal number is treated as that.
    let exponent = ((greatest.to_bits() >> 52) as i64).clamp(1, 2045);
    let scale = f64::from_bits((2046 - exponent as u64) << 52);
    tile.extend(row.iter().map(|&x| (x.into() * scale) as f32));
}

pub(crate) fn levelled<T: Coordinate>(rows: &[T], width: usize, tile: &mut Vec<f32>) {
    tile.clear();
    rows.chunks_exact(width).for_each(|row| level_out(row, tile));
}

#[inline(always)]
fn tile_on<L: Lanes>(tile: &[f32], planes: &Hyperplanes, out: &mut [u32]) {
    let slots = planes.slots();
    planes.normals.each_product(tile, |row, first, products| {
        let out = &mut out[row * slots..(row + 1) * slots];
        for (out, &product) in out[first..].iter_mut().zip(products) {
            *out = u32::from(product >= 0.0);
        }
    });
}

for_each_path! {
    /// The sides of every row of a tile.
    fn tile_sides(level; tile: &[f32], planes: &Hyperplanes, out: &mut [u32]) => tile_on
}

#[inline(always)]
fn products_on<L: Lanes>(tile: &[f32], planes: &Hyperplanes, out: &mut [f32]) {
    let slots = planes.slots();
    planes.normals.each_product(tile, |row, first, products| {
        let out = &mut out[row * slots..(row + 1) * slots];
        out[first..].iter_mut().zip(products).for_each(|(out, &product)| *out = product);
    });
}

for_each_path! {
    /// The products of every row of a levelled tile with every normal: how far from a hyperplane it lies, in a unit of its own.
    pub(crate) fn tile_products(level; tile: &[f32], planes: &Hyperplanes, out: &mut [f32]) => products_on
}

/// On which side of every hyperplane each row lies, a byte of 0 or 1 each.
pub fn sides<T: Coordinate>(level: Level, values: &[T], planes: &Hyperplanes, out: &mut [u8]) {
    let (width, slots) = (planes.dimensions(), planes.slots());
    out.par_chunks_mut(TILE * slots).zip(values.par_chunks(TILE * width)).for_each_init(
        || (Vec::new(), Vec::new()),
        |(tile, bits), (out, rows)| {
            levelled(rows, width, tile);
            bits.resize(out.len(), 0);
            tile_sides(level, tile, planes, bits);
            out.iter_mut().zip(bits).for_each(|(out, bit)| *out = *bit as u8);
        },
    );
}

/// The bucket keys of every row, `keys[band][row]`.
pub fn side_keys<T: Coordinate>(level: Level, values: &[T], planes: &Hyperplanes, bands: &Bands, keys: &mut [u64]) {
    let mut tile = Vec::new();
    keys_by_tile(values, planes.dimensions(), planes.slots(), bands, keys, |rows, signatures| {
        levelled(rows, planes.dimensions(), &mut tile);
        tile_sides(level, &tile, planes, signatures);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn some_rows(rows: usize, width: usize) -> Vec<f64> {
        (0..rows * width).map(|i| (mix(i as u64) >> 40) as f64 / 1e6 - 8.0).collect()
    }

    #[test]
    fn every_path_sees_the_same_sides() {
        for (width, slots, rows) in [(1, 1, 1), (2, 33, 6), (100, 130, 67)] {
            let values = some_rows(rows, width);
            for kind in [Normals::Gaussian, Normals::Signs] {
                let planes = Hyperplanes::new(kind, width, 0..slots, 5);
                let answers: Vec<Vec<u8>> = Level::available()
                    .into_iter()
                    .map(|level| {
                        let mut out = vec![9; rows * slots];
                        sides(level, &values, &planes, &mut out);
                        out
                    })
                    .collect();
                assert!(answers.iter().all(|answer| *answer == answers[0] && answer.iter().all(|&bit| bit < 2)));
            }
        }
    }

    #[test]
    fn sides_are_those_of_a_plain_loop_where_it_is_not_close() {
        let (width, slots) = (50, 64);
        let values = some_rows(20, width);
        let planes = Hyperplanes::new(Normals::Gaussian, width, 0..slots, 11);
        let mut out = vec![0; 20 * slots];
        sides(Level::detect(), &values, &planes, &mut out);
        for (row, sides) in values.chunks(width).zip(out.chunks(slots)) {
            for (slot, &side) in sides.iter().enumerate() {
                let sum: f64 = row.iter().enumerate().map(|(at, x)| x * Draws::new(11, slot).normal(at)).sum();
                assert!(sum.abs() < 1e-3 || side == u8::from(sum >= 0.0));
            }
        }
    }

    #[test]
    fn nothing_lies_on_the_upper_side_and_length_does_not_matter() {
        let planes = Hyperplanes::new(Normals::Gaussian, 4, 0..70, 0);
        let mut seen = vec![0u8; 5 * 70];
        let row = [0.3, -2.0, 1e-3, 0.7];
        let lengths = [0.0, 1.0, 1024.0, 2f64.powi(1000), 2f64.powi(-1000)];
        let values: Vec<f64> = lengths.iter().flat_map(|length| row.map(|x| x * length)).collect();
        sides(Level::detect(), &values, &planes, &mut seen);
        assert!(seen[..70].iter().all(|&side| side == 1));
        assert!((2..5).all(|i| seen[i * 70..(i + 1) * 70] == seen[70..140]));
    }
}
