//! Vectors → signatures and bucket keys; candidates → exact distances.

use lookalike_kernels::bands::Bands;
use lookalike_kernels::crowds;
use lookalike_kernels::hyperplane::{self, Hyperplanes, Normals};
use lookalike_kernels::probes::{self, Probing, Reached};
use lookalike_kernels::projection::{self, Coordinate, Lines, Stable};
use lookalike_kernels::simd::Level;
use lookalike_kernels::vectors::{Matrices, Measure, compare, contents};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{Ragged, matrix, ragged, room_for, rows, same_length};
use crate::doorway::{enter, error, level};

/// A matrix of either width of floats.
#[derive(FromPyObject)]
enum Vectors<'py> {
    Narrow(PyReadonlyArray2<'py, f32>),
    Wide(PyReadonlyArray2<'py, f64>),
}

/// Matrices of one width of floats.
#[derive(FromPyObject)]
enum Pieces<'py> {
    Narrow(Vec<PyReadonlyArray2<'py, f32>>),
    Wide(Vec<PyReadonlyArray2<'py, f64>>),
}

enum Functions {
    Planes(Hyperplanes),
    Lines(Lines),
}

/// Random functions of vectors: sides of hyperplanes (`hyperplanes`, `signs`), or buckets on lines (`gaussian`, `cauchy`).
#[pyclass(frozen, module = "lookalike._core")]
pub struct Projections {
    functions: Functions,
    dimensions: usize,
    first: usize,
    slots: usize,
}

#[pymethods]
impl Projections {
    #[new]
    #[pyo3(signature = (kind, *, dimensions, slots, seed, width=1.0, first=0))]
    fn new(
        py: Python<'_>,
        kind: &str,
        dimensions: usize,
        slots: usize,
        seed: u64,
        width: f64,
        first: usize,
    ) -> PyResult<Projections> {
        let last = first.saturating_add(slots);
        if dimensions == 0 || slots == 0 || last > 1 << 16 || dimensions.checked_mul(slots).is_none_or(|n| n > 1 << 31)
        {
            let what = format!(
                "{last} functions of {dimensions} coordinates are out of range: 1 to 65,536 functions, and 2³¹ numbers in all"
            );
            return Err(error(py, "OptionError", what));
        }
        // Directions are held sixteen at a time.
        let held = [slots.next_multiple_of(16), dimensions];
        match kind {
            "hyperplanes" | "signs" => room_for::<f32>(held)?,
            _ => room_for::<f64>(held)?,
        }
        let drawn = first..last;
        let draw: Box<dyn FnOnce() -> Functions + Send> = match kind {
            "hyperplanes" => {
                Box::new(move || Functions::Planes(Hyperplanes::new(Normals::Gaussian, dimensions, drawn, seed)))
            }
            "signs" => Box::new(move || Functions::Planes(Hyperplanes::new(Normals::Signs, dimensions, drawn, seed))),
            "gaussian" => {
                Box::new(move || Functions::Lines(Lines::new(Stable::Gaussian, dimensions, drawn, width, seed)))
            }
            "cauchy" => Box::new(move || Functions::Lines(Lines::new(Stable::Cauchy, dimensions, drawn, width, seed))),
            other => {
                return Err(error(
                    py,
                    "OptionError",
                    format!("kind={other:?} is not one of hyperplanes, signs, gaussian, cauchy"),
                ));
            }
        };
        Ok(Projections { functions: enter(py, 1, draw)?, dimensions, first, slots })
    }

    /// On which side of every hyperplane each row lies, 0 or 1.
    #[pyo3(signature = (vectors, *, threads, path=None))]
    fn sides<'py>(
        &self,
        py: Python<'py>,
        vectors: Vectors<'py>,
        threads: usize,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let Functions::Planes(planes) = &self.functions else {
            return Err(error(py, "OptionError", "lines have buckets, not sides".into()));
        };
        let level = level(py, path)?;
        match &vectors {
            Vectors::Narrow(array) => {
                self.signed(py, array, threads, |values, out| hyperplane::sides(level, values, planes, out))
            }
            Vectors::Wide(array) => {
                self.signed(py, array, threads, |values, out| hyperplane::sides(level, values, planes, out))
            }
        }
    }

    /// In which bucket of every line each row lies.
    #[pyo3(signature = (vectors, *, threads, path=None))]
    fn buckets<'py>(
        &self,
        py: Python<'py>,
        vectors: Vectors<'py>,
        threads: usize,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let Functions::Lines(lines) = &self.functions else {
            return Err(error(py, "OptionError", "hyperplanes have sides, not buckets".into()));
        };
        let level = level(py, path)?;
        match &vectors {
            Vectors::Narrow(array) => {
                self.signed(py, array, threads, |values, out| projection::buckets(level, values, lines, out))
            }
            Vectors::Wide(array) => {
                self.signed(py, array, threads, |values, out| projection::buckets(level, values, lines, out))
            }
        }
    }

    /// The bucket keys of every row, a line a band, on this thread.
    #[pyo3(signature = (vectors, *, bands, rows, path=None))]
    fn keys<'py>(
        &self,
        py: Python<'py>,
        vectors: Vectors<'py>,
        bands: usize,
        rows: usize,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        if rows == 0 || bands.checked_mul(rows).is_none_or(|slots| slots > self.slots) {
            let what = format!("{bands} bands of {rows} rows do not fit into {} slots", self.slots);
            return Err(error(py, "OptionError", what));
        }
        let level = level(py, path)?;
        match &vectors {
            Vectors::Narrow(array) => self.keyed(py, array, level, Bands::new(0, bands, rows)),
            Vectors::Wide(array) => self.keyed(py, array, level, Bands::new(0, bands, rows)),
        }
    }

    /// The keys of the buckets that each row looks into, its own first: a line a band and bucket, on this thread. A set is a line of `sets`: an
    /// earlier one by number (0 is no step), and the rank of the slot that is stepped out of as well, or its complement for the farther edge.
    #[pyo3(signature = (vectors, *, bands, rows, sets, path=None))]
    fn probe_keys<'py>(
        &self,
        py: Python<'py>,
        vectors: Vectors<'py>,
        bands: usize,
        rows: usize,
        sets: PyReadonlyArray2<'py, i16>,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let fits = rows > 0 && bands.checked_mul(rows).is_some_and(|slots| slots <= self.slots);
        if !fits || !self.first.is_multiple_of(rows) {
            let what =
                format!("{bands} bands of {rows} rows do not fit into {} slots from {} on", self.slots, self.first);
            return Err(error(py, "OptionError", what));
        }
        let (numbers, width) = matrix("sets", &sets, py)?;
        let sided = matches!(self.functions, Functions::Lines(_));
        let mut reached = Vec::with_capacity(numbers.len() / 2);
        for set in numbers.chunks_exact(width.max(1)) {
            let &[from, rank] = set else { break };
            let far = rank < 0;
            reached.push(Reached { from: from as usize, rank: if far { !rank } else { rank } as usize, far });
        }
        let probing = Probing { first: self.first / rows, bands, rows, sets: &reached };
        if width != 2 || !probing.is_sound() || (!sided && reached.iter().any(|set| set.far)) {
            let what = format!("these are no sets of steps out of {rows} slots: earlier sets, and ranks");
            return Err(error(py, "OptionError", what));
        }
        let level = level(py, path)?;
        match &vectors {
            Vectors::Narrow(array) => self.probed(py, array, level, probing),
            Vectors::Wide(array) => self.probed(py, array, level, probing),
        }
    }
}

impl Projections {
    fn checked<'a, T: Element>(&self, py: Python<'_>, array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
        let (values, width) = matrix("vectors", array, py)?;
        if width != self.dimensions {
            let what = format!("vectors of {width} coordinates, but these functions are of {}", self.dimensions);
            return Err(error(py, "OptionError", what));
        }
        Ok(values)
    }

    fn signed<'py, T: Element + Sync, S: Element + Default + Clone + Send>(
        &self,
        py: Python<'py>,
        array: &PyReadonlyArray2<'py, T>,
        threads: usize,
        sign: impl FnOnce(&[T], &mut [S]) + Send,
    ) -> PyResult<Bound<'py, PyArray2<S>>> {
        let values = self.checked(py, array)?;
        let count = values.len() / self.dimensions;
        room_for::<S>([count, self.slots])?;
        let out = enter(py, threads, || {
            let mut out = vec![S::default(); count * self.slots];
            sign(values, &mut out);
            out
        })?;
        out.into_pyarray(py).reshape([count, self.slots])
    }

    fn keyed<'py, T: Element + Coordinate>(
        &self,
        py: Python<'py>,
        array: &PyReadonlyArray2<'py, T>,
        level: Level,
        bands: Bands,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let values = self.checked(py, array)?;
        let count = values.len() / self.dimensions;
        room_for::<u64>([count, bands.count()])?;
        let keys = enter(py, 1, || {
            let mut keys = vec![0; bands.count() * count];
            match &self.functions {
                Functions::Planes(planes) => hyperplane::side_keys(level, values, planes, &bands, &mut keys),
                Functions::Lines(lines) => projection::bucket_keys(level, values, lines, &bands, &mut keys),
            }
            keys
        })?;
        keys.into_pyarray(py).reshape([bands.count(), count])
    }

    fn probed<'py, T: Element + Coordinate>(
        &self,
        py: Python<'py>,
        array: &PyReadonlyArray2<'py, T>,
        level: Level,
        probing: Probing<'_>,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let values = self.checked(py, array)?;
        let (count, lines_of_keys) = (values.len() / self.dimensions, probing.bands * probing.probes());
        room_for::<u64>([lines_of_keys, count])?;
        let keys = enter(py, 1, || {
            let mut keys = vec![0; lines_of_keys * count];
            match &self.functions {
                Functions::Planes(planes) => probes::cone_keys(level, values, planes, &probing, &mut keys),
                Functions::Lines(lines) => probes::cell_keys(level, values, lines, &probing, &mut keys),
            }
            keys
        })?;
        keys.into_pyarray(py).reshape([lines_of_keys, count])
    }
}

/// The distances (or cosines) of rows `a[i]` and `b[i]` of matrices given in pieces; an angle clearly over the one of `cosine_at_least` may be infinite.
#[pyfunction]
#[pyo3(signature = (pieces, a, b, measure, *, threads, cosine_at_least=-1.0, path=None))]
#[allow(clippy::too_many_arguments)]
fn compare_vectors<'py>(
    py: Python<'py>,
    pieces: Pieces<'py>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    measure: &str,
    threads: usize,
    cosine_at_least: f64,
    path: Option<&str>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = match measure {
        "angle" => Measure::Angle,
        "cosine" => Measure::Cosine,
        "l2" => Measure::L2,
        "l1" => Measure::L1,
        "linf" => Measure::Greatest,
        other => {
            return Err(error(
                py,
                "OptionError",
                format!("measure={other:?} is not one of angle, cosine, l2, l1, linf"),
            ));
        }
    };
    let level = level(py, path)?;
    match &pieces {
        Pieces::Narrow(arrays) => compared(py, arrays, &a, &b, measure, level, threads, cosine_at_least),
        Pieces::Wide(arrays) => compared(py, arrays, &a, &b, measure, level, threads, cosine_at_least),
    }
}

#[allow(clippy::too_many_arguments)]
fn compared<'py, T: Element + Coordinate>(
    py: Python<'py>,
    arrays: &[PyReadonlyArray2<'py, T>],
    a: &PyReadonlyArray1<'py, u32>,
    b: &PyReadonlyArray1<'py, u32>,
    measure: Measure,
    level: Level,
    threads: usize,
    cosine_at_least: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let pieces = arrays.iter().map(|array| matrix("vectors", array, py)).collect::<PyResult<Vec<_>>>()?;
    let width = pieces.first().map_or(1, |piece| piece.1);
    if width == 0 || pieces.iter().any(|piece| piece.1 != width) {
        return Err(error(py, "OptionError", "all vectors must have the same number of coordinates, 1 or more".into()));
    }
    let items = Matrices::new(pieces.into_iter().map(|piece| piece.0).collect(), width);
    let (a, b) = (rows("a", a, items.len(), py)?, rows("b", b, items.len(), py)?);
    same_length(a.len(), b.len(), py)?;
    let out = enter(py, threads, || {
        let mut out = vec![0.0; a.len()];
        compare(level, &items, a, b, measure, cosine_at_least, &mut out);
        out
    })?;
    Ok(out.into_pyarray(py))
}

/// A hash of every row: the same for the same numbers.
#[pyfunction]
#[pyo3(signature = (vectors, *, seed))]
fn vector_contents<'py>(py: Python<'py>, vectors: Vectors<'py>, seed: u64) -> PyResult<Bound<'py, PyArray1<u64>>> {
    match &vectors {
        Vectors::Narrow(array) => hashed(py, array, seed),
        Vectors::Wide(array) => hashed(py, array, seed),
    }
}

fn hashed<'py, T: Element + Coordinate>(
    py: Python<'py>,
    array: &PyReadonlyArray2<'py, T>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (values, width) = matrix("vectors", array, py)?;
    if width == 0 {
        return Err(error(py, "OptionError", "vectors must have 1 coordinate or more".into()));
    }
    let out = enter(py, 1, || {
        let mut out = vec![0; values.len() / width];
        contents(values, width, seed, &mut out);
        out
    })?;
    Ok(out.into_pyarray(py))
}

/// Pairs of rows that share a bucket, at most `most` a row, packed as a·2³² + b; and how many pairs were left out.
#[pyfunction]
#[pyo3(signature = (rows, runs, *, most, boundary=None))]
fn crowd_pairs<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray1<'py, u32>,
    runs: PyReadonlyArray1<'py, i64>,
    most: usize,
    boundary: Option<u32>,
) -> PyResult<(Bound<'py, PyArray1<u64>>, u64)> {
    let buckets: Ragged<'py, u32> = (rows, runs);
    let (rows, runs) = ragged(&buckets, py)?;
    let (pairs, left_out) = enter(py, 1, || crowds::pairs(rows, runs, boundary, most))?;
    Ok((pairs.into_pyarray(py), left_out))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Projections>()?;
    module.add_function(wrap_pyfunction!(compare_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(vector_contents, module)?)?;
    module.add_function(wrap_pyfunction!(crowd_pairs, module)?)
}
