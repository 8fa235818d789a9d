//! The hot loops of Lookalike: slices in, slices out; no Python, no IO, no environment, no logging.
//!
//! The modules are the rooms of one road:
//!
//! 1. [`shingle`]: a document → the hashes of its shingles (`words`, `chars`, and `symbols` where there is no word, over `unicode` and [`hash`]);
//! 2. [`minhash`] and [`sign`]: shingles → signatures, one call a batch;
//! 3. [`bands`]: signatures → bucket keys; [`radix`]: equal keys together, and [`runs`] of them; [`pairing`]: buckets → candidates;
//! 4. [`verify`]: candidates → exact counts, by way of a `table` of what a document holds or of a `template` that many are variants of; [`leaders`]: the
//!    rows of large buckets; [`sets`]: documents → sets, for those who want them kept, and [`rare`]: of their rarest words;
//! 5. [`prefix`]: the other road, sets → exact pairs without signatures; [`edit`]: strings → grams, and distances of strings;
//! 6. [`components`]: pairs → clusters; [`passages`]: a pair → the passages its texts share, for a reader.
//!
//! Roads beside the main one: [`meetings`], rows that share elements or slots → how often they do; [`agreeing`], signatures → all pairs that agree
//! enough; [`pyramid`], sets as columns of a boolean matrix → bucket keys of its folded forms; [`baskets`], baskets → pairs of items;
//! [`nearest`], sets → the most similar of each; [`weighted`], weighted sets → signatures and measures; [`frequencies`] of terms and [`terms`], documents → weighted
//! terms, and [`sparse`], their sides of random hyperplanes; [`sieve`], which documents may hold an element of a few;
//! [`bits`], rows of bits by Hamming distance and Tanimoto similarity.
//!
//! Vectors have a road of their own: [`draws`], random numbers; [`hyperplane`] and [`projection`], vectors → sides, places on lines and bucket keys;
//! [`probes`], the keys of neighbouring buckets; [`crowds`], buckets of any size → candidates; [`vectors`], candidates → exact distances.
//!
//! [`simd`] picks the vector unit, [`memory`] has buffers on large pages. Every function gives the same bits on every path and for any number of threads.

pub mod agreeing;
pub mod bands;
pub mod baskets;
pub mod bits;
mod chars;
pub mod components;
pub mod crowds;
pub mod draws;
pub mod edit;
pub mod frequencies;
pub mod hash;
pub mod hyperplane;
pub mod leaders;
pub mod meetings;
pub mod memory;
pub mod minhash;
pub mod nearest;
pub mod pairing;
pub mod passages;
pub mod prefix;
pub mod probes;
pub mod projection;
pub mod pyramid;
pub mod radix;
pub mod rare;
pub mod runs;
pub mod sets;
pub mod shingle;
pub mod sieve;
pub mod sign;
pub mod simd;
pub mod sparse;
mod symbols;
mod table;
mod template;
pub mod terms;
mod unicode;
pub mod vectors;
pub mod verify;
pub mod weighted;
mod words;
