//! A threshold as the least number of elements that two sets of given sizes must share.

/// What is asked of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// i / (a + b − i) is at least this.
    Jaccard(f64),
    /// i / a is at least this.
    Containment(f64),
    /// i / √(a · b) is at least this.
    Cosine(f64),
    /// i is at least this.
    Overlap(f64),
    /// The sets are q-grams of strings: sizes differ by at most `apart`, and at most `lost` of the larger set are not in the other.
    Levenshtein { apart: u32, lost: u32 },
    /// As above, and at most `lost` grams of the two together are not in the other.
    Indel { apart: u32, lost: u32 },
}

/// More than two sets can share.
pub const UNREACHABLE: u32 = u32::MAX;

impl Bound {
    /// The similarity in f64, by the very operations of the measure users see: no rounding of our own comes between.
    fn similarity(self, shared: u32, a: u32, b: u32) -> f64 {
        let (i, a, b) = (f64::from(shared), f64::from(a), f64::from(b));
        match self {
            Bound::Jaccard(_) => i / (a + b - i),
            Bound::Containment(_) => i / a,
            Bound::Cosine(_) => i / (a * b).sqrt(),
            _ => i,
        }
    }

    /// The least count that sets of sizes `a` and `b` must share: `UNREACHABLE` if they cannot, 0 if the bound says nothing about them.
    ///
    /// Exact: it is the least `i` whose similarity, computed in f64, reaches the threshold. It never falls when a size grows.
    pub fn least_shared(self, a: u32, b: u32) -> u32 {
        let (x, y) = (f64::from(a), f64::from(b));
        let (threshold, near) = match self {
            Bound::Jaccard(t) => (t, t / (1.0 + t) * (x + y)),
            Bound::Containment(t) => (t, t * x),
            Bound::Cosine(t) => (t, t * (x * y).sqrt()),
            Bound::Overlap(t) => (t, t),
            Bound::Levenshtein { apart, lost } => return grams(a, b, apart, a.max(b).saturating_sub(lost)),
            Bound::Indel { apart, lost } => {
                let both = (u64::from(a) + u64::from(b)).saturating_sub(u64::from(lost));
                return grams(a, b, apart, both.div_ceil(2) as u32);
            }
        };
        let most = a.min(b);
        // The real number is off by a rounding at most; the loops put that right and seldom turn more than once.
        let mut least = (near as u32).clamp(1, most.max(1));
        while least <= most && self.similarity(least, a, b) < threshold {
            least += 1;
        }
        while least > 1 && self.similarity(least - 1, a, b) >= threshold {
            least -= 1;
        }
        if least > most { UNREACHABLE } else { least }
    }

    /// As above. Where it does not matter which set is the first (not `across` two collections), the weaker of the two questions: only
    /// containment tells them apart, and it asks less of the smaller set.
    #[inline]
    pub fn least(self, a: u32, b: u32, across: bool) -> u32 {
        if across { self.least_shared(a, b) } else { self.least_shared(a.min(b), a.max(b)) }
    }
}

fn grams(a: u32, b: u32, apart: u32, least: u32) -> u32 {
    if a.abs_diff(b) > apart || least > a.min(b) { UNREACHABLE } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_count_is_the_first_that_reaches_the_threshold() {
        let thresholds = [1e-12, 0.1, 1.0 / 3.0, 0.5, 0.6, 2.0 / 3.0, 0.7, 0.75, 0.8, 0.9, 0.99, 1.0];
        for t in thresholds {
            for bound in [Bound::Jaccard(t), Bound::Containment(t), Bound::Cosine(t), Bound::Overlap(t * 20.0)] {
                let threshold = if let Bound::Overlap(t) = bound { t } else { t };
                for a in 1..60 {
                    let mut before = 0;
                    for b in 1..60 {
                        let expected = (1..=a.min(b)).find(|&i| bound.similarity(i, a, b) >= threshold);
                        let least = bound.least_shared(a, b);
                        assert_eq!(least, expected.unwrap_or(UNREACHABLE), "{bound:?} {a} {b}");
                        // A larger partner needs as many or more, until it is too large; a small one cannot hold enough.
                        assert!(b < a || least >= before, "{bound:?} {a} {b}");
                        before = if b < a { 0 } else { least };
                    }
                }
            }
        }
    }

    #[test]
    fn a_giant_set_and_a_tiny_threshold_are_within_range() {
        assert_eq!(Bound::Jaccard(1e-300).least_shared(u32::MAX, u32::MAX), 1);
        assert_eq!(Bound::Jaccard(1.0).least_shared(u32::MAX - 1, u32::MAX - 1), u32::MAX - 1);
        assert_eq!(Bound::Overlap(1e18).least_shared(u32::MAX - 1, 7), UNREACHABLE);
        assert_eq!(Bound::Jaccard(0.5).least_shared(0, 0), UNREACHABLE);
    }
}
