//! Weighted sets → signatures that agree as often as Σmin/Σmax, and that measure itself.
//!
//! Consistent weighted sampling (Ioffe, 2010). In every slot an element has a random grid of weights on a logarithmic scale, of a step `r` and an
//! offset of its own. Its weight is rounded down to the grid, to the point `t`, and ranks by how far above a random height the next point is; the
//! element of least rank is the sample, and the slot holds a hash of it and `t`. A weight moves a rank only where it moves `t`, so two sets pick the same
//! element and point with probability exactly Σmin/Σmax.
//!
//! All of it is sums, products and quotients of 64-bit floats and a logarithm made of them ([`logarithm`]), so a slot is the same on every machine.

use rayon::prelude::*;

use crate::draws::logarithm;
use crate::hash::{mix, spread_seed};
use crate::minhash::{EMPTY, content};
use crate::sign::{FLAG_EMPTY, Signed};
use crate::verify::Rows;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Set the further random numbers of an element in a slot apart from the first.
const HEIGHT: u64 = 0xD1B5_4A32_D192_ED03;
const OFFSET: u64 = 0x8CB9_2BA7_2F3D_8DD7;

/// Rows handed to a thread at a time.
const ROWS: usize = 16;

/// The random grids of all slots.
pub struct Grids {
    keys: Vec<u64>,
    seed: u64,
}

impl Grids {
    /// `seed` as the user gave it.
    pub fn new(slots: usize, seed: u64) -> Grids {
        let start = spread_seed(seed ^ 0x6772_6964_7300_0000);
        let keys = (1..=slots as u64).map(|slot| mix(start.wrapping_add(slot.wrapping_mul(STEP)))).collect();
        Grids { keys, seed: spread_seed(seed) }
    }

    pub fn slots(&self) -> usize {
        self.keys.len()
    }
}

/// Writes the signature of one weighted set. Weights are over 0 and finite; `logarithms` is a buffer.
///
/// The logarithm of a rank is ln c − r·(t − β + 1), of which only `t` depends on the weight: two sets whose weights of an element round to the same
/// point give it the same bits. Ties go to the lesser element.
fn sign_into(elements: &[u64], weights: &[f64], grids: &Grids, logarithms: &mut Vec<f64>, signature: &mut [u32]) {
    logarithms.clear();
    logarithms.extend(weights.iter().map(|&weight| log_weight(weight)));
    for (slot, &key) in signature.iter_mut().zip(&grids.keys) {
        let (mut least, mut first, mut at) = (f64::INFINITY, u64::MAX, 0);
        for (&element, &weight) in elements.iter().zip(logarithms.iter()) {
            let drawn = mix(element ^ key);
            let step = gamma(drawn);
            let height = logarithm(gamma(mix(drawn ^ HEIGHT)));
            let offset = ((mix(drawn ^ OFFSET) >> 12) as f64 + 0.5) / (1u64 << 52) as f64;
            let point = (weight / step + offset).floor();
            let rank = height - step * (point - offset + 1.0);
            if rank < least || (rank == least && element < first) {
                (least, first, at) = (rank, element, point as i64);
            }
        }
        let sample = (mix(first ^ mix((at as u64).wrapping_add(STEP))) >> 32) as u32;
        *slot = if elements.is_empty() { EMPTY } else { sample.min(EMPTY - 1) };
    }
}

/// The sum of two exponential numbers, from the halves of a hash: −ln of the product of two uniform ones.
#[inline(always)]
fn gamma(drawn: u64) -> f64 {
    let uniform = |half: u64| (half as f64 + 0.5) / (1u64 << 32) as f64;
    -logarithm(uniform(drawn >> 32) * uniform(drawn & 0xFFFF_FFFF))
}

fn log_weight(weight: f64) -> f64 {
    const SMALL: i32 = 54;
    if weight < f64::MIN_POSITIVE {
        // Brought up to where a number has all its digits.
        return logarithm(weight * (1u64 << SMALL) as f64) - f64::from(SMALL) * std::f64::consts::LN_2;
    }
    logarithm(weight)
}

/// Signs every weighted set of a batch. `weights` has an entry for every element.
pub fn sign_weighted(elements: &[u64], weights: &[f64], offsets: &[i64], grids: &Grids, out: Signed<'_>) {
    let slots = grids.slots();
    let pieces = out.signatures.par_chunks_mut(ROWS * slots).zip(out.content.par_chunks_mut(ROWS));
    let pieces = pieces.zip(out.bag.par_chunks_mut(ROWS)).zip(out.flags.par_chunks_mut(ROWS));
    pieces.enumerate().for_each_init(Vec::new, |logarithms, (piece, (((signatures, contents), digests), flags))| {
        for (i, signature) in signatures.chunks_mut(slots).enumerate() {
            let row = piece * ROWS + i;
            let of = offsets[row] as usize..offsets[row + 1] as usize;
            let (elements, weights) = (&elements[of.clone()], &weights[of]);
            sign_into(elements, weights, grids, logarithms, signature);
            contents[i] = content(signature, grids.seed);
            digests[i] = digest(elements, weights);
            flags[i] = if elements.is_empty() { FLAG_EMPTY } else { 0 };
        }
    });
}

/// Equal for equal weighted sets, and nearly only for them.
pub fn digest(elements: &[u64], weights: &[f64]) -> u64 {
    elements.iter().zip(weights).fold(0, |sum, (&x, w)| sum.wrapping_add(mix(x ^ mix(w.to_bits()))))
}

/// Weighted sets by row number: their elements, and their weights.
pub struct WeightedRows<'a> {
    pub elements: Rows<'a, u64>,
    pub weights: Rows<'a, f64>,
}

impl<'a> WeightedRows<'a> {
    fn get(&self, row: u32) -> (&'a [u64], &'a [f64]) {
        (self.elements.get(row), self.weights.get(row))
    }
}

/// What two weighted sets are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Σmin/Σmax.
    Jaccard,
    /// Σab / √(Σa²·Σb²).
    Cosine,
}

/// The similarity of every candidate. Sets are sorted by element, and sums run in that order.
pub fn compare(rows: &WeightedRows<'_>, a: &[u32], b: &[u32], measure: Measure) -> Vec<f64> {
    let one = |(&a, &b): (&u32, &u32)| {
        let (a, b) = (rows.get(a), rows.get(b));
        match measure {
            Measure::Jaccard => jaccard(a, b),
            Measure::Cosine => cosine(a, b),
        }
    };
    a.par_iter().zip(b).with_min_len(64).map(one).collect()
}

type Weighted<'a> = (&'a [u64], &'a [f64]);

fn jaccard(a: Weighted<'_>, b: Weighted<'_>) -> f64 {
    let (mut least, mut most) = (0.0, 0.0);
    side_by_side(a, b, |x, y| {
        least += x.min(y);
        most += x.max(y);
    });
    if most > 0.0 { least / most } else { 0.0 }
}

fn cosine(a: Weighted<'_>, b: Weighted<'_>) -> f64 {
    let mut product = 0.0;
    side_by_side(a, b, |x, y| product += x * y);
    let square = |weights: &[f64]| weights.iter().fold(0.0, |sum, w| sum + w * w);
    let lengths = (square(a.1) * square(b.1)).sqrt();
    if lengths > 0.0 { (product / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The weights of every element of either set, 0 where it is not.
fn side_by_side(a: Weighted<'_>, b: Weighted<'_>, mut take: impl FnMut(f64, f64)) {
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() || j < b.0.len() {
        let (left, right) = (a.0.get(i).copied(), b.0.get(j).copied());
        let of_a = right.is_none_or(|right| left.is_some_and(|left| left <= right));
        let of_b = left.is_none_or(|left| right.is_some_and(|right| right <= left));
        take(if of_a { a.1[i] } else { 0.0 }, if of_b { b.1[j] } else { 0.0 });
        i += usize::from(of_a);
        j += usize::from(of_b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(elements: &[u64], weights: &[f64], slots: usize, seed: u64) -> Vec<u32> {
        let mut signature = vec![0; slots];
        sign_into(elements, weights, &Grids::new(slots, seed), &mut Vec::new(), &mut signature);
        signature
    }

    #[test]
    fn slots_agree_as_often_as_weights_overlap() {
        let (a, b) = ([mix(1), mix(2), mix(3)], [mix(2), mix(3), mix(4)]);
        let (wa, wb) = ([0.5, 3.0, 1e-3], [1.5, 2e-3, 0.7]);
        // Σmin over Σmax: 1.5 + .001 of .5 + 3 + .002 + .7.
        let expected: f64 = 1.501 / 4.202;
        let slots = 40_000;
        let (one, other) = (signed(&a, &wa, slots, 5), signed(&b, &wb, slots, 5));
        let agree = one.iter().zip(&other).filter(|(x, y)| x == y).count() as f64 / slots as f64;
        let error = (expected * (1.0 - expected) / slots as f64).sqrt();
        assert!((agree - expected).abs() < 4.0 * error, "{agree} for {expected}");
    }

    #[test]
    fn order_does_not_matter_and_an_empty_set_is_empty() {
        let (elements, weights) = ([mix(1), mix(2), mix(3)], [0.5, 3.0, 1e-310]);
        let (backwards, heavy) = ([mix(3), mix(2), mix(1)], [1e-310, 3.0, 0.5]);
        assert_eq!(signed(&elements, &weights, 64, 0), signed(&backwards, &heavy, 64, 0));
        assert_eq!(signed(&[], &[], 3, 0), [EMPTY; 3]);
    }

    #[test]
    fn measures_are_those_of_hand() {
        let (a, b) = ((&[1u64, 2, 5][..], &[1.0, 2.0, 2.0][..]), (&[2u64, 5, 9][..], &[4.0, 1.0, 8.0][..]));
        assert_eq!(jaccard(a, b), 3.0 / 15.0);
        assert_eq!(cosine(a, b), 10.0 / 27.0);
        assert_eq!(jaccard((&[], &[]), (&[], &[])), 0.0);
        assert_eq!(cosine((&[], &[]), a), 0.0);
    }
}
