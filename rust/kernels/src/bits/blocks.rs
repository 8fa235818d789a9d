//! Every row of a block with every row of another, or of one with itself.
//!
//! Rows that are near are near when folded to 64 bits too, and of those a vector unit compares eight at a time; the rows themselves are looked at only
//! where the folded ones allow it. If rows stand in the order of how many bits they have set, those whose numbers differ too much are not looked at at all.

use super::{Apart, Bound, Rows, apart, folded, for_each_count, near_on, sizes};
use crate::simd::{Lanes, Level};

/// One row of the left block: its folded bits, which rows of the right block to look at, and how many folded bits may differ.
struct Asked {
    folded: u64,
    from: usize,
    to: usize,
    most: u32,
}

#[inline(always)]
fn folded_near_on<L: Lanes>(asked: &[Asked], folds: &[u64], out: &mut Vec<(u32, u32)>) {
    for (i, row) in asked.iter().enumerate() {
        near_on::<L>(row.folded, &folds[row.from..row.to], row.most, |j, _| out.push((i as u32, row.from as u32 + j)));
    }
}

for_each_count! {
    /// Appends the pairs whose folded bits do not tell them apart.
    fn folded_near(level; asked: &[Asked], folds: &[u64], out: &mut Vec<(u32, u32)>) => folded_near_on
}

/// The pairs of a block with another, or of the rows of `left` with each other, that reach the bound; by rows of the left, then of the right.
pub fn pairs(level: Level, left: Rows<'_>, right: Option<Rows<'_>>, bound: Bound) -> Vec<Apart> {
    let (within, right) = (right.is_none(), right.unwrap_or(left));
    let counted = |rows: Rows<'_>| {
        let mut counts = vec![0; rows.len()];
        sizes(level, rows, &mut counts);
        counts
    };
    let (set, others) = (counted(left), counted(right));
    let folds: Vec<u64> = right.iter().map(folded).collect();
    let in_order = others.is_sorted();
    let largest = others.iter().copied().max().unwrap_or(0);
    let asked: Vec<Asked> = left
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let first = if within { i + 1 } else { 0 };
            // Sizes that allow a pair are neighbours: too small ones come first, too large ones last.
            let (from, to) = match in_order {
                true => (
                    others.partition_point(|&size| size < set[i] && !bound.sizes_allow(set[i], size)),
                    others.partition_point(|&size| size <= set[i] || bound.sizes_allow(set[i], size)),
                ),
                false => (0, others.len()),
            };
            let (from, to) = (from.max(first), to.max(first));
            let greatest = if in_order && from < to { others[to - 1] } else { largest };
            Asked { folded: folded(row), from, to: to.max(from), most: bound.most_apart(set[i], greatest) }
        })
        .collect();
    let mut candidates = Vec::new();
    folded_near(level, &asked, &folds, &mut candidates);
    let mut found = Vec::new();
    for (i, j) in candidates {
        let bits = apart(left.get(i as usize), right.get(j as usize));
        if bound.reached(set[i as usize], others[j as usize], bits) {
            found.push(Apart { a: i, b: j, bits });
        }
    }
    found
}

#[inline(always)]
fn every_pair_on<L: Lanes>(left: Rows<'_>, right: Rows<'_>, within: bool, bound: Bound, out: &mut Vec<Apart>) {
    let (mut set, mut others) = (vec![0; left.len()], vec![0; right.len()]);
    super::sizes_on::<L>(left, &mut set);
    super::sizes_on::<L>(right, &mut others);
    // What is allowed depends on how many bits are set in both together: looked up, where to work it out takes a division.
    let most_set = set.iter().chain(&others).copied().max().unwrap_or(0);
    let allowed: Vec<u32> = (0..=2 * most_set).map(|set| bound.most_apart(set, 0)).collect();
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate().skip(if within { i + 1 } else { 0 }) {
            let bits = apart(x, y);
            if bits <= allowed[(set[i] + others[j]) as usize] && bound.reached(set[i], others[j], bits) {
                out.push(Apart { a: i as u32, b: j as u32, bits });
            }
        }
    }
}

for_each_count! {
    /// The same by counting all bits of all pairs: the reference, and what a plain scan costs.
    pub fn every_pair(level; left: Rows<'_>, right: Rows<'_>, within: bool, bound: Bound, out: &mut Vec<Apart>) => every_pair_on
}

#[cfg(test)]
mod tests {
    use super::super::clustered;
    use super::*;

    #[test]
    fn folded_bits_lose_no_pair() {
        for words in [1, 3, 32] {
            let (one, other) = (clustered(90, words, 20, 1), clustered(150, words, 20, 1));
            let mut sorted: Vec<&[u64]> = other.chunks(words).collect();
            sorted.sort_by_key(|row| row.iter().map(|word| word.count_ones()).sum::<u32>());
            let sorted = sorted.concat();
            for bound in [Bound::Hamming(0), Bound::Hamming(6), Bound::Tanimoto(0.7), Bound::Tanimoto(1.0)] {
                for (left, right) in [(&one, Some(&other)), (&one, Some(&sorted)), (&other, None), (&sorted, None)] {
                    let rows = Rows::new(left, words);
                    let others = right.map(|right| Rows::new(right, words));
                    let mut expected = Vec::new();
                    every_pair(Level::Scalar, rows, others.unwrap_or(rows), right.is_none(), bound, &mut expected);
                    assert!(!expected.is_empty());
                    for level in Level::available() {
                        assert_eq!(pairs(level, rows, others, bound), expected, "{level:?} {words} {bound:?}");
                        let mut again = Vec::new();
                        every_pair(level, rows, others.unwrap_or(rows), right.is_none(), bound, &mut again);
                        assert_eq!(again, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_without_rows_have_no_pairs() {
        let rows = Rows::new(&[], 2);
        assert!(pairs(Level::detect(), rows, None, Bound::Hamming(3)).is_empty());
        assert!(pairs(Level::detect(), rows, Some(rows), Bound::Tanimoto(0.5)).is_empty());
    }
}
