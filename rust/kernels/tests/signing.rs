//! Signatures: minima over elements, the same bits on every path, of texts as of their sets.

mod given;

use given::{on_threads, ragged, spec, text, variants};
use lookalike_kernels::bands::Bands;
use lookalike_kernels::minhash::{EMPTY, Family, Orders, SetSigner, agreement, content, sign_set};
use lookalike_kernels::sets::{canonical, sets, shingles};
use lookalike_kernels::shingle::Spec;
use lookalike_kernels::sign::{FLAG_EMPTY, FLAG_SHORT, Signed, sign_sets, sign_texts};
use lookalike_kernels::simd::Level;
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Batch {
    signatures: Vec<u32>,
    content: Vec<u64>,
    bag: Vec<u64>,
    flags: Vec<u8>,
}

fn batch(rows: usize, slots: usize, sign: impl FnOnce(Signed<'_>)) -> Batch {
    let mut batch =
        Batch { signatures: vec![7; rows * slots], content: vec![7; rows], bag: vec![7; rows], flags: vec![7; rows] };
    sign(Signed {
        signatures: &mut batch.signatures,
        content: &mut batch.content,
        bag: &mut batch.bag,
        flags: &mut batch.flags,
    });
    batch
}

fn sign_all_sets(level: Level, rows: &[Vec<u64>], seed: u64, orders: &Orders) -> Batch {
    let (values, offsets) = ragged(rows);
    batch(rows.len(), orders.slots(), |out| sign_sets(level, &values, &offsets, seed, orders, out))
}

fn sign_all_texts(level: Level, texts: &[String], spec: &Spec, orders: &Orders) -> Batch {
    let (values, offsets) = ragged::<u8>(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
    batch(texts.len(), orders.slots(), |out| sign_texts(level, &values, &offsets, spec, orders, out))
}

fn family() -> impl Strategy<Value = Family> {
    select(vec![Family::Bucketed, Family::KHash, Family::Universal])
}

fn orders() -> impl Strategy<Value = Orders> {
    (family(), select(vec![1, 2, 15, 16, 17, 64, 128]), any::<u64>())
        .prop_map(|(f, slots, seed)| Orders::new(f, slots, seed))
}

fn row() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![any::<u64>(), 0..20u64, (0..20u64).prop_map(|x| x << 59)], 0..100)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_path_signs_sets_alike(rows in prop::collection::vec(row(), 0..20), orders in orders()) {
        let scalar = sign_all_sets(Level::Scalar, &rows, 3, &orders);
        for level in Level::available() {
            prop_assert_eq!(&sign_all_sets(level, &rows, 3, &orders), &scalar);
        }
        prop_assert_eq!(&on_threads(2, || sign_all_sets(Level::detect(), &rows, 3, &orders)), &scalar);
    }

    #[test]
    fn every_path_signs_texts_alike_and_as_their_sets(texts in variants(60, 6), spec in spec(), orders in orders()) {
        let scalar = sign_all_texts(Level::Scalar, &texts, &spec, &orders);
        for level in Level::available() {
            prop_assert_eq!(&sign_all_texts(level, &texts, &spec, &orders), &scalar);
        }
        let rows: Vec<Vec<u64>> = texts.iter().map(|text| shingles(Level::Scalar, text.as_bytes(), &spec)).collect();
        let of_sets = sign_all_sets(Level::Scalar, &rows, spec.seed, &orders);
        prop_assert_eq!(&of_sets.signatures, &scalar.signatures);
        prop_assert_eq!(&of_sets.content, &scalar.content);
        prop_assert_eq!(&of_sets.bag, &scalar.bag);
        for (row, &flags) in rows.iter().zip(&scalar.flags) {
            prop_assert_eq!(flags & FLAG_EMPTY != 0, row.is_empty());
            prop_assert!(flags & FLAG_SHORT == 0 || row.len() == 1);
        }
    }

    #[test]
    fn a_signature_is_the_least_of_its_elements_signatures(row in row(), slots in 1..40usize, khash in any::<bool>()) {
        let orders = Orders::new(if khash { Family::KHash } else { Family::Bucketed }, slots, 5);
        let whole = sign_all_sets(Level::detect(), std::slice::from_ref(&row), 0, &orders).signatures;
        let singles: Vec<Vec<u64>> = row.iter().map(|&x| vec![x]).collect();
        let each = sign_all_sets(Level::detect(), &singles, 0, &orders).signatures;
        for (slot, &least) in whole.iter().enumerate() {
            prop_assert_eq!(least, each.iter().skip(slot).step_by(slots).copied().min().unwrap_or(EMPTY));
        }
    }

    #[test]
    fn signing_one_set_is_signing_a_batch_of_it(row in row(), orders in orders()) {
        let mut signature = vec![1; orders.slots()];
        let mut signer = SetSigner::default();
        // A signer that has been used before leaves no trace.
        sign_set(Level::detect(), &[1, 2, 3], &orders, &mut signature, &mut signer);
        sign_set(Level::detect(), &row, &orders, &mut signature, &mut signer);
        let batch = sign_all_sets(Level::detect(), &[row], 9, &orders);
        prop_assert_eq!(content(&signature, 9), batch.content[0]);
        prop_assert_eq!(agreement(&signature, &batch.signatures), orders.slots() as u32);
        prop_assert_eq!(signature, batch.signatures);
    }

    #[test]
    fn same_key_means_same_band(
        signatures in prop::collection::vec(prop::collection::vec(0..2u32, 24), 1..8),
        (bands, rows) in select(vec![(24, 1), (12, 2), (8, 3), (4, 5), (3, 8), (1, 24), (2, 7)]),
    ) {
        let keys: Vec<Vec<u64>> = signatures
            .iter()
            .map(|signature| {
                let mut keys = vec![0; bands];
                Bands::new(0, bands, rows).keys_into(signature, &mut keys, 0, 1);
                keys
            })
            .collect();
        let band = |row: usize, band: usize| &signatures[row][band * rows..(band + 1) * rows];
        for a in 0..signatures.len() {
            for b in 0..signatures.len() {
                for (i, &x) in keys[a].iter().enumerate() {
                    for (j, &y) in keys[b].iter().enumerate() {
                        prop_assert_eq!(x == y, i == j && band(a, i) == band(b, j));
                    }
                }
            }
        }
    }

    #[test]
    fn sets_are_sorted_shingles_each_once(texts in prop::collection::vec(text(30), 0..70), spec in spec()) {
        let (values, offsets) = ragged::<u8>(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
        let rows: Vec<Vec<u64>> = texts
            .iter()
            .map(|text| {
                let mut row = shingles(Level::Scalar, text.as_bytes(), &spec);
                row.sort_unstable();
                row.dedup();
                row
            })
            .collect();
        for level in Level::available() {
            let (elements, starts, flags) = sets(level, &values, &offsets, &spec);
            prop_assert_eq!(&(elements, starts), &ragged(&rows));
            let empty: Vec<bool> = flags.iter().map(|flag| flag & FLAG_EMPTY != 0).collect();
            prop_assert_eq!(empty, rows.iter().map(Vec::is_empty).collect::<Vec<_>>());
        }
        prop_assert_eq!(&canonical(&ragged(&rows).0, &ragged(&rows).1, false), &ragged(&rows));
    }

    #[test]
    fn any_bytes_are_shingled_alike_on_every_path(text in prop::collection::vec(any::<u8>(), 0..400), spec in spec()) {
        let scalar = shingles(Level::Scalar, &text, &spec);
        for level in Level::available() {
            prop_assert_eq!(&shingles(level, &text, &spec), &scalar);
        }
    }
}
