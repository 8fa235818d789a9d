//! Random numbers that are the same everywhere: counters in, uniform, normal and Cauchy numbers out.
//!
//! A number depends on the seed, the function (slot) and the coordinate it is for, and on nothing else: it does not matter in what order numbers are
//! drawn, and a longer signature begins with the shorter one. Normal numbers come by the inverse of their distribution (Wichura's AS241, sixteen
//! digits), whose logarithm is written out here: additions, products, quotients and square roots are the same bits on every machine, the
//! logarithm of a system's library is not.

use crate::hash::{mix, spread_seed};

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The numbers of one function.
#[derive(Clone, Copy)]
pub struct Draws {
    begun: u64,
}

impl Draws {
    pub fn new(seed: u64, slot: usize) -> Draws {
        Draws { begun: mix(spread_seed(seed) ^ mix((slot as u64).wrapping_add(STEP))) }
    }

    /// 64 random bits, the `at`-th of this function.
    #[inline]
    pub fn bits(self, at: usize) -> u64 {
        mix(mix(self.begun.wrapping_add((at as u64).wrapping_mul(STEP))) ^ self.begun)
    }

    /// Over 0 and under 1, evenly; a multiple of 2⁻⁵³ and a half of that.
    #[inline]
    pub fn uniform(self, at: usize) -> f64 {
        ((self.bits(at) >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Normal, of mean 0 and variance 1.
    pub fn normal(self, at: usize) -> f64 {
        inverse_normal(self.uniform(at))
    }

    /// Cauchy: the quotient of two normal numbers.
    pub fn cauchy(self, at: usize) -> f64 {
        self.normal(2 * at) / self.normal(2 * at + 1)
    }

    /// 1 or −1.
    pub fn sign(self, at: usize) -> f64 {
        if self.bits(at) >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

/// The number that a normal number is under with probability `p`, 0 < p < 1.
pub fn inverse_normal(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&NEAR.0, r) / polynomial(&NEAR.1, r);
    }
    let r = (-logarithm(if q < 0.0 { p } else { 1.0 - p })).sqrt();
    let (table, r) = if r <= 5.0 { (&FAR, r - 1.6) } else { (&FARTHEST, r - 5.0) };
    let x = polynomial(&table.0, r) / polynomial(&table.1, r);
    if q < 0.0 { -x } else { x }
}

/// The natural logarithm of a positive normal number, to some 2⁻⁵² of itself.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & 0x000F_FFFF_FFFF_FFFF | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // 2·atanh(s) = 2·(s + s³/3 + s⁵/5 + …), |s| < .172: the first term left out is under 2⁻⁵⁵ of the sum.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    for odd in (1..=21).rev().step_by(2) {
        series = series * square + 1.0 / f64::from(odd);
    }
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Σ coefficients[i]·xⁱ, from the last term on.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

type Quotient = ([f64; 8], [f64; 8]);

#[allow(clippy::excessive_precision)]
const NEAR: Quotient = (
    [
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ],
    [
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ],
);

#[allow(clippy::excessive_precision)]
const FAR: Quotient = (
    [
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ],
    [
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ],
);

#[allow(clippy::excessive_precision)]
const FARTHEST: Quotient = (
    [
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ],
    [
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library_to_its_last_digits() {
        for i in 1..20_000u64 {
            let x = (mix(i) >> 11) as f64 / (1u64 << 53) as f64 * if i % 2 == 0 { 1.0 } else { 1e-9 };
            assert!((logarithm(x) - x.ln()).abs() <= 1e-15 * x.ln().abs().max(1e-3), "{x}");
        }
    }

    #[test]
    fn the_inverse_normal_has_known_values_and_is_odd() {
        for (p, x) in [
            (0.975, 1.959_963_984_540_054),
            (0.5, 0.0),
            (1e-9, -5.997_807_015_007_686_5),
            (1e-20, -9.262_340_089_798_408),
        ] {
            assert!((inverse_normal(p) - x).abs() < 1e-14 * f64::max(1.0, x.abs()), "{p}: {}", inverse_normal(p));
        }
        for i in 1..1000 {
            let p = f64::from(i) / 1024.0;
            assert_eq!(inverse_normal(p), -inverse_normal(1.0 - p));
        }
    }

    #[test]
    fn normal_numbers_have_the_moments_of_normal_numbers() {
        let drawn: Vec<f64> =
            (0..400).flat_map(|slot| (0..500).map(move |at| Draws::new(3, slot).normal(at))).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
        let n = (drawn.len() as f64).sqrt();
        assert!(moment(1).abs() < 4.0 / n);
        assert!((moment(2) - 1.0).abs() < 4.0 * 2f64.sqrt() / n);
        assert!((moment(4) - 3.0).abs() < 4.0 * 96f64.sqrt() / n);
    }
}
