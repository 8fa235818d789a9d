//! Sparse vectors → the sides of random hyperplanes on which they lie, and their bucket keys.
//!
//! No normal is ever held: its coordinate for an element is drawn from a hash of the element and the slot, so a collection may have any number of
//! coordinates. Twelve bits pick one of 4,096 quantiles of the normal distribution, all equally likely, and a hash gives four; the agreement of two vectors is
//! 1 − θ/180° to within what the tests can see. Sums run in the order of elements, so a side is the same on every machine.

use rayon::prelude::*;

use crate::bands::Bands;
use crate::draws::inverse_normal;
use crate::hash::{mix, spread_seed};
use crate::minhash::content;
use crate::sign::{FLAG_EMPTY, Keyed};
use crate::weighted::digest;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
const QUANTILES: usize = 1 << 12;
/// Slots that one hash of an element decides.
const LANES: usize = 4;

/// Random hyperplanes through the origin of a space with a coordinate for every element there may be.
pub struct Planes {
    slots: usize,
    seed: u64,
    keys: Vec<u64>,
    quantiles: Vec<f64>,
}

impl Planes {
    /// `seed` as the user gave it.
    pub fn new(slots: usize, seed: u64) -> Planes {
        let start = spread_seed(seed ^ 0x706C_616E_6573_0000);
        let groups = slots.div_ceil(LANES) as u64;
        let keys = (1..=groups).map(|group| mix(start.wrapping_add(group.wrapping_mul(STEP)))).collect();
        let quantiles = (0..QUANTILES).map(|i| inverse_normal((i as f64 + 0.5) / QUANTILES as f64)).collect();
        Planes { slots, seed: spread_seed(seed), keys, quantiles }
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Writes 1 for every plane on whose positive side, or on which, the vector lies, else 0. `sums` is a buffer.
    fn sides_into(&self, elements: &[u64], weights: &[f64], sums: &mut Vec<f64>, sides: &mut [u32]) {
        sums.clear();
        sums.resize(self.keys.len() * LANES, 0.0);
        for (&element, &weight) in elements.iter().zip(weights) {
            for (&key, sums) in self.keys.iter().zip(sums.as_chunks_mut::<LANES>().0) {
                let drawn = mix(element ^ key);
                for (lane, sum) in sums.iter_mut().enumerate() {
                    *sum += weight * self.quantiles[(drawn >> (16 * lane)) as usize % QUANTILES];
                }
            }
        }
        sides.iter_mut().zip(sums.iter()).for_each(|(side, &sum)| *side = u32::from(sum >= 0.0));
    }
}

/// The sides of every vector of a batch, a byte of 0 or 1 each, `slots` a row.
pub fn sides(elements: &[u64], weights: &[f64], offsets: &[i64], planes: &Planes) -> Vec<u8> {
    let row = |o: &[i64]| o[0] as usize..o[1] as usize;
    let one = |sums: &mut Vec<f64>, o| {
        let mut sides = vec![0; planes.slots];
        planes.sides_into(&elements[row(o)], &weights[row(o)], sums, &mut sides);
        sides.into_iter().map(|side| side as u8).collect::<Vec<u8>>()
    };
    offsets.par_windows(2).map_init(Vec::new, one).flatten_iter().collect()
}

/// The bucket keys of every vector of a batch, a hash of its sides (`content`), a digest of the vector (`bag`) and flags.
pub fn key_sparse(elements: &[u64], weights: &[f64], offsets: &[i64], planes: &Planes, bands: &Bands, out: Keyed<'_>) {
    let (mut sums, mut signature) = (Vec::new(), vec![0; planes.slots]);
    let count = offsets.len() - 1;
    for (row, o) in offsets.windows(2).enumerate() {
        let of = o[0] as usize..o[1] as usize;
        let (elements, weights) = (&elements[of.clone()], &weights[of]);
        planes.sides_into(elements, weights, &mut sums, &mut signature);
        bands.keys_into(&signature, out.keys, row, count);
        out.content[row] = content(&signature, planes.seed);
        out.bag[row] = digest(elements, weights);
        out.flags[row] = if elements.is_empty() { FLAG_EMPTY } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_agree_as_often_as_the_angle_is_small() {
        let slots = 40_000;
        let planes = Planes::new(slots, 7);
        // Also where one coordinate outweighs the others together, in which normals of ±1 would always agree.
        for (a, b) in [([2.0, 1.0], [1.0, 0.0]), ([1.0, 1.0], [1.0, -1.0]), ([3.0, 4.0], [4.0, 3.0])] {
            let side = |weights: &[f64]| {
                let mut sides = vec![0; slots];
                planes.sides_into(&[mix(1), mix(2)], weights, &mut Vec::new(), &mut sides);
                sides
            };
            let agree = side(&a).iter().zip(&side(&b)).filter(|(x, y)| x == y).count() as f64 / slots as f64;
            let dot: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let expected = 1.0 - (dot / length(&a) / length(&b)).acos() / std::f64::consts::PI;
            let error = (expected * (1.0 - expected) / slots as f64).sqrt();
            assert!((agree - expected).abs() < 4.0 * error, "{agree} for {expected}");
        }
    }

    #[test]
    fn a_vector_of_nothing_is_on_every_positive_side() {
        assert_eq!(sides(&[], &[], &[0, 0], &Planes::new(5, 0)), [1; 5]);
    }
}
