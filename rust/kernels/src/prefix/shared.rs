//! Candidates → exact counts of what two sets share, each pair once.

use super::bound::{Bound, UNREACHABLE};
use crate::verify::Rows;

/// Candidates among sets: places `a` and `b`, and where in each the common element stands.
#[derive(Clone, Copy)]
pub struct Met<'a> {
    pub a: &'a [u32],
    pub b: &'a [u32],
    pub at_a: &'a [u32],
    pub at_b: &'a [u32],
}

/// What a pair of sets shares, and their sizes. `shared` is 0 for a candidate turned away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    pub shared: u32,
    pub size_a: u32,
    pub size_b: u32,
}

/// Counts of the candidates that met at their first common element and share enough.
///
/// Others are turned away: a pair that has an earlier common element is a candidate there too. With `suffix`, sets that differ too much behind the
/// common element are first looked for by halving. `whole` candidates met for no element, and once: all of them are counted.
pub fn shared(
    sets: &Rows<'_, u64>,
    met: Met<'_>,
    bound: Bound,
    across: bool,
    suffix: bool,
    whole: bool,
) -> Vec<Shared> {
    let mut out = Vec::with_capacity(met.a.len());
    for i in 0..met.a.len() {
        let (a, b) = (sets.get(met.a[i]), sets.get(met.b[i]));
        let (size_a, size_b) = (a.len() as u32, b.len() as u32);
        let least = bound.least(size_a, size_b, across);
        let shared = if whole {
            // Nothing in common is never enough, whatever is asked.
            count_behind(a, b, least.max(1) as usize, suffix)
        } else {
            count(a, b, (met.at_a[i] as usize, met.at_b[i] as usize), least, suffix)
        };
        out.push(Shared { shared, size_a, size_b });
    }
    out
}

fn count(a: &[u64], b: &[u64], (at_a, at_b): (usize, usize), least: u32, suffix: bool) -> u32 {
    // Keys of entries may collide: an element that is not common is not the first common one.
    if least == UNREACHABLE || a[at_a] != b[at_b] || meet(&a[..at_a], &b[..at_b]) {
        return 0;
    }
    let least_behind = least.saturating_sub(1) as usize;
    match count_behind(&a[at_a + 1..], &b[at_b + 1..], least_behind, suffix) {
        0 if least_behind > 0 => 0,
        behind => behind + 1,
    }
}

/// How many elements two sorted slices share, if they are at least `least`; else 0.
fn count_behind(a: &[u64], b: &[u64], least: usize, suffix: bool) -> u32 {
    if least > a.len().min(b.len()) {
        return 0;
    }
    let most_different = a.len() + b.len() - 2 * least;
    if suffix && differing(a, b, most_different, HALVINGS) > most_different {
        return 0;
    }
    merge(a, b, least).unwrap_or(0)
}

/// Whether two sorted slices have anything in common.
fn meet(mut a: &[u64], mut b: &[u64]) -> bool {
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        if x == y {
            return true;
        }
        // Both steps without a branch to guess.
        (a, b) = (&a[usize::from(x < y)..], &b[usize::from(y < x)..]);
    }
    false
}

/// How many elements two sorted slices share; `None` as soon as it is clear that they are fewer than `least`.
fn merge(a: &[u64], b: &[u64], least: usize) -> Option<u32> {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if shared + (a.len() - i).min(b.len() - j) < least {
            return None;
        }
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    (shared >= least).then_some(shared as u32)
}

/// How often the suffix filter halves: each look is a search in one of the sets, and a count costs little more than a few of them.
const HALVINGS: u32 = 3;

/// A number of elements that two sorted slices have at least not in common; exact enough to stop once it is over `most`.
///
/// The middle element of one slice cuts the other in two, and elements before can only be shared with elements before.
fn differing(a: &[u64], b: &[u64], most: usize, halvings: u32) -> usize {
    let apart = a.len().abs_diff(b.len());
    if halvings == 0 || apart > most || a.is_empty() || b.is_empty() {
        return apart;
    }
    let middle = b.len() / 2;
    let pivot = b[middle];
    let cut = a.partition_point(|&x| x < pivot);
    let found = usize::from(cut < a.len() && a[cut] == pivot);
    let (before_a, behind_a) = (&a[..cut], &a[cut + found..]);
    let (before_b, behind_b) = (&b[..middle], &b[middle + 1..]);
    let missing = 1 - found;
    let behind_apart = behind_a.len().abs_diff(behind_b.len());
    let before = differing(before_a, before_b, most.saturating_sub(behind_apart + missing), halvings - 1);
    if before + behind_apart + missing > most {
        return before + behind_apart + missing;
    }
    before + missing + differing(behind_a, behind_b, most - before - missing, halvings - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use std::collections::BTreeSet;

    fn drawn(seed: u64, size: u64, universe: u64) -> Vec<u64> {
        (0..size).map(|i| mix(seed << 32 | i) % universe).collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn halving_never_claims_more_differences_than_there_are() {
        for seed in 0..3000 {
            let (a, b) = (drawn(seed, mix(seed) % 30, 40), drawn(seed + 9999, mix(seed + 1) % 30, 40));
            let shared = a.iter().filter(|x| b.contains(x)).count();
            let exact = a.len() + b.len() - 2 * shared;
            for most in 0..60 {
                for halvings in 0..6 {
                    let claimed = differing(&a, &b, most, halvings);
                    assert!(claimed <= exact, "{a:?} {b:?} {most} {halvings}");
                }
            }
        }
    }

    #[test]
    fn a_count_is_given_up_only_if_it_is_too_small() {
        for seed in 0..3000 {
            let (a, b) = (drawn(seed, mix(seed) % 20, 30), drawn(seed + 9999, mix(seed + 1) % 20, 30));
            let shared = a.iter().filter(|x| b.contains(x)).count();
            assert_eq!(meet(&a, &b), shared > 0);
            for least in 0..20 {
                assert_eq!(merge(&a, &b, least), (shared >= least).then_some(shared as u32));
            }
        }
    }
}
