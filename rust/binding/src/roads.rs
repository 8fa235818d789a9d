//! What the roads beside the main one need: meetings, agreeing signatures, folded columns, pairs in baskets.

use lookalike_kernels::agreeing::{Agreeing, agreeing};
use lookalike_kernels::baskets;
use lookalike_kernels::meetings::meetings as kernel_meetings;
use lookalike_kernels::pyramid::{self, Sampling};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Ragged, matrix, ragged, room_for, rows as row_numbers, same_length, slice};
use crate::doorway::{enter, error, level};
use crate::signing::MOST_SLOTS;

/// Packed pairs and how often each met; or bucket keys and the set each is of.
type KeysAndCounts<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);
type ThreeColumns<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Pairs of rows `nearest` to `farthest` places apart in runs of rows, packed and sorted, and how many runs each shares.
///
/// Only those whose lower row is `first` to `last`.
#[pyfunction]
#[pyo3(signature = (rows, runs, *, nearest, farthest, boundary=None, first=0, last=u32::MAX))]
#[allow(clippy::too_many_arguments)]
fn meetings<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray1<'py, u32>,
    runs: PyReadonlyArray1<'py, i64>,
    nearest: usize,
    farthest: usize,
    boundary: Option<u32>,
    first: u32,
    last: u32,
) -> PyResult<KeysAndCounts<'py>> {
    let grouped: Ragged<'py, u32> = (rows, runs);
    let (rows, runs) = ragged(&grouped, py)?;
    if nearest == 0 {
        return Err(error(py, "OptionError", "nearest=0 would pair rows with themselves: 1 or more".into()));
    }
    let (pairs, times) = enter(py, 1, || kernel_meetings(rows, runs, nearest..=farthest, boundary, first..=last))?;
    Ok((pairs.into_pyarray(py), times.into_pyarray(py)))
}

/// Rows of two blocks of signatures (of one, if there is no other) that agree in `least` slots or more, and in how many.
#[pyfunction]
#[pyo3(signature = (left, right=None, *, least, path=None))]
fn agreeing_pairs<'py>(
    py: Python<'py>,
    left: PyReadonlyArray2<'py, u32>,
    right: Option<PyReadonlyArray2<'py, u32>>,
    least: usize,
    path: Option<&str>,
) -> PyResult<ThreeColumns<'py>> {
    let level = level(py, path)?;
    let (ones, slots) = matrix("left", &left, py)?;
    let (others, width) = right.as_ref().map_or(Ok((ones, slots)), |right| matrix("right", right, py))?;
    if slots == 0 || width != slots {
        return Err(error(py, "OptionError", format!("blocks of {slots} and {width} slots do not compare")));
    }
    let within = right.is_none();
    let found = enter(py, 1, || {
        let mut found: Vec<Agreeing> = Vec::new();
        agreeing(level, ones, others, slots, least, within, &mut found);
        found
    })?;
    let column = |part: fn(&Agreeing) -> u32| found.iter().map(part).collect::<Vec<u32>>().into_pyarray(py);
    Ok((column(|pair| pair.i), column(|pair| pair.j), column(|pair| pair.slots)))
}

/// The bucket keys of sets as columns folded to 2^level rows, for levels `first` to `last` of each, and the set each key is of.
#[pyfunction]
#[pyo3(signature = (sets, first, last, *, bands, rows, seed))]
#[allow(clippy::too_many_arguments)]
fn pyramid_keys<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    first: PyReadonlyArray1<'py, u8>,
    last: PyReadonlyArray1<'py, u8>,
    bands: usize,
    rows: usize,
    seed: u64,
) -> PyResult<KeysAndCounts<'py>> {
    let (elements, offsets) = ragged(&sets, py)?;
    let (first, last) = (slice("first", &first, py)?, slice("last", &last, py)?);
    same_length(first.len(), offsets.len() - 1, py)?;
    same_length(last.len(), offsets.len() - 1, py)?;
    let fits = bands.checked_mul(rows).is_some_and(|sampled| (1..=MOST_SLOTS).contains(&sampled));
    if !fits || last.iter().any(|&level| level > 40) {
        let what = format!("a pyramid has 1 to {MOST_SLOTS} rows in bands, and levels up to 40");
        return Err(error(py, "OptionError", what));
    }
    let sampling = Sampling { bands, rows, seed };
    let (keys, of) = enter(py, 1, || pyramid::keys(elements, offsets, first, last, &sampling))?;
    Ok((keys.into_pyarray(py), of.into_pyarray(py)))
}

/// How many pairs of items in one basket fall into each of 2^`bits` buckets.
#[pyfunction]
#[pyo3(signature = (sets, *, bits))]
fn pair_buckets<'py>(py: Python<'py>, sets: Ragged<'py, u64>, bits: u32) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (items, offsets) = ragged(&sets, py)?;
    if !(1..=32).contains(&bits) {
        return Err(error(py, "OptionError", format!("bits={bits} is out of range: 2 to 2³² buckets, bits=1 to 32")));
    }
    room_for::<u32>([1 << bits])?;
    Ok(enter(py, 1, || baskets::bucket_counts(items, offsets, bits))?.into_pyarray(py))
}

/// Pairs of item numbers in one basket, packed, and in how many; of frequent buckets only, if those and the items' hashes are given.
#[pyfunction]
#[pyo3(signature = (sets, hashes, frequent=None))]
fn basket_pairs<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u32>,
    hashes: PyReadonlyArray1<'py, u64>,
    frequent: Option<PyReadonlyArray1<'py, bool>>,
) -> PyResult<KeysAndCounts<'py>> {
    let (items, offsets) = ragged(&sets, py)?;
    let hashes = slice("hashes", &hashes, py)?;
    row_numbers("sets", &sets.0, hashes.len(), py)?;
    let frequent = frequent.as_ref().map(|frequent| slice("frequent", frequent, py)).transpose()?;
    if frequent.is_some_and(|frequent| frequent.len() < 2 || !frequent.len().is_power_of_two()) {
        return Err(error(py, "OptionError", "frequent has an entry a bucket, a power of two of them".into()));
    }
    let filter = frequent.map(|frequent| baskets::Filter { hashes, frequent });
    let (pairs, times) = enter(py, 1, || baskets::pair_counts(items, offsets, filter.as_ref()))?;
    Ok((pairs.into_pyarray(py), times.into_pyarray(py)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(meetings, module)?)?;
    module.add_function(wrap_pyfunction!(agreeing_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(pyramid_keys, module)?)?;
    module.add_function(wrap_pyfunction!(pair_buckets, module)?)?;
    module.add_function(wrap_pyfunction!(basket_pairs, module)?)
}
