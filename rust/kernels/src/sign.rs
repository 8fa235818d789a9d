//! Batches of documents or sets → signatures, on all cores.

use std::marker::PhantomData;

use rayon::prelude::*;

use crate::bands::Bands;
use crate::minhash::{Orders, SetSigner, Signer, bag_of, content, sign_set};
use crate::shingle::{Scratch, Seen, Sink, Spec, document};
use crate::simd::{Lanes, Level, for_each_path};

/// No shingle at all: matches nothing and is kept.
pub const FLAG_EMPTY: u8 = 1;
/// Shorter than `k`: one shingle, itself.
pub const FLAG_SHORT: u8 = 2;
/// Written mostly without spaces between words.
pub const FLAG_UNSPACED: u8 = 4;

/// Where the signatures of a batch go, one entry a row and `slots` a row of `signatures`.
pub struct Signed<'o> {
    pub signatures: &'o mut [u32],
    /// A hash of the signature, see [`content`].
    pub content: &'o mut [u64],
    /// A digest of the bag of shingles: equal for equal texts, and nearly only for them.
    pub bag: &'o mut [u64],
    pub flags: &'o mut [u8],
}

/// How many rows are handed to a thread at a time: some shares for each, so that all are done at about the same time, and no long ones.
fn rows_at_once(rows: usize) -> usize {
    (rows / (8 * rayon::current_num_threads())).clamp(1, 64)
}

struct Workspace {
    scratch: Scratch,
    signer: Signer,
}

#[inline(always)]
fn sign_one_on<L: Lanes>(
    text: &[u8],
    spec: &Spec,
    orders: &Orders,
    signature: &mut [u32],
    work: &mut Workspace,
) -> (Seen, u64) {
    let Workspace { scratch, signer } = work;
    signer.begin(orders, signature);
    let mut signing = Signing::<L> { signer, orders, signature, bag: 0, path: PhantomData };
    let seen = document::<L>(text, spec, scratch, &mut signing);
    let bag = signing.bag;
    signer.end(orders, signature);
    (seen, bag)
}

/// A document's shingles on their way into a signature and a digest.
struct Signing<'s, L> {
    signer: &'s mut Signer,
    orders: &'s Orders,
    signature: &'s mut [u32],
    bag: u64,
    path: PhantomData<L>,
}

impl<L: Lanes> Sink for Signing<'_, L> {
    #[inline(always)]
    fn take(&mut self, shingles: &[u64]) {
        self.bag = self.bag.wrapping_add(bag_of(shingles));
        self.signer.take::<L>(shingles, self.orders, self.signature);
    }
}

for_each_path! {
    fn sign_one(level; text: &[u8], spec: &Spec, orders: &Orders, signature: &mut [u32], work: &mut Workspace) -> (Seen, u64) => sign_one_on
}

/// Signs every document of a batch. `offsets` has one entry more than there are documents.
pub fn sign_texts(level: Level, values: &[u8], offsets: &[i64], spec: &Spec, orders: &Orders, out: Signed<'_>) {
    let slots = orders.slots();
    by_row(slots, out).for_each_init(
        || Workspace { scratch: Scratch::default(), signer: Signer::default() },
        |work, (first, (signatures, content_of, digests, flags))| {
            for (i, signature) in signatures.chunks_mut(slots).enumerate() {
                let row = first + i;
                let text = &values[offsets[row] as usize..offsets[row + 1] as usize];
                let (seen, bag) = sign_one(level, text, spec, orders, signature, work);
                content_of[i] = content(signature, spec.seed);
                digests[i] = bag;
                flags[i] = flags_of(&seen);
            }
        },
    );
}

/// Signs every set of premixed elements.
pub fn sign_sets(level: Level, elements: &[u64], offsets: &[i64], seed: u64, orders: &Orders, out: Signed<'_>) {
    let slots = orders.slots();
    by_row(slots, out).for_each_init(
        SetSigner::default,
        |signer, (first, (signatures, content_of, digests, flags))| {
            for (i, signature) in signatures.chunks_mut(slots).enumerate() {
                let row = first + i;
                let set = &elements[offsets[row] as usize..offsets[row + 1] as usize];
                digests[i] = sign_set(level, set, orders, signature, signer);
                content_of[i] = content(signature, seed);
                flags[i] = if set.is_empty() { FLAG_EMPTY } else { 0 };
            }
        },
    );
}

/// Where the bucket keys of a batch go: `keys` band by band, the others one entry a row.
pub struct Keyed<'o> {
    pub keys: &'o mut [u64],
    pub content: &'o mut [u64],
    pub bag: &'o mut [u64],
    pub flags: &'o mut [u8],
}

/// Signs every document of a batch and keeps, of the signatures, only the keys of some bands. On one thread.
pub fn key_texts(
    level: Level,
    values: &[u8],
    offsets: &[i64],
    spec: &Spec,
    orders: &Orders,
    bands: &Bands,
    out: Keyed<'_>,
) {
    let mut work = Workspace { scratch: Scratch::default(), signer: Signer::default() };
    let mut signature = vec![0; orders.slots()];
    let rows = offsets.len() - 1;
    for (row, o) in offsets.windows(2).enumerate() {
        let (seen, bag) =
            sign_one(level, &values[o[0] as usize..o[1] as usize], spec, orders, &mut signature, &mut work);
        bands.keys_into(&signature, out.keys, row, rows);
        out.content[row] = content(&signature, spec.seed);
        out.bag[row] = bag;
        out.flags[row] = flags_of(&seen);
    }
}

/// Signs every set of premixed elements and keeps, of the signatures, only the keys of some bands. On one thread.
pub fn key_sets(
    level: Level,
    elements: &[u64],
    offsets: &[i64],
    seed: u64,
    orders: &Orders,
    bands: &Bands,
    out: Keyed<'_>,
) {
    let mut signer = SetSigner::default();
    let mut signature = vec![0; orders.slots()];
    let rows = offsets.len() - 1;
    for (row, o) in offsets.windows(2).enumerate() {
        let set = &elements[o[0] as usize..o[1] as usize];
        out.bag[row] = sign_set(level, set, orders, &mut signature, &mut signer);
        bands.keys_into(&signature, out.keys, row, rows);
        out.content[row] = content(&signature, seed);
        out.flags[row] = if set.is_empty() { FLAG_EMPTY } else { 0 };
    }
}

/// What was odd about a document.
pub(crate) fn flags_of(seen: &Seen) -> u8 {
    let length = match seen.shingles {
        0 => FLAG_EMPTY,
        _ if seen.short => FLAG_SHORT,
        _ => 0,
    };
    length | if seen.unspaced { FLAG_UNSPACED } else { 0 }
}

type RowPiece<'o> = (&'o mut [u32], &'o mut [u64], &'o mut [u64], &'o mut [u8]);

/// The rows of a batch in pieces, each with the number of its first.
fn by_row<'o>(slots: usize, out: Signed<'o>) -> impl IndexedParallelIterator<Item = (usize, RowPiece<'o>)> {
    let rows = rows_at_once(out.flags.len());
    (
        out.signatures.par_chunks_mut(rows * slots),
        out.content.par_chunks_mut(rows),
        out.bag.par_chunks_mut(rows),
        out.flags.par_chunks_mut(rows),
    )
        .into_par_iter()
        .enumerate()
        .map(move |(piece, of_rows)| (piece * rows, of_rows))
}
