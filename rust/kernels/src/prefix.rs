//! Sets → pairs that reach a threshold, exactly, without comparing every two.
//!
//! Let all sets be sorted in one order of their elements. Two sets that must share at least `α` elements have a first common
//! one, and behind it both have at least `α − 1` more: it stands among the first `|a| − α + 1` of the one and `|b| − α + 1` of
//! the other. If rare elements come first, few sets meet in such prefixes.
//!
//! 1. [`Bound`]: a threshold as the least count `α` that two sets of given sizes must share;
//! 2. [`order`]: elements → codes whose numeric order is "rarest first";
//! 3. [`entries`]: sets → the elements of their prefixes, each with what the filters need;
//! 4. [`pairs`]: entries of one element → candidates that pass the filters of length, position and bits;
//! 5. [`shared`]: candidates → exact counts, each pair once.

mod bound;
pub mod entries;
pub mod order;
pub mod pairs;
pub mod shared;

pub use bound::Bound;

#[cfg(test)]
mod tests;
