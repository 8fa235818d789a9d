//! Sets → prefixes → candidates → exact counts; strings → grams → distances.

use lookalike_kernels::edit::{Edits, distance, extend_letters, grams as kernel_grams};
use lookalike_kernels::prefix::entries::{Asking, Cut, count as count_prefixes, entries, everybody};
use lookalike_kernels::prefix::order::{count, ordered, ranks};
use lookalike_kernels::prefix::pairs::{Runs, candidates};
use lookalike_kernels::prefix::shared::{Met, shared};
use lookalike_kernels::prefix::{Bound as Asked, order::MOST_BITS};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Ragged, picked, ragged, room_for, same_length, slice};
use crate::doorway::{enter, error, level};

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Given<'py, T> = PyReadonlyArray1<'py, T>;
/// Key, row, size, position, previous, bits, side.
type EntryColumns<'py> = (
    Column<'py, u64>,
    Column<'py, u32>,
    Column<'py, u32>,
    Column<'py, u32>,
    Column<'py, u64>,
    Column<'py, u64>,
    Column<'py, u8>,
);
type GivenEntries<'py> = (
    Given<'py, u64>,
    Given<'py, u32>,
    Given<'py, u32>,
    Given<'py, u32>,
    Given<'py, u64>,
    Given<'py, u64>,
    Given<'py, u8>,
);
type FourColumns<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);
type GivenFour<'py> = (Given<'py, u32>, Given<'py, u32>, Given<'py, u32>, Given<'py, u32>);
type ThreeColumns<'py> = (Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);

/// What is asked of two sets: a similarity of at least `threshold`, or, of sets of `q`-grams, at most `threshold` edits.
#[pyclass(frozen, module = "lookalike._core")]
pub struct LeastShared {
    bound: Asked,
}

#[pymethods]
impl LeastShared {
    #[new]
    #[pyo3(signature = (measure, threshold, *, q=1))]
    fn new(py: Python<'_>, measure: &str, threshold: f64, q: u32) -> PyResult<LeastShared> {
        if !(0.0..f64::INFINITY).contains(&threshold) || q == 0 {
            let what = format!("threshold={threshold}, q={q}: a threshold is a number, 0 or more, and q is at least 1");
            return Err(error(py, "OptionError", what));
        }
        let edits = threshold as u32;
        let bound = match measure {
            "jaccard" => Asked::Jaccard(threshold),
            "containment" => Asked::Containment(threshold),
            "cosine" => Asked::Cosine(threshold),
            "overlap" => Asked::Overlap(threshold),
            // An edit changes q grams at most, of either string; an insertion takes none of the other's grams apart but q − 1.
            "levenshtein" => Asked::Levenshtein { apart: edits, lost: edits.saturating_mul(q) },
            "indel" => Asked::Indel { apart: edits, lost: edits.saturating_mul(2 * q - 1) },
            other => return Err(error(py, "OptionError", format!("measure={other:?} is unknown here"))),
        };
        Ok(LeastShared { bound })
    }

    /// The least count that sets of these sizes must share; 2³² − 1 if they cannot, 0 if sizes and grams say nothing.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u32>,
        b: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Column<'py, u32>> {
        let (a, b) = (slice("a", &a, py)?, slice("b", &b, py)?);
        same_length(a.len(), b.len(), py)?;
        let least: Vec<u32> = enter(py, 1, || a.iter().zip(b).map(|(&a, &b)| self.bound.least_shared(a, b)).collect())?;
        Ok(least.into_pyarray(py))
    }
}

/// Each letter of a string stands in so many grams.
const LONGEST_GRAM: usize = 64;

fn no_counts(py: Python<'_>, bits: u32) -> PyResult<Vec<u32>> {
    if !(1..=MOST_BITS).contains(&bits) {
        return Err(error(py, "OptionError", format!("bits={bits}: elements are counted by 1 to {MOST_BITS} bits")));
    }
    Ok(vec![0; 1 << bits])
}

fn table<'a>(name: &str, counts: &'a Given<'_, u32>, py: Python<'_>) -> PyResult<&'a [u32]> {
    let counts = slice(name, counts, py)?;
    if counts.len() < 2 || !counts.len().is_power_of_two() || counts.len() > 1 << MOST_BITS {
        let what = format!("{name} has {} entries: a power of two from 2 to 2^{MOST_BITS}", counts.len());
        return Err(error(py, "OptionError", what));
    }
    Ok(counts)
}

/// One length a set, none beyond the set.
fn lengths<'a>(given: &'a Given<'_, u32>, offsets: &[i64], py: Python<'_>) -> PyResult<&'a [u32]> {
    let lengths = slice("lengths", given, py)?;
    same_length(lengths.len(), offsets.len() - 1, py)?;
    match offsets.windows(2).zip(lengths).position(|(row, &length)| row[1] - row[0] < i64::from(length)) {
        Some(row) => Err(error(py, "OptionError", format!("the prefix of set {row} is longer than the set"))),
        None => Ok(lengths),
    }
}

/// One length a set, none beyond the prefix, and as many counts as there are of all.
fn asking_of<'a>(
    (asking, of_asking): &'a (Given<'_, u32>, Given<'_, u32>),
    lengths: &[u32],
    counts: &[u32],
    py: Python<'_>,
) -> PyResult<Asking<'a>> {
    let (asking, of_asking) = (slice("asking", asking, py)?, slice("asking", of_asking, py)?);
    same_length(asking.len(), lengths.len(), py)?;
    same_length(of_asking.len(), counts.len(), py)?;
    match asking.iter().zip(lengths).position(|(asks, shows)| asks > shows) {
        Some(row) => Err(error(py, "OptionError", format!("set {row} asks by more than its prefix"))),
        None => Ok(Asking { lengths: asking, counts: of_asking }),
    }
}

/// How many elements of sets have each of the 2^`bits` possible beginnings.
#[pyfunction]
#[pyo3(signature = (sets, *, bits))]
fn bucket_counts<'py>(py: Python<'py>, sets: Ragged<'py, u64>, bits: u32) -> PyResult<Column<'py, u32>> {
    let (elements, offsets) = ragged(&sets, py)?;
    let mut counts = no_counts(py, bits)?;
    let elements = &elements[offsets[0] as usize..offsets[offsets.len() - 1] as usize];
    enter(py, 1, || count(elements, &mut counts))?;
    Ok(counts.into_pyarray(py))
}

/// The rank of every bucket, least count first.
#[pyfunction]
fn bucket_ranks<'py>(py: Python<'py>, counts: PyReadonlyArray1<'py, u32>) -> PyResult<Column<'py, u32>> {
    let counts = table("counts", &counts, py)?;
    Ok(enter(py, 1, || ranks(counts))?.into_pyarray(py))
}

/// The elements of sets as codes, rarest first; sets begin where they began, less the first offset.
#[pyfunction]
fn order_sets<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    ranks: PyReadonlyArray1<'py, u32>,
) -> PyResult<Column<'py, u64>> {
    let (elements, offsets) = ragged(&sets, py)?;
    let ranks = table("ranks", &ranks, py)?;
    Ok(enter(py, 1, || ordered(elements, offsets, ranks))?.into_pyarray(py))
}

/// How many of the first `lengths` codes of every set have each beginning.
#[pyfunction]
#[pyo3(signature = (sets, prefixes, *, bits))]
fn prefix_counts<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    prefixes: PyReadonlyArray1<'py, u32>,
    bits: u32,
) -> PyResult<Column<'py, u32>> {
    let (codes, offsets) = ragged(&sets, py)?;
    let lengths = lengths(&prefixes, offsets, py)?;
    let mut counts = no_counts(py, bits)?;
    enter(py, 1, || count_prefixes(codes, offsets, lengths, &mut counts))?;
    Ok(counts.into_pyarray(py))
}

/// The entries of prefixes: key, row, size, position, previous, bits, side; or one entry for everybody, `everybody_of` so many sets.
///
/// `asking` says of how many of its first codes each set asks, and how often the codes asked of have each beginning.
#[pyfunction]
#[pyo3(signature = (sets, rows, prefixes, counts, *, block, boundary=None, everybody_of=None, asking=None))]
#[allow(clippy::too_many_arguments)]
fn prefix_entries<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    rows: PyReadonlyArray1<'py, u32>,
    prefixes: PyReadonlyArray1<'py, u32>,
    counts: PyReadonlyArray1<'py, u32>,
    block: u32,
    boundary: Option<u32>,
    everybody_of: Option<u32>,
    asking: Option<(Given<'py, u32>, Given<'py, u32>)>,
) -> PyResult<EntryColumns<'py>> {
    let (codes, offsets) = ragged(&sets, py)?;
    let (rows, lengths) = (slice("rows", &rows, py)?, lengths(&prefixes, offsets, py)?);
    same_length(rows.len(), lengths.len(), py)?;
    let counts = table("counts", &counts, py)?;
    let asking = asking.as_ref().map(|given| asking_of(given, lengths, counts, py)).transpose()?;
    let cut = Cut { counts, block: block.max(1), boundary, asking };
    if let Some(sets) = everybody_of {
        // One a block, of which a number that is no count of sets would make very many.
        room_for::<u64>([rows.len(), sets.div_ceil(cut.block) as usize])?;
    }
    let made = enter(py, 1, || match everybody_of {
        Some(sets) => everybody(codes, offsets, rows, lengths, sets, &cut),
        None => entries(codes, offsets, rows, lengths, &cut),
    })?;
    Ok((
        made.key.into_pyarray(py),
        made.row.into_pyarray(py),
        made.size.into_pyarray(py),
        made.position.into_pyarray(py),
        made.previous.into_pyarray(py),
        made.bits.into_pyarray(py),
        made.side.into_pyarray(py),
    ))
}

/// Candidates among entries, equal keys together: rows a and b, and where in each they met.
#[pyfunction]
#[pyo3(signature = (entries, bound, *, across, path=None))]
fn prefix_candidates<'py>(
    py: Python<'py>,
    entries: GivenEntries<'py>,
    bound: &LeastShared,
    across: bool,
    path: Option<&str>,
) -> PyResult<FourColumns<'py>> {
    let level = level(py, path)?;
    let (key, row, size, position, previous, bits, side) = &entries;
    let runs = Runs {
        key: slice("key", key, py)?,
        row: slice("row", row, py)?,
        size: slice("size", size, py)?,
        position: slice("position", position, py)?,
        previous: slice("previous", previous, py)?,
        bits: slice("bits", bits, py)?,
        side: slice("side", side, py)?,
    };
    for length in
        [runs.row.len(), runs.size.len(), runs.position.len(), runs.previous.len(), runs.bits.len(), runs.side.len()]
    {
        same_length(runs.key.len(), length, py)?;
    }
    let found = enter(py, 1, || candidates(level, runs, bound.bound, across))?;
    Ok((found.a.into_pyarray(py), found.b.into_pyarray(py), found.at_a.into_pyarray(py), found.at_b.into_pyarray(py)))
}

/// What candidates share (0 for those turned away), and their sizes; `met` are places a and b, and where in each they met.
#[pyfunction]
#[pyo3(signature = (pieces, met, bound, *, across, suffix, whole=false))]
fn prefix_shared<'py>(
    py: Python<'py>,
    pieces: Vec<Ragged<'py, u64>>,
    met: GivenFour<'py>,
    bound: &LeastShared,
    across: bool,
    suffix: bool,
    whole: bool,
) -> PyResult<ThreeColumns<'py>> {
    let (sets, a, b) = picked(&pieces, &met.0, &met.1, py)?;
    let met = Met { a, b, at_a: slice("at_a", &met.2, py)?, at_b: slice("at_b", &met.3, py)? };
    for length in [met.at_a.len(), met.at_b.len()] {
        same_length(met.a.len(), length, py)?;
    }
    let found = enter(py, 1, || shared(&sets, met, bound.bound, across, suffix, whole))?;
    let shared: Vec<u32> = found.iter().map(|pair| pair.shared).collect();
    let size_a: Vec<u32> = found.iter().map(|pair| pair.size_a).collect();
    let size_b: Vec<u32> = found.iter().map(|pair| pair.size_b).collect();
    Ok((shared.into_pyarray(py), size_a.into_pyarray(py), size_b.into_pyarray(py)))
}

/// The q-grams of strings as sets, repeats being elements of their own.
#[pyfunction]
#[pyo3(signature = (texts, *, q))]
fn grams<'py>(py: Python<'py>, texts: Ragged<'py, u8>, q: usize) -> PyResult<(Column<'py, u64>, Column<'py, i64>)> {
    let (values, offsets) = ragged(&texts, py)?;
    if !(1..=LONGEST_GRAM).contains(&q) {
        return Err(error(py, "OptionError", format!("q={q}: a gram holds 1 to {LONGEST_GRAM} letters")));
    }
    let (elements, starts) = enter(py, 1, || kernel_grams(values, offsets, q))?;
    Ok((elements.into_pyarray(py), starts.into_pyarray(py)))
}

/// Edit distances of strings, given in pieces; `most` + 1 stands for any that is larger than `most`.
#[pyfunction]
#[pyo3(signature = (pieces, a, b, *, kind, most))]
fn edit_distances<'py>(
    py: Python<'py>,
    pieces: Vec<Ragged<'py, u8>>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    kind: &str,
    most: u32,
) -> PyResult<Column<'py, u32>> {
    let (texts, a, b) = picked(&pieces, &a, &b, py)?;
    let edits = match kind {
        "levenshtein" => Edits::Levenshtein,
        "indel" => Edits::Indel,
        other => return Err(error(py, "OptionError", format!("kind={other:?} is neither levenshtein nor indel"))),
    };
    let distances: Vec<u32> = enter(py, 1, || {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let one = |(&a, &b): (&u32, &u32)| {
            left.clear();
            right.clear();
            extend_letters(texts.get(a), &mut left);
            extend_letters(texts.get(b), &mut right);
            distance(&left, &right, most, edits).unwrap_or(most.saturating_add(1))
        };
        a.iter().zip(b).map(one).collect()
    })?;
    Ok(distances.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LeastShared>()?;
    module.add_function(wrap_pyfunction!(bucket_counts, module)?)?;
    module.add_function(wrap_pyfunction!(bucket_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(order_sets, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_counts, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_entries, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_candidates, module)?)?;
    module.add_function(wrap_pyfunction!(prefix_shared, module)?)?;
    module.add_function(wrap_pyfunction!(grams, module)?)?;
    module.add_function(wrap_pyfunction!(edit_distances, module)?)
}
