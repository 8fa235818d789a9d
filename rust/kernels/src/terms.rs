//! Documents → weighted terms: how often a shingle occurs in a document, times how rare it is in the collection.

use rayon::prelude::*;

use crate::draws::logarithm;
use crate::frequencies::Frequencies;
use crate::sets::shingles;
use crate::shingle::Spec;
use crate::simd::Level;

/// Weighted sets one after the other: elements, where each set begins, weights.
pub type WeightedSets = (Vec<u64>, Vec<i64>, Vec<f64>);

/// The terms of every document, sorted, each once, and their weights: tf · ln(1 + documents/df).
///
/// The logarithm of 1 + the quotient, rather than of the quotient, leaves a little weight to a term that every document has, so that no document is
/// without any.
pub fn term_weights(
    level: Level,
    values: &[u8],
    offsets: &[i64],
    spec: &Spec,
    frequencies: &Frequencies,
    documents: u64,
) -> WeightedSets {
    let one = |o: &[i64]| {
        let mut found = shingles(level, &values[o[0] as usize..o[1] as usize], spec);
        found.sort_unstable();
        let terms = found.chunk_by(|x, y| x == y).map(|run| {
            let rarity = documents as f64 / f64::from(frequencies.of(run[0]).max(1));
            (run[0], run.len() as f64 * logarithm(1.0 + rarity))
        });
        terms.unzip()
    };
    let rows: Vec<(Vec<u64>, Vec<f64>)> = offsets.par_windows(2).with_min_len(16).map(one).collect();
    let (mut elements, mut starts, mut weights) = (Vec::new(), vec![0i64], Vec::new());
    for (terms, of_terms) in rows {
        elements.extend(terms);
        weights.extend(of_terms);
        starts.push(elements.len() as i64);
    }
    (elements, starts, weights)
}
