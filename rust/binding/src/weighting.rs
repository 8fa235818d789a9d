//! Weighted sets and weighted terms of texts → signatures, sides of hyperplanes, bucket keys; candidates → similarities.

use std::sync::RwLock;

use lookalike_kernels::frequencies::Frequencies;
use lookalike_kernels::sparse::{self, Planes};
use lookalike_kernels::terms;
use lookalike_kernels::verify::Rows;
use lookalike_kernels::weighted::{self, Grids, Measure, WeightedRows};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Ragged, ragged, room_for, rows, same_length, slice};
use crate::doorway::{enter, error, level};
use crate::shingling::Shingler;
use crate::signing::{Arrays, MOST_SLOTS, checked_bands, keyed, signed};

/// Elements, where each set begins, and a weight an element.
type Weighted<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);
type WeightedArrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);
/// Elements and where sets begin, borrowed once more as the pair that `ragged` checks.
struct Parts<'py> {
    sets: Ragged<'py, u64>,
    weights: PyReadonlyArray1<'py, f64>,
}

impl<'py> Parts<'py> {
    fn new((elements, offsets, weights): Weighted<'py>) -> Parts<'py> {
        Parts { sets: (elements, offsets), weights }
    }

    /// Elements, offsets and weights, of which there are as many as elements.
    fn checked(&self, py: Python<'_>) -> PyResult<(&[u64], &[i64], &[f64])> {
        let (elements, offsets) = ragged(&self.sets, py)?;
        let weights = slice("weights", &self.weights, py)?;
        same_length(elements.len(), weights.len(), py)?;
        Ok((elements, offsets, weights))
    }
}

fn checked_slots(slots: usize, py: Python<'_>) -> PyResult<usize> {
    if slots == 0 || slots > MOST_SLOTS {
        return Err(error(py, "OptionError", format!("slots={slots}: a signature has 1 to {MOST_SLOTS} slots")));
    }
    Ok(slots)
}

/// Signs weighted sets of premixed elements, so that slots agree as often as Σmin/Σmax.
#[pyfunction]
#[pyo3(signature = (sets, *, slots, seed, threads))]
fn sign_weighted<'py>(
    py: Python<'py>,
    sets: Weighted<'py>,
    slots: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Arrays<'py, u32>> {
    let parts = Parts::new(sets);
    let (elements, offsets, weights) = parts.checked(py)?;
    let grids = Grids::new(checked_slots(slots, py)?, seed);
    signed(py, threads, [offsets.len() - 1, slots], |out| {
        weighted::sign_weighted(elements, weights, offsets, &grids, out)
    })
}

/// On which side of every random hyperplane each sparse vector lies, 0 or 1.
#[pyfunction]
#[pyo3(signature = (vectors, *, slots, seed, threads))]
fn sparse_sides<'py>(
    py: Python<'py>,
    vectors: Weighted<'py>,
    slots: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let parts = Parts::new(vectors);
    let (elements, offsets, weights) = parts.checked(py)?;
    let planes = Planes::new(checked_slots(slots, py)?, seed);
    room_for::<u8>([offsets.len() - 1, slots])?;
    let sides = enter(py, threads, || sparse::sides(elements, weights, offsets, &planes))?;
    sides.into_pyarray(py).reshape([offsets.len() - 1, slots])
}

/// The bucket keys of sparse vectors by the sides of hyperplanes; on the calling thread's one.
#[pyfunction]
#[pyo3(signature = (vectors, *, slots, seed, bands, rows))]
fn key_sparse<'py>(
    py: Python<'py>,
    vectors: Weighted<'py>,
    slots: usize,
    seed: u64,
    bands: usize,
    rows: usize,
) -> PyResult<Arrays<'py, u64>> {
    let parts = Parts::new(vectors);
    let (elements, offsets, weights) = parts.checked(py)?;
    let bands = checked_bands(py, 0, bands, rows, checked_slots(slots, py)?)?;
    // Planes of no band are not worth a look.
    let planes = Planes::new(bands.count() * rows, seed);
    keyed(py, [bands.count(), offsets.len() - 1], |out| {
        sparse::key_sparse(elements, weights, offsets, &planes, &bands, out)
    })
}

/// In how many documents each term occurs: exactly up to `most` different terms, beyond that in counters that terms share.
#[pyclass(frozen, module = "lookalike._core")]
pub struct DocumentFrequencies {
    counted: RwLock<Frequencies>,
    most: usize,
}

#[pymethods]
impl DocumentFrequencies {
    /// Of a batch of texts; on the calling thread's one.
    #[new]
    #[pyo3(signature = (texts, shingler, *, most, path=None))]
    fn new<'py>(
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        shingler: &Shingler,
        most: usize,
        path: Option<&str>,
    ) -> PyResult<DocumentFrequencies> {
        let level = level(py, path)?;
        let (values, offsets) = ragged(&texts, py)?;
        let counted = enter(py, 1, || Frequencies::count(level, values, offsets, &shingler.spec, most))?;
        Ok(DocumentFrequencies { counted: RwLock::new(counted), most })
    }

    /// Takes over what the other counted, which is left with nothing.
    fn add(&self, py: Python<'_>, other: &DocumentFrequencies) -> PyResult<()> {
        enter(py, 1, || {
            // One lock at a time, so that two that are added to each other do not wait for ever.
            let added = std::mem::replace(
                &mut *other.counted.write().expect("no holder panics"),
                Frequencies::none(other.most),
            );
            self.counted.write().expect("no holder panics").merge(added);
        })
    }

    /// In how many documents each of these terms occurs.
    fn of<'py>(&self, py: Python<'py>, terms: PyReadonlyArray1<'py, u64>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let terms = slice("terms", &terms, py)?;
        let found = enter(py, 1, || {
            let counted = self.counted.read().expect("no holder panics");
            terms.iter().map(|&term| counted.of(term)).collect::<Vec<u32>>()
        })?;
        Ok(found.into_pyarray(py))
    }

    /// Whether every term is counted by itself.
    #[getter]
    fn exact(&self) -> bool {
        self.counted.read().expect("no holder panics").is_exact()
    }

    /// How many bytes the counts take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.counted.read().expect("no holder panics").bytes()
    }
}

/// The shingles of texts, each once, and their weights: tf · ln(1 + documents/df).
#[pyfunction]
#[pyo3(signature = (texts, shingler, frequencies, *, documents, threads, path=None))]
fn term_weights<'py>(
    py: Python<'py>,
    texts: Ragged<'py, u8>,
    shingler: &Shingler,
    frequencies: &DocumentFrequencies,
    documents: u64,
    threads: usize,
    path: Option<&str>,
) -> PyResult<WeightedArrays<'py>> {
    let level = level(py, path)?;
    let (values, offsets) = ragged(&texts, py)?;
    let (elements, starts, weights) = enter(py, threads, || {
        let counted = frequencies.counted.read().expect("no holder panics");
        terms::term_weights(level, values, offsets, &shingler.spec, &counted, documents)
    })?;
    Ok((elements.into_pyarray(py), starts.into_pyarray(py), weights.into_pyarray(py)))
}

/// The similarity of rows `a[i]` and `b[i]`: `jaccard` (Σmin/Σmax) or `cosine`.
#[pyfunction]
#[pyo3(signature = (pieces, a, b, *, measure, threads))]
fn compare_weighted<'py>(
    py: Python<'py>,
    pieces: Vec<Weighted<'py>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    measure: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let pieces: Vec<Parts<'py>> = pieces.into_iter().map(Parts::new).collect();
    let checked = pieces.iter().map(|parts| parts.checked(py)).collect::<PyResult<Vec<_>>>()?;
    let held = WeightedRows {
        elements: Rows::new(checked.iter().map(|&(elements, offsets, _)| (elements, offsets)).collect()),
        weights: Rows::new(checked.iter().map(|&(_, offsets, weights)| (weights, offsets)).collect()),
    };
    let (a, b) = (rows("a", &a, held.elements.len(), py)?, rows("b", &b, held.elements.len(), py)?);
    same_length(a.len(), b.len(), py)?;
    let measure = match measure {
        "jaccard" => Measure::Jaccard,
        "cosine" => Measure::Cosine,
        other => return Err(error(py, "OptionError", format!("measure={other:?} is neither jaccard nor cosine"))),
    };
    Ok(enter(py, threads, || weighted::compare(&held, a, b, measure))?.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sign_weighted, module)?)?;
    module.add_function(wrap_pyfunction!(sparse_sides, module)?)?;
    module.add_function(wrap_pyfunction!(key_sparse, module)?)?;
    module.add_class::<DocumentFrequencies>()?;
    module.add_function(wrap_pyfunction!(term_weights, module)?)?;
    module.add_function(wrap_pyfunction!(compare_weighted, module)?)
}
