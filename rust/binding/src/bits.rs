//! Rows of bits: counts, scans, bucket keys, pairs, and tables for queries. A row is a row of a matrix of 64-bit words.

use lookalike_kernels::bits::masks::{self, Masks};
use lookalike_kernels::bits::{self, Apart, Bound, Rows, blocks, buckets::Buckets, covering, table::Table};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Ragged, matrix, ragged, room_for, rows as row_numbers, same_length, slice};
use crate::doorway::{enter, error, level};

type TwoColumns<'py> = (Column<'py>, Column<'py>);
type ThreeColumns<'py> = (Column<'py>, Column<'py>, Column<'py>);
type Column<'py> = pyo3::Bound<'py, PyArray1<u32>>;

/// A matrix as rows of bits.
fn bit_rows<'a>(name: &str, array: &'a PyReadonlyArray2<'_, u64>, py: Python<'_>) -> PyResult<Rows<'a>> {
    let (values, words) = matrix(name, array, py)?;
    if words == 0 {
        return Err(error(py, "OptionError", format!("{name} has rows without a bit")));
    }
    if values.len() / words >= u32::MAX as usize {
        return Err(error(py, "OptionError", format!("{name} has more rows than can be told apart (2³² − 2)")));
    }
    Ok(Rows::new(values, words))
}

fn same_words(a: usize, b: usize, py: Python<'_>) -> PyResult<()> {
    if a == b {
        return Ok(());
    }
    Err(error(py, "OptionError", format!("bits of {a} and of {b} words do not compare")))
}

fn bound(py: Python<'_>, measure: &str, threshold: f64) -> PyResult<Bound> {
    match measure {
        "hamming" if (0.0..=f64::from(u32::MAX)).contains(&threshold) => Ok(Bound::Hamming(threshold as u32)),
        "jaccard" if threshold > 0.0 && threshold <= 1.0 => Ok(Bound::Tanimoto(threshold)),
        _ => Err(error(py, "OptionError", format!("threshold={threshold} is no threshold of measure={measure:?}"))),
    }
}

fn columns<'py>(py: Python<'py>, found: &[Apart]) -> ThreeColumns<'py> {
    let column = |part: fn(&Apart) -> u32| found.iter().map(part).collect::<Vec<u32>>().into_pyarray(py);
    (column(|pair| pair.a), column(|pair| pair.b), column(|pair| pair.bits))
}

/// How many bits of each row are set.
#[pyfunction]
#[pyo3(signature = (rows, *, path=None))]
fn bit_sizes<'py>(py: Python<'py>, rows: PyReadonlyArray2<'py, u64>, path: Option<&str>) -> PyResult<Column<'py>> {
    let (level, rows) = (level(py, path)?, bit_rows("rows", &rows, py)?);
    let sizes = enter(py, 1, || {
        let mut sizes = vec![0; rows.len()];
        bits::sizes(level, rows, &mut sizes);
        sizes
    })?;
    Ok(sizes.into_pyarray(py))
}

/// How many bits are set in both rows `a[i]` and `b[i]`, and in either.
#[pyfunction]
#[pyo3(signature = (rows, a, b, *, path=None))]
fn compare_bits<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    path: Option<&str>,
) -> PyResult<TwoColumns<'py>> {
    let (level, rows) = (level(py, path)?, bit_rows("rows", &rows, py)?);
    let (a, b) = (row_numbers("a", &a, rows.len(), py)?, row_numbers("b", &b, rows.len(), py)?);
    same_length(a.len(), b.len(), py)?;
    let (shared, joint): (Vec<u32>, Vec<u32>) = enter(py, 1, || {
        let mut counts = vec![(0, 0); a.len()];
        bits::compare(level, rows, a, b, &mut counts);
        counts.into_iter().unzip()
    })?;
    Ok((shared.into_pyarray(py), joint.into_pyarray(py)))
}

/// The rows within `most` bits of a query, by looking at all of them, and how far they are.
#[pyfunction]
#[pyo3(signature = (rows, query, *, most, path=None))]
fn scan_bits<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    query: PyReadonlyArray1<'py, u64>,
    most: u32,
    path: Option<&str>,
) -> PyResult<TwoColumns<'py>> {
    let (level, rows) = (level(py, path)?, bit_rows("rows", &rows, py)?);
    let query = slice("query", &query, py)?;
    same_words(rows.words(), query.len(), py)?;
    let (found, apart): (Vec<u32>, Vec<u32>) = enter(py, 1, || {
        let mut found = Vec::new();
        bits::scan(level, rows, query, most, &mut found);
        found.into_iter().unzip()
    })?;
    Ok((found.into_pyarray(py), apart.into_pyarray(py)))
}

/// Rows of two blocks (of one, if there is no other) that reach a threshold, and in how many bits they differ; `plain`: by counting all bits of all pairs.
#[pyfunction]
#[pyo3(signature = (left, right=None, *, measure, threshold, plain=false, path=None))]
#[allow(clippy::too_many_arguments)]
fn bit_pairs<'py>(
    py: Python<'py>,
    left: PyReadonlyArray2<'py, u64>,
    right: Option<PyReadonlyArray2<'py, u64>>,
    measure: &str,
    threshold: f64,
    plain: bool,
    path: Option<&str>,
) -> PyResult<ThreeColumns<'py>> {
    let (level, bound) = (level(py, path)?, bound(py, measure, threshold)?);
    let ones = bit_rows("left", &left, py)?;
    let others = right.as_ref().map(|right| bit_rows("right", right, py)).transpose()?;
    same_words(ones.words(), others.map_or(ones.words(), |others| others.words()), py)?;
    let found = enter(py, 1, || {
        if !plain {
            return blocks::pairs(level, ones, others, bound);
        }
        let mut found = Vec::new();
        blocks::every_pair(level, ones, others.unwrap_or(ones), others.is_none(), bound, &mut found);
        found
    })?;
    Ok(columns(py, &found))
}

fn checked_width(py: Python<'_>, width: u32) -> PyResult<()> {
    match width {
        0 => Err(error(py, "OptionError", "width=0 is out of range: rows have a bit at least".into())),
        _ => Ok(()),
    }
}

/// `count` positions of rows of `width` bits, each drawn anew.
#[pyfunction]
#[pyo3(signature = (width, count, *, seed))]
fn drawn_positions(py: Python<'_>, width: u32, count: usize, seed: u64) -> PyResult<Column<'_>> {
    checked_width(py, width)?;
    room_for::<u32>([count])?;
    Ok(masks::drawn(width, count, seed).into_pyarray(py))
}

/// The positions of bands of so many rows, one band after the other: bands of one shuffle of the positions share none.
#[pyfunction]
#[pyo3(signature = (width, *, rows, bands, seed))]
fn dealt_positions(py: Python<'_>, width: u32, rows: u32, bands: usize, seed: u64) -> PyResult<Column<'_>> {
    checked_width(py, width)?;
    if rows == 0 || rows > width {
        let what = format!("rows={rows} is out of range: a band of {width} bits has 1 to {width}");
        return Err(error(py, "OptionError", what));
    }
    room_for::<u32>([rows as usize, bands])?;
    Ok(masks::dealt(width, rows, bands, seed).into_pyarray(py))
}

/// Masks of rows of `width` bits under one of which whatever is within the radius agrees: their positions, and where each mask begins.
///
/// In several parts there are fewer of them, of fewer bits each; in as many as the radius and one, a mask a part.
#[pyfunction]
#[pyo3(signature = (width, radius, *, parts, seed))]
fn covering_positions(
    py: Python<'_>,
    width: u32,
    radius: u32,
    parts: u32,
    seed: u64,
) -> PyResult<(Column<'_>, pyo3::Bound<'_, PyArray1<i64>>)> {
    checked_width(py, width)?;
    let dimensions = u64::from(radius) + 1;
    if parts == 0 || u64::from(parts) > dimensions || dimensions > 16 * u64::from(parts) {
        let what = format!("parts={parts} is out of range: of radius {radius}, a part covers 1 to 16 bits");
        return Err(error(py, "OptionError", what));
    }
    // Each part holds its positions in half of its masks, which are as many as its dimensions have subsets.
    let subsets = 1usize << dimensions.div_ceil(u64::from(parts));
    room_for::<u32>([width as usize, subsets / 2 + 1])?;
    room_for::<i64>([parts as usize, subsets])?;
    let (positions, offsets) = enter(py, 1, || covering::covering(width, radius, parts, seed))?;
    Ok((positions.into_pyarray(py), offsets.into_pyarray(py)))
}

fn checked_positions(py: Python<'_>, positions: &[u32], words: usize) -> PyResult<()> {
    match positions.iter().find(|&&position| position as usize >= 64 * words) {
        Some(position) => {
            Err(error(py, "OptionError", format!("there is no bit {position} in rows of {} bits", 64 * words)))
        }
        None => Ok(()),
    }
}

/// The bits of every row at these positions, as rows.
#[pyfunction]
fn sample_bits<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    positions: PyReadonlyArray1<'py, u32>,
) -> PyResult<pyo3::Bound<'py, PyArray2<u64>>> {
    let (rows, positions) = (bit_rows("rows", &rows, py)?, slice("positions", &positions, py)?);
    checked_positions(py, positions, rows.words())?;
    let words = positions.len().div_ceil(64).max(1);
    room_for::<u64>([rows.len(), words])?;
    let sampled = enter(py, 1, || {
        let mut sampled = vec![0; rows.len() * words];
        for (row, out) in rows.iter().zip(sampled.chunks_exact_mut(words)) {
            masks::sample(row, positions, out);
        }
        sampled
    })?;
    sampled.into_pyarray(py).reshape([rows.len(), words])
}

/// Masks of rows of so many 64-bit words: of the positions from each offset to the next.
#[pyclass(frozen, module = "lookalike._core")]
pub struct BitMasks {
    masks: Masks,
    words: usize,
}

#[pymethods]
impl BitMasks {
    #[new]
    #[pyo3(signature = (positions, *, words))]
    fn new(py: Python<'_>, positions: Ragged<'_, u32>, words: usize) -> PyResult<BitMasks> {
        let (positions, offsets) = ragged(&positions, py)?;
        checked_positions(py, positions, words)?;
        if offsets.len() > 1 << 16 {
            return Err(error(py, "OptionError", format!("{} masks are more than keys tell apart", offsets.len() - 1)));
        }
        Ok(BitMasks { masks: Masks::new(positions, offsets), words })
    }

    /// The bucket keys of rows by masks `first` to before `last`: a row a mask, a column a row.
    fn keys<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, u64>,
        first: usize,
        last: usize,
    ) -> PyResult<pyo3::Bound<'py, PyArray2<u64>>> {
        let rows = bit_rows("rows", &rows, py)?;
        same_words(rows.words(), self.words, py)?;
        if first > last || last > self.masks.len() {
            let what = format!("there are no masks {first} to {last}: there are {}", self.masks.len());
            return Err(error(py, "OptionError", what));
        }
        room_for::<u64>([last - first, rows.len()])?;
        let keys = enter(py, 1, || {
            let mut keys = vec![0; (last - first) * rows.len()];
            self.masks.keys_into(first, rows, &mut keys);
            keys
        })?;
        keys.into_pyarray(py).reshape([last - first, rows.len()])
    }

    /// The bucket keys of rows by all masks: a row a row, a column a mask.
    #[pyo3(signature = (rows, *, threads))]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, u64>,
        threads: usize,
    ) -> PyResult<pyo3::Bound<'py, PyArray2<u64>>> {
        let rows = bit_rows("rows", &rows, py)?;
        same_words(rows.words(), self.words, py)?;
        room_for::<u64>([rows.len(), self.masks.len()])?;
        let signed = enter(py, threads, || {
            let mut signed = vec![0; rows.len() * self.masks.len()];
            self.masks.sign_into(rows, &mut signed);
            signed
        })?;
        signed.into_pyarray(py).reshape([rows.len(), self.masks.len()])
    }

    /// The pairs within a radius in buckets of rows, lower number first, and their distance; a bucket is one of the mask that `of` says.
    ///
    /// A pair is given in the first mask under which it agrees, and large buckets are cut again in the bits that their mask leaves.
    #[pyo3(signature = (rows, numbers, runs, of, *, radius, boundary=None, path=None))]
    #[allow(clippy::too_many_arguments)]
    fn covered_pairs<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, u64>,
        numbers: PyReadonlyArray1<'py, u32>,
        runs: PyReadonlyArray1<'py, i64>,
        of: PyReadonlyArray1<'py, u16>,
        radius: u32,
        boundary: Option<u32>,
        path: Option<&str>,
    ) -> PyResult<ThreeColumns<'py>> {
        let (level, rows) = (level(py, path)?, bit_rows("rows", &rows, py)?);
        same_words(rows.words(), self.words, py)?;
        let buckets: Ragged<'py, u32> = (numbers, runs);
        let (numbers, runs) = ragged(&buckets, py)?;
        let of = slice("of", &of, py)?;
        same_length(numbers.len(), rows.len(), py)?;
        same_length(of.len(), runs.len() - 1, py)?;
        if of.iter().any(|&mask| mask as usize >= self.masks.len()) {
            return Err(error(py, "OptionError", format!("there are only {} masks", self.masks.len())));
        }
        let found = enter(py, 1, || {
            let buckets = Buckets { level, rows, radius, boundary, numbers };
            let (mut found, mut places) = (Vec::new(), Vec::new());
            for (run, &mask) in runs.windows(2).zip(of) {
                places.clear();
                places.extend(run[0] as u32..run[1] as u32);
                buckets.covered(&places, &self.masks, mask as usize, &mut found);
            }
            found
        })?;
        Ok(columns(py, &found))
    }
}

/// The pairs within a radius in buckets of rows, all with all, lower number first, and their distance.
#[pyfunction]
#[pyo3(signature = (rows, numbers, runs, *, radius, boundary=None, path=None))]
#[allow(clippy::too_many_arguments)]
fn bucket_pairs<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, u64>,
    numbers: PyReadonlyArray1<'py, u32>,
    runs: PyReadonlyArray1<'py, i64>,
    radius: u32,
    boundary: Option<u32>,
    path: Option<&str>,
) -> PyResult<ThreeColumns<'py>> {
    let (level, rows) = (level(py, path)?, bit_rows("rows", &rows, py)?);
    let buckets: Ragged<'py, u32> = (numbers, runs);
    let (numbers, runs) = ragged(&buckets, py)?;
    same_length(numbers.len(), rows.len(), py)?;
    let found = enter(py, 1, || {
        let buckets = Buckets { level, rows, radius, boundary, numbers };
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for run in runs.windows(2) {
            places.clear();
            places.extend(run[0] as u32..run[1] as u32);
            buckets.each_with_each(&places, &mut found);
        }
        found
    })?;
    Ok(columns(py, &found))
}

/// Rows held for queries within a small radius.
#[pyclass(frozen, module = "lookalike._core")]
pub struct BitTable {
    table: Table,
}

#[pymethods]
impl BitTable {
    #[new]
    #[pyo3(signature = (rows, masks, *, radius, threads))]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, u64>,
        masks: Ragged<'_, u32>,
        radius: u32,
        threads: usize,
    ) -> PyResult<BitTable> {
        let rows = bit_rows("rows", &rows, py)?;
        let (positions, offsets) = ragged(&masks, py)?;
        checked_positions(py, positions, rows.words())?;
        if offsets.len() < 2 {
            return Err(error(py, "OptionError", "rows are looked up by one mask at least".into()));
        }
        Ok(BitTable { table: enter(py, threads, || Table::new(rows, Masks::new(positions, offsets), radius))? })
    }

    /// The rows within `most` bits of a query, in order, and how far they are.
    #[pyo3(signature = (query, *, most, path=None))]
    fn query<'py>(
        &self,
        py: Python<'py>,
        query: PyReadonlyArray1<'py, u64>,
        most: u32,
        path: Option<&str>,
    ) -> PyResult<TwoColumns<'py>> {
        let level = level(py, path)?;
        let query = slice("query", &query, py)?;
        same_words(self.table.words(), query.len(), py)?;
        if most > self.table.radius() {
            let what = format!("this table answers for up to {} bits, not {most}", self.table.radius());
            return Err(error(py, "OptionError", what));
        }
        let (rows, apart): (Vec<u32>, Vec<u32>) =
            enter(py, 1, || self.table.query(level, query, most).into_iter().unzip())?;
        Ok((rows.into_pyarray(py), apart.into_pyarray(py)))
    }
}

pub fn register(module: &pyo3::Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BitMasks>()?;
    module.add_class::<BitTable>()?;
    module.add_function(wrap_pyfunction!(bit_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(compare_bits, module)?)?;
    module.add_function(wrap_pyfunction!(scan_bits, module)?)?;
    module.add_function(wrap_pyfunction!(bit_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(drawn_positions, module)?)?;
    module.add_function(wrap_pyfunction!(dealt_positions, module)?)?;
    module.add_function(wrap_pyfunction!(covering_positions, module)?)?;
    module.add_function(wrap_pyfunction!(sample_bits, module)?)?;
    module.add_function(wrap_pyfunction!(bucket_pairs, module)?)
}
