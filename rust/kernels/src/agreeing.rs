//! Two blocks of signatures → the pairs that agree in enough slots, every pair looked at.
//!
//! Most pairs of a collection agree nowhere, and after a few slots have disagreed more often than they may: they are left there.

use crate::simd::{Lanes, for_each_path};

/// Slots compared before the next look at whether a pair can still make it: two vectors of the widest unit.
const STEP: usize = 32;

/// Rows `i` of the left block and `j` of the right that agree in at least so many slots, and in how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Agreeing {
    pub i: u32,
    pub j: u32,
    pub slots: u32,
}

#[inline(always)]
fn agreement_at_least(a: &[u32], b: &[u32], least: usize) -> Option<u32> {
    // As many as may disagree, and one step less is left to look at each time.
    let mut may_differ = (a.len() as isize) - least as isize;
    let (steps, others) = (a.chunks_exact(STEP), b.chunks_exact(STEP));
    let rest = steps.remainder().iter().zip(others.remainder()).filter(|(x, y)| x != y).count();
    for (x, y) in steps.zip(others) {
        let (x, y): (&[u32; STEP], &[u32; STEP]) = (x.try_into().ok()?, y.try_into().ok()?);
        let mut differ = 0i32;
        for slot in 0..STEP {
            differ += i32::from(x[slot] != y[slot]);
        }
        may_differ -= differ as isize;
        if may_differ < 0 {
            return None;
        }
    }
    may_differ -= rest as isize;
    (may_differ >= 0).then_some((least as isize + may_differ) as u32)
}

#[inline(always)]
fn agreeing_on<L: Lanes>(
    left: &[u32],
    right: &[u32],
    slots: usize,
    least: usize,
    within: bool,
    out: &mut Vec<Agreeing>,
) {
    for (i, a) in left.chunks_exact(slots).enumerate() {
        // Within one block every pair is met once, lower row first.
        let first = if within { i + 1 } else { 0 };
        for (j, b) in right.chunks_exact(slots).enumerate().skip(first) {
            if let Some(agreed) = agreement_at_least(a, b, least) {
                out.push(Agreeing { i: i as u32, j: j as u32, slots: agreed });
            }
        }
    }
}

for_each_path! {
    /// Appends the pairs of a block with another, or `within` one block, that agree in at least `least` of `slots` slots.
    pub fn agreeing(level; left: &[u32], right: &[u32], slots: usize, least: usize, within: bool, out: &mut Vec<Agreeing>) => agreeing_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;
    use crate::minhash::agreement;
    use crate::simd::Level;

    #[test]
    fn every_path_finds_what_a_double_loop_finds() {
        for (slots, least) in [(1, 1), (31, 10), (32, 1), (33, 33), (128, 70), (130, 0), (200, 120)] {
            // Signatures of a few originals with some slots redrawn, so that agreement is all there is between none and full.
            let matrix = |first: u64, rows: u64| -> Vec<u32> {
                let slot = |row: u64, slot: u64| match mix(row * 1000 + slot) % 100 < row * 3 {
                    true => mix(row << 20 | slot) as u32,
                    false => mix((row % 3) << 40 | slot) as u32,
                };
                (first..first + rows).flat_map(|row| (0..slots as u64).map(move |s| slot(row, s))).collect()
            };
            let (left, right) = (matrix(0, 20), matrix(7, 15));
            for (other, within) in [(&right, false), (&left, true)] {
                let mut expected = Vec::new();
                for (i, a) in left.chunks_exact(slots).enumerate() {
                    for (j, b) in other.chunks_exact(slots).enumerate() {
                        let agreed = agreement(a, b);
                        if agreed as usize >= least && !(within && j <= i) {
                            expected.push(Agreeing { i: i as u32, j: j as u32, slots: agreed });
                        }
                    }
                }
                for level in Level::available() {
                    let mut found = Vec::new();
                    agreeing(level, &left, other, slots, least, within, &mut found);
                    assert_eq!(found, expected, "{level:?} {slots} {least} {within}");
                }
            }
        }
    }
}
