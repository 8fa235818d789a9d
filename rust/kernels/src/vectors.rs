//! Pairs of vectors → their distance, exactly: the last word on a candidate.
//!
//! Sums are of 64-bit floats in sixteen strands (coordinate i goes to strand i mod 16), which are added up as a tree. That order is part of the answer:
//! every path keeps it, so every machine finds the same bits. No function of a system's library is called but the square root, which is exact.

use rayon::prelude::*;

use crate::hash;
use crate::projection::Coordinate;
use crate::simd::{Lanes, Level, for_each_path};

const STRANDS: usize = 16;
/// Sums of squares in between neither overflowed nor lost digits at the lower end, and nor do products of two of them.
const SAFE: std::ops::Range<f64> = 1e-140..1e140;

/// What two vectors are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// In degrees; of vectors that are not zero.
    Angle,
    /// Of the angle; of vectors that are not zero. The only one that is greater for nearer vectors.
    Cosine,
    L2,
    L1,
    /// The greatest difference of a coordinate.
    Greatest,
}

/// Rows of one width, in pieces.
pub struct Matrices<'a, T> {
    pieces: Vec<&'a [T]>,
    /// The number of each piece's first row, and at the end that of all rows.
    firsts: Vec<usize>,
    width: usize,
}

impl<'a, T> Matrices<'a, T> {
    pub fn new(pieces: Vec<&'a [T]>, width: usize) -> Matrices<'a, T> {
        let mut firsts = vec![0];
        for piece in &pieces {
            firsts.push(firsts[firsts.len() - 1] + piece.len() / width);
        }
        Matrices { pieces, firsts, width }
    }

    pub fn len(&self) -> usize {
        self.firsts[self.pieces.len()]
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, row: u32) -> &'a [T] {
        let piece = self.firsts.partition_point(|&first| first <= row as usize) - 1;
        let start = (row as usize - self.firsts[piece]) * self.width;
        &self.pieces[piece][start..start + self.width]
    }
}

/// Σ of a term of the coordinates, in strands.
#[inline(always)]
fn summed<T: Coordinate>(a: &[T], b: &[T], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut strands = [0.0; STRANDS];
    let (whole_a, whole_b) = (a.chunks_exact(STRANDS), b.chunks_exact(STRANDS));
    let (rest_a, rest_b) = (whole_a.remainder(), whole_b.remainder());
    for (x, y) in whole_a.zip(whole_b) {
        for i in 0..STRANDS {
            strands[i] += term(x[i].into(), y[i].into());
        }
    }
    for (strand, (&x, &y)) in strands.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *strand += term(x.into(), y.into());
    }
    let mut half = STRANDS / 2;
    while half > 0 {
        for i in 0..half {
            strands[i] += strands[i + half];
        }
        half /= 2;
    }
    strands[0]
}

#[inline(always)]
fn greatest<T: Coordinate>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (&x, &y)| most.max((x.into() - y.into()).abs()))
}

#[inline(always)]
fn l2<T: Coordinate>(a: &[T], b: &[T]) -> f64 {
    let square = summed(a, b, |x, y| (x - y) * (x - y));
    if SAFE.contains(&square) {
        return square.sqrt();
    }
    let power = power_under(greatest(a, b));
    let square = summed(a, b, |x, y| ((x - y) / power) * ((x - y) / power));
    square.sqrt() * power
}

/// The power of two at or under a number; of 0, the least there is with all its digits.
fn power_under(number: f64) -> f64 {
    f64::from_bits((number.to_bits() >> 52).clamp(1, 2046) << 52)
}

/// The products of two vectors with each other and themselves; where they would overflow, of the vectors times the powers of two that are given too.
#[inline(always)]
fn inner<T: Coordinate>(a: &[T], b: &[T]) -> ([f64; 3], f64, f64) {
    let sums = [summed(a, b, |x, y| x * y), summed(a, a, |x, _| x * x), summed(b, b, |y, _| y * y)];
    if SAFE.contains(&sums[1]) && SAFE.contains(&sums[2]) {
        return (sums, 1.0, 1.0);
    }
    let most = |row: &[T]| row.iter().fold(0.0, |most: f64, &x| most.max(x.into().abs()));
    // Both the power and one by it are exact, even where the latter has lost its leading digit.
    let (p, q) = (1.0 / power_under(most(a)), 1.0 / power_under(most(b)));
    let dot = summed(a, b, |x, y| (x * p) * (y * q));
    ([dot, summed(a, a, |x, _| (x * p) * (x * p)), summed(b, b, |y, _| (y * q) * (y * q))], p, q)
}

#[inline(always)]
fn cosine<T: Coordinate>(a: &[T], b: &[T]) -> f64 {
    let ([dot, aa, bb], ..) = inner(a, b);
    // Of the same vector twice the root of the product is the product itself, so its cosine is 1 to the bit.
    (dot / (aa * bb).sqrt()).clamp(-1.0, 1.0)
}

/// Twice the angle whose tangent is the quotient of the diagonals of the rhombus that the two directions span: good to the last digits for
/// small angles too, where a cosine says next to nothing.
#[inline(always)]
fn angle<T: Coordinate>(a: &[T], b: &[T], at_least: f64) -> f64 {
    let ([dot, aa, bb], p, q) = inner(a, b);
    // Farther apart than was asked for, beyond any doubt: a few more digits would not change that.
    if dot < (at_least - 1e-9) * (aa * bb).sqrt() {
        return f64::INFINITY;
    }
    let (shrink_a, shrink_b) = (1.0 / aa.sqrt(), 1.0 / bb.sqrt());
    let across = summed(a, b, |x, y| square(x * p * shrink_a - y * q * shrink_b));
    let along = summed(a, b, |x, y| square(x * p * shrink_a + y * q * shrink_b));
    2.0 * arc_tangent((across / along).sqrt()) * DEGREES
}

#[inline(always)]
fn square(x: f64) -> f64 {
    x * x
}

const DEGREES: f64 = 180.0 / std::f64::consts::PI;

/// The angle, in radians, of a tangent that is 0 or more, infinity included.
fn arc_tangent(x: f64) -> f64 {
    if x > 1.0 {
        return std::f64::consts::FRAC_PI_2 - arc_tangent(1.0 / x);
    }
    // Halved twice, after which a short series does: tan(θ/2) = t / (1 + √(1 + t²)).
    let half = x / (1.0 + (1.0 + x * x).sqrt());
    let quarter = half / (1.0 + (1.0 + half * half).sqrt());
    // θ = t − t³/3 + t⁵/5 − …, t < .199: the first term left out is under 2⁻⁵⁶ of the sum.
    let square = quarter * quarter;
    let mut series = 0.0;
    for odd in (1..=23).rev().step_by(2) {
        series = 1.0 / f64::from(odd) - series * square;
    }
    4.0 * quarter * series
}

#[inline(always)]
fn compare_on<L: Lanes, T: Coordinate>(
    items: &Matrices<'_, T>,
    a: &[u32],
    b: &[u32],
    measure: Measure,
    cosine_at_least: f64,
    out: &mut [f64],
) {
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        let (a, b) = (items.get(a), items.get(b));
        *out = match measure {
            Measure::Angle => angle(a, b, cosine_at_least),
            Measure::Cosine => cosine(a, b),
            Measure::L2 => l2(a, b),
            Measure::L1 => summed(a, b, |x, y| (x - y).abs()),
            Measure::Greatest => greatest(a, b),
        };
    }
}

for_each_path! {
    fn compare_piece<T: Coordinate>(level; items: &Matrices<'_, T>, a: &[u32], b: &[u32], measure: Measure, least: f64, out: &mut [f64]) => compare_on
}

/// The distance (or cosine) of rows `a[i]` and `b[i]`. An angle whose cosine is clearly under `cosine_at_least` may be given as infinite.
pub fn compare<T: Coordinate>(
    level: Level,
    items: &Matrices<'_, T>,
    a: &[u32],
    b: &[u32],
    measure: Measure,
    cosine_at_least: f64,
    out: &mut [f64],
) {
    const PIECE: usize = 256;
    out.par_chunks_mut(PIECE)
        .zip(a.par_chunks(PIECE).zip(b.par_chunks(PIECE)))
        .for_each(|(out, (a, b))| compare_piece(level, items, a, b, measure, cosine_at_least, out));
}

/// A hash of every row: the same for the same numbers, 0 and −0 included, whatever their width in bits.
pub fn contents<T: Coordinate>(values: &[T], width: usize, seed: u64, out: &mut [u64]) {
    let begun = hash::begin(hash::spread_seed(seed), width);
    for (row, out) in values.chunks_exact(width).zip(out) {
        // Four strands, so that one multiplication need not wait for another.
        let mut strands = [0, 1, 2, 3].map(|strand| begun ^ strand);
        for (i, &x) in row.iter().enumerate() {
            // Of −0 and 0 the sum is 0.
            strands[i % 4] = hash::round(strands[i % 4], (x.into() + 0.0).to_bits());
        }
        *out = hash::mix(strands.into_iter().fold(begun, hash::round));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    fn some_rows(rows: usize, width: usize, size: f64) -> Vec<f64> {
        (0..rows * width).map(|i| ((mix(i as u64) >> 40) as f64 / 1e6 - 8.0) * size).collect()
    }

    fn one(measure: Measure, a: &[f64], b: &[f64]) -> f64 {
        let mut out = [0.0];
        compare(Level::detect(), &Matrices::new(vec![a, b], a.len()), &[0], &[1], measure, -1.0, &mut out);
        out[0]
    }

    #[test]
    fn the_arc_tangent_is_that_of_the_library_to_its_last_digits() {
        for i in 0..20_000u64 {
            let x = (mix(i) >> 11) as f64 / (1u64 << 53) as f64 * if i % 2 == 0 { 1.0 } else { 100.0 };
            assert!((arc_tangent(x) - x.atan()).abs() <= 6e-16 * x.atan(), "{x}");
        }
        assert_eq!(arc_tangent(0.0), 0.0);
        assert_eq!(arc_tangent(f64::INFINITY), std::f64::consts::FRAC_PI_2);
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        for width in [1, 15, 16, 17, 128, 301] {
            let values = some_rows(40, width, 1.0);
            let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
            let (a, b): (Vec<u32>, Vec<u32>) = (0..400).map(|i| (i % 40, (i * 7 + i / 40) % 40)).unzip();
            for measure in [Measure::Angle, Measure::Cosine, Measure::L2, Measure::L1, Measure::Greatest] {
                let answers: Vec<(Vec<f64>, Vec<f64>)> = Level::available()
                    .into_iter()
                    .map(|level| {
                        let (mut wide, mut small) = (vec![0.0; 400], vec![0.0; 400]);
                        let cut = 13 * width;
                        compare(
                            level,
                            &Matrices::new(vec![&values[..cut], &values[cut..]], width),
                            &a,
                            &b,
                            measure,
                            -1.0,
                            &mut wide,
                        );
                        compare(level, &Matrices::new(vec![&narrow], width), &a, &b, measure, -1.0, &mut small);
                        (wide, small)
                    })
                    .collect();
                assert!(answers.iter().all(|answer| *answer == answers[0]));
            }
        }
    }

    #[test]
    fn known_distances() {
        let (a, b) = ([0.0, 3.0, 0.0], [4.0, 0.0, 0.0]);
        assert_eq!(one(Measure::L2, &a, &b), 5.0);
        assert_eq!(one(Measure::L1, &a, &b), 7.0);
        assert_eq!(one(Measure::Greatest, &a, &b), 4.0);
        assert_eq!(one(Measure::Cosine, &a, &b), 0.0);
        assert!((one(Measure::Angle, &a, &b) - 90.0).abs() < 1e-13);
        assert!((one(Measure::Angle, &[1.0, 0.0], &[1.0, 1.0]) - 45.0).abs() < 1e-13);
        assert_eq!(one(Measure::Angle, &[1.0, 2.0], &[-1.0, -2.0]), 180.0);
    }

    #[test]
    fn size_does_not_matter_to_angles_and_only_scales_distances() {
        let (a, b) = (some_rows(1, 20, 1.0), some_rows(2, 20, 1.0)[20..].to_vec());
        for power in [-900, -300, 300, 900] {
            let size = 2f64.powi(power);
            let (p, q): (Vec<f64>, Vec<f64>) =
                (a.iter().map(|x| x * size).collect(), b.iter().map(|x| x * size).collect());
            assert!((one(Measure::Angle, &p, &b) - one(Measure::Angle, &a, &b)).abs() < 1e-12);
            assert!((one(Measure::Cosine, &a, &q) - one(Measure::Cosine, &a, &b)).abs() < 1e-15);
            assert!((one(Measure::L2, &p, &q) / size - one(Measure::L2, &a, &b)).abs() < 1e-12);
            assert_eq!(one(Measure::Angle, &p, &p), 0.0);
            assert_eq!(one(Measure::Cosine, &p, &p), 1.0);
            assert_eq!(one(Measure::L2, &p, &p), 0.0);
        }
    }

    #[test]
    fn content_tells_rows_apart_and_zeros_not() {
        let values = some_rows(100, 7, 1.0);
        let mut out = vec![0; 100];
        contents(&values, 7, 0, &mut out);
        let distinct: std::collections::BTreeSet<u64> = out.iter().copied().collect();
        assert_eq!(distinct.len(), 100);
        let (mut plus, mut minus, mut narrow) = ([0], [0], [0]);
        contents(&[0.0, 1.5], 2, 0, &mut plus);
        contents(&[-0.0, 1.5], 2, 0, &mut minus);
        contents(&[0.0f32, 1.5], 2, 0, &mut narrow);
        assert!(plus == minus && plus == narrow);
    }
}
