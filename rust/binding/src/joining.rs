//! Bucket keys → candidates → exact counts → clusters.

use std::sync::{Mutex, MutexGuard};

use lookalike_kernels::bands::Keyed;
use lookalike_kernels::components::{Forest as Trees, stars as kernel_stars};
use lookalike_kernels::leaders::{Led as Waiting, Trials};
use lookalike_kernels::verify::{Counts, Rows, compare_sets as kernel_sets, compare_texts as kernel_texts};
use lookalike_kernels::{pairing, radix, runs, verify};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Ragged, picked, ragged, room_for, rows, same_length, slice};
use crate::doorway::{enter, error, level};
use crate::shingling::Shingler;

/// Sorted keys, and where each was.
type SortedKeys<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);
type TwoColumns<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);
/// Where stretches begin, and where they end.
type Stretches<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// The keys of runs of `least` to `most` equal ones, sorted, and where each was in the pieces; equal keys keep their order.
#[pyfunction]
#[pyo3(signature = (pieces, *, threads, least=1, most=None))]
fn sorted_runs<'py>(
    py: Python<'py>,
    pieces: Vec<PyReadonlyArray1<'py, u64>>,
    threads: usize,
    least: usize,
    most: Option<usize>,
) -> PyResult<SortedKeys<'py>> {
    let pieces: Vec<&[u64]> = pieces.iter().map(|piece| slice("keys", piece, py)).collect::<PyResult<_>>()?;
    let count: usize = pieces.iter().map(|piece| piece.len()).sum();
    if count > u32::MAX as usize {
        return Err(error(py, "OptionError", format!("{count} keys are more than one sort takes (2³²)")));
    }
    let (keys, places) = enter(py, threads, || radix::sorted_runs(&pieces, least, most.unwrap_or(usize::MAX)))?;
    Ok((keys.into_pyarray(py), places.into_pyarray(py)))
}

/// Where runs of `least` to `most` equal keys stand in the pieces, as stretches of such runs; None if the keys do not rise.
#[pyfunction]
#[pyo3(signature = (pieces, *, least=1, most=None))]
fn standing_runs<'py>(
    py: Python<'py>,
    pieces: Vec<PyReadonlyArray1<'py, u64>>,
    least: usize,
    most: Option<usize>,
) -> PyResult<Option<Stretches<'py>>> {
    let pieces: Vec<&[u64]> = pieces.iter().map(|piece| slice("keys", piece, py)).collect::<PyResult<_>>()?;
    let found = enter(py, 1, || runs::standing(&pieces, least, most.unwrap_or(usize::MAX)))?;
    Ok(found.map(|(starts, stops)| (starts.into_pyarray(py), stops.into_pyarray(py))))
}

/// Every pair of rows in a bucket, lower row first; `runs` says where each bucket begins.
#[pyfunction]
#[pyo3(signature = (rows, runs, *, threads))]
fn pair_up<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray1<'py, u32>,
    runs: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<TwoColumns<'py>> {
    let buckets: Ragged<'py, u32> = (rows, runs);
    let (rows, runs) = ragged(&buckets, py)?;
    let (a, b) = enter(py, threads, || pairing::pair_up(rows, runs))?;
    Ok((a.into_pyarray(py), b.into_pyarray(py)))
}

/// The bands in which rows `a[i]` and `b[i]` have the same key, as bits of words; of each piece a column of keys a band.
#[pyfunction]
fn shared_bands<'py>(
    py: Python<'py>,
    pieces: Vec<Vec<PyReadonlyArray1<'py, u64>>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let bands = pieces.first().map_or(0, Vec::len);
    let mut columns: Vec<Vec<&[u64]>> = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        same_length(piece.len(), bands, py)?;
        let keys: Vec<&[u64]> = piece.iter().map(|keys| slice("keys", keys, py)).collect::<PyResult<_>>()?;
        for others in keys.windows(2) {
            same_length(others[0].len(), others[1].len(), py)?;
        }
        columns.push(keys);
    }
    let keyed = Keyed::new(columns);
    let (a, b) = (rows("a", &a, keyed.rows(), py)?, rows("b", &b, keyed.rows(), py)?);
    same_length(a.len(), b.len(), py)?;
    let words = bands.div_ceil(64).max(1);
    room_for::<u64>([a.len(), words])?;
    let mut masks = vec![0; a.len() * words];
    enter(py, 1, || keyed.shared_into(a, b, words, &mut masks))?;
    masks.into_pyarray(py).reshape([a.len(), words])
}

/// Pairs sorted, each once.
#[pyfunction]
#[pyo3(signature = (a, b, *, threads))]
fn distinct_pairs<'py>(
    py: Python<'py>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<TwoColumns<'py>> {
    let (a, b) = (slice("a", &a, py)?, slice("b", &b, py)?);
    same_length(a.len(), b.len(), py)?;
    let (a, b) = enter(py, threads, || pairing::distinct(a, b))?;
    Ok((a.into_pyarray(py), b.into_pyarray(py)))
}

/// Shared and joint shingles of candidate documents, given in pieces; a union of 0 says the pair cannot reach `at_least`.
#[pyfunction]
#[pyo3(signature = (pieces, a, b, shingler, *, at_least, threads, path=None))]
#[allow(clippy::too_many_arguments)]
fn compare_texts<'py>(
    py: Python<'py>,
    pieces: Vec<Ragged<'py, u8>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    shingler: &Shingler,
    at_least: f64,
    threads: usize,
    path: Option<&str>,
) -> PyResult<TwoColumns<'py>> {
    let level = level(py, path)?;
    compare(py, &pieces, &a, &b, threads, |items, a, b, out| {
        kernel_texts(level, items, a, b, &shingler.spec, at_least, out)
    })
}

/// Whether the texts of rows `a[i]` and `b[i]` are the same bytes.
#[pyfunction]
fn same_texts<'py>(
    py: Python<'py>,
    pieces: Vec<Ragged<'py, u8>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<bool>>> {
    let (items, a, b) = picked(&pieces, &a, &b, py)?;
    let same = enter(py, 1, || a.iter().zip(b).map(|(&a, &b)| items.get(a) == items.get(b)).collect::<Vec<bool>>())?;
    Ok(same.into_pyarray(py))
}

/// Shared and joint elements of candidate sets of distinct elements.
#[pyfunction]
#[pyo3(signature = (pieces, a, b, *, at_least, threads))]
fn compare_sets<'py>(
    py: Python<'py>,
    pieces: Vec<Ragged<'py, u64>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    at_least: f64,
    threads: usize,
) -> PyResult<TwoColumns<'py>> {
    compare(py, &pieces, &a, &b, threads, |items, a, b, out| kernel_sets(items, a, b, at_least, out))
}

fn compare<'py, T: Element + Sync>(
    py: Python<'py>,
    pieces: &[Ragged<'py, T>],
    a: &PyReadonlyArray1<'py, u32>,
    b: &PyReadonlyArray1<'py, u32>,
    threads: usize,
    kernel: impl FnOnce(&Rows<'_, T>, &[u32], &[u32], &mut [Counts]) + Send,
) -> PyResult<TwoColumns<'py>> {
    let (items, a, b) = picked(pieces, a, b, py)?;
    let (shared, union): (Vec<u32>, Vec<u32>) = enter(py, threads, || {
        let mut counts = vec![verify::Counts::default(); a.len()];
        kernel(&items, a, b, &mut counts);
        counts.into_iter().map(|c| (c.shared, c.union)).unzip()
    })?;
    Ok((shared.into_pyarray(py), union.into_pyarray(py)))
}

/// Connected components that grow by pairs; a component is called by its least row.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Forest {
    trees: Mutex<Trees>,
    rows: usize,
}

#[pymethods]
impl Forest {
    #[new]
    fn new(py: Python<'_>, rows: usize) -> PyResult<Forest> {
        if rows > u32::MAX as usize {
            return Err(error(py, "OptionError", format!("{rows} rows are more than one forest holds (2³²)")));
        }
        room_for::<u32>([rows])?;
        Ok(Forest { trees: Mutex::new(Trees::new(rows)), rows })
    }

    /// Joins the components of `a[i]` and `b[i]`, for every i.
    fn join<'py>(&self, py: Python<'py>, a: PyReadonlyArray1<'py, u32>, b: PyReadonlyArray1<'py, u32>) -> PyResult<()> {
        let (a, b) = (rows("a", &a, self.rows, py)?, rows("b", &b, self.rows, py)?);
        same_length(a.len(), b.len(), py)?;
        enter(py, 1, || {
            let mut trees = lock(&self.trees);
            a.iter().zip(b).for_each(|(&a, &b)| trees.join(a, b));
        })
    }

    /// The least row of every row's component.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let labels = enter(py, 1, || lock(&self.trees).labels())?;
        Ok(labels.into_pyarray(py))
    }
}

/// Rows of large buckets that wait to be found like a leader, the row of least content in their bucket.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Led {
    waiting: Mutex<Waiting>,
    trials: Trials,
    /// One more than the greatest row.
    bound: usize,
}

#[pymethods]
impl Led {
    /// The rows from `starts[i]` to `stops[i]`, for every i. A bucket has up to so many `leaders`, each first tried on `tried` rows, of which it
    /// must lead `one_in` so many.
    #[new]
    #[pyo3(signature = (rows, starts, stops, *, leaders, tried, one_in))]
    fn new<'py>(
        py: Python<'py>,
        rows: PyReadonlyArray1<'py, u32>,
        starts: PyReadonlyArray1<'py, i64>,
        stops: PyReadonlyArray1<'py, i64>,
        leaders: u32,
        tried: usize,
        one_in: usize,
    ) -> PyResult<Led> {
        let rows = slice("rows", &rows, py)?;
        let (starts, stops) = (slice("starts", &starts, py)?, slice("stops", &stops, py)?);
        same_length(starts.len(), stops.len(), py)?;
        if starts.iter().zip(stops).any(|(&start, &stop)| start < 0 || stop < start || stop as usize > rows.len()) {
            return Err(error(py, "InternalError", "buckets reach beyond the rows there are".into()));
        }
        enter(py, 1, || {
            let waiting = Waiting::new(rows, starts, stops);
            let bound = waiting.rows().iter().max().map_or(0, |&row| row as usize + 1);
            Led { waiting: Mutex::new(waiting), trials: Trials { leaders, rows: tried, one_in }, bound }
        })
    }

    /// Candidates of a round, lower row first; the rows that wait for its outcome stay.
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        forest: &Forest,
        content: PyReadonlyArray1<'py, u64>,
        most: usize,
    ) -> PyResult<TwoColumns<'py>> {
        let content = slice("content", &content, py)?;
        self.known(py, forest.rows.min(content.len()))?;
        let (a, b) = enter(py, 1, || {
            let (mut waiting, mut trees) = (lock(&self.waiting), lock(&forest.trees));
            waiting.candidates(&mut trees, content, most, &self.trials)
        })?;
        Ok((a.into_pyarray(py), b.into_pyarray(py)))
    }

    /// Lets go the rows that the forest by now holds to be of the kind of the leader they waited for, and those of buckets that will have no other.
    fn settle(&self, py: Python<'_>, forest: &Forest) -> PyResult<()> {
        self.known(py, forest.rows)?;
        enter(py, 1, || lock(&self.waiting).settle(&mut lock(&forest.trees), &self.trials))
    }

    /// The rows for which no leader was found, of buckets that are done.
    fn given_up<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        lock(&self.waiting).given_up().to_vec().into_pyarray(py)
    }

    /// The rows that wait.
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        lock(&self.waiting).rows().to_vec().into_pyarray(py)
    }

    fn __len__(&self) -> usize {
        lock(&self.waiting).rows().len()
    }
}

impl Led {
    fn known(&self, py: Python<'_>, rows: usize) -> PyResult<()> {
        match self.bound <= rows {
            true => Ok(()),
            false => Err(error(py, "InternalError", format!("row {} is not one of {rows}", self.bound - 1))),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder panics")
}

/// The kept row of every row, when rows are kept in `order` and each claims its neighbours (`neighbours[0]` by `neighbours[1]`).
#[pyfunction]
fn stars<'py>(
    py: Python<'py>,
    order: PyReadonlyArray1<'py, u32>,
    neighbours: Ragged<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (values, first) = ragged(&neighbours, py)?;
    let count = first.len() - 1;
    let order = rows("order", &order, count, py)?;
    same_length(order.len(), count, py)?;
    rows("neighbours", &neighbours.0, count, py)?;
    Ok(enter(py, 1, || kernel_stars(order, first, values))?.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Forest>()?;
    module.add_class::<Led>()?;
    module.add_function(wrap_pyfunction!(sorted_runs, module)?)?;
    module.add_function(wrap_pyfunction!(standing_runs, module)?)?;
    module.add_function(wrap_pyfunction!(stars, module)?)?;
    module.add_function(wrap_pyfunction!(pair_up, module)?)?;
    module.add_function(wrap_pyfunction!(shared_bands, module)?)?;
    module.add_function(wrap_pyfunction!(distinct_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(compare_texts, module)?)?;
    module.add_function(wrap_pyfunction!(same_texts, module)?)?;
    module.add_function(wrap_pyfunction!(compare_sets, module)?)
}
