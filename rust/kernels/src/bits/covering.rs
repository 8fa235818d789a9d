//! Masks under one of which any two rows within a radius agree, after R. Pagh, Locality-sensitive hashing without false negatives (2016).
//!
//! Every position has a vector of r + 1 bits, drawn at random, and every vector v other than zero has a mask: the positions whose vector shares an odd number of
//! bits with v. Where rows differ in r positions or less, the vectors of those do not span the space: some v shares an even number with each of them, and the rows
//! agree under its mask. Rows that differ in d positions agree under one mask in 2^d or so, however their bits are spread. (A vector is never zero here, as it may
//! be with Pagh: a position with it would be in no mask.)
//!
//! 2^(r+1) − 1 masks soon are too many. So positions may be cut into parts, the r + 1 dimensions dealt out to them: rows that agree under no mask differ in as many
//! positions of each part as it has dimensions, in r + 1 altogether. With as many parts as dimensions the masks are the parts: that is the pigeonhole principle.

use super::masks::{below, shuffled};
use crate::hash;

/// The positions of each mask, one mask after the other, and where each begins: part by part, in the order of v.
///
/// There are `parts` of `radius` + 1 dimensions together, 1 at least and 31 at most each.
pub fn covering(width: u32, radius: u32, parts: u32, seed: u64) -> (Vec<u32>, Vec<i64>) {
    let (all, width) = (u64::from(radius) + 1, u64::from(width));
    assert!(0 < parts && u64::from(parts) <= all && all.div_ceil(u64::from(parts)) < 32);
    let order = shuffled(width as u32, seed);
    // Not the numbers that the order was drawn by.
    let seed = hash::spread_seed(hash::spread_seed(seed));
    let (mut positions, mut offsets) = (Vec::new(), vec![0]);
    for part in 0..u64::from(parts) {
        let dealt = [part, part + 1].map(|part| all * part / u64::from(parts));
        let [from, to] = dealt.map(|dealt| (width * dealt / all) as usize);
        let others = (1u32 << (dealt[1] - dealt[0])) - 1;
        let vectors: Vec<u32> =
            (from..to).map(|at| 1 + below(hash::mix(seed ^ hash::mix(at as u64 + 1)), others)).collect();
        for v in 1..=others {
            let odd = order[from..to].iter().zip(&vectors).filter(|&(_, vector)| (vector & v).count_ones() % 2 == 1);
            positions.extend(odd.map(|(position, _)| position));
            offsets.push(positions.len() as i64);
        }
    }
    (positions, offsets)
}

#[cfg(test)]
mod tests {
    use super::super::masks::Masks;
    use super::*;

    /// All numbers below 2^width with at most `most` bits set.
    fn within(width: u32, most: u32) -> impl Iterator<Item = u64> {
        (0u64..1 << width).filter(move |bits| bits.count_ones() <= most)
    }

    #[test]
    fn whatever_is_within_the_radius_agrees_under_a_mask() {
        for seed in 0..6 {
            for radius in 0..6 {
                for parts in 1..=radius + 1 {
                    let (positions, offsets) = covering(14, radius, parts, seed);
                    let masks = Masks::new(&positions, &offsets);
                    for row in within(14, radius).map(places) {
                        assert!(masks.masks().iter().any(|mask| mask.agree(&[0], &[row])), "{radius} {parts} {row:x}");
                    }
                }
            }
        }
    }

    /// A number's bits where rows have their first positions.
    fn places(bits: u64) -> u64 {
        (0..14).filter(|position| bits >> position & 1 == 1).map(|position| 1 << (position ^ 7)).sum()
    }

    #[test]
    fn as_many_parts_as_dimensions_are_pieces_of_a_shuffle() {
        let (positions, offsets) = covering(70, 3, 4, 5);
        assert_eq!(positions, shuffled(70, 5));
        assert_eq!(offsets, [0, 17, 35, 52, 70]);
    }

    #[test]
    fn every_position_is_in_half_of_the_masks_of_its_part() {
        let (positions, offsets) = covering(200, 6, 2, 1);
        // Three dimensions and four: 7 masks, and 15.
        assert_eq!(offsets.len(), 1 + 7 + 15);
        let mut counts = [0; 200];
        positions.iter().for_each(|&position| counts[position as usize] += 1);
        assert_eq!(counts.iter().filter(|&&count| count == 4).count(), 200 * 3 / 7);
        assert_eq!(counts.iter().filter(|&&count| count == 8).count(), 200 - 200 * 3 / 7);
    }
}
