//! The hot loops of Lookalike: slices in, slices out; no Python, no IO, no environment, no logging.
//!
//! The modules are the rooms of one road:
//!
//! 1. [`shingle`]: a document → the hashes of its shingles (`words`, `chars`, over `unicode` and [`hash`]);
//! 2. [`minhash`] and [`sign`]: shingles → signatures, one call a batch;
//! 3. [`bands`]: signatures → bucket keys; [`radix`]: equal keys together; [`pairing`]: buckets → candidates;
//! 4. [`verify`]: candidates → exact counts; [`sets`]: documents → sets, for those who want them kept, and [`rare`]: of their rarest words;
//! 5. [`components`]: pairs → clusters; [`passages`]: a pair → the passages its texts share, for a reader.
//!
//! [`simd`] picks the vector unit. Every function gives the same bits on every path and for any number of threads.

pub mod bands;
mod chars;
pub mod components;
mod ends;
pub mod hash;
pub mod memory;
pub mod minhash;
pub mod pairing;
pub mod passages;
pub mod radix;
pub mod rare;
pub mod sets;
pub mod shingle;
pub mod sign;
pub mod simd;
mod table;
mod unicode;
pub mod verify;
mod words;
