//! Texts and tokens → sets.

use lookalike_kernels::shingle::{Folding, Spec, Unit, stop_hashes};
use lookalike_kernels::{hash, rare, sets, sieve};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::arrays::{Ragged, ragged, slice};
use crate::doorway::{enter, error, level};

/// Elements of sets, one set after the other, and where each begins.
type SetArrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<i64>>);
/// The same, and what was odd about each document.
type FlaggedSetArrays<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// How documents become sets: unit, window, folding, seed.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Shingler {
    pub spec: Spec,
}

#[pymethods]
impl Shingler {
    #[new]
    #[pyo3(signature = (unit, k, *, casefold, nfkc, whitespace, punctuation, bag, stops, seed))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        unit: &str,
        k: usize,
        casefold: bool,
        nfkc: bool,
        whitespace: bool,
        punctuation: bool,
        bag: bool,
        stops: Vec<String>,
        seed: u64,
    ) -> PyResult<Shingler> {
        if k == 0 {
            return Err(error(py, "OptionError", "k=0: a shingle holds at least one unit".into()));
        }
        let seed = hash::spread_seed(seed);
        let unit = match unit {
            "chars" => Unit::Chars,
            "words" => Unit::Words,
            "stopwords" => Unit::StopWords(stop_hashes(stops.iter().map(String::as_str), casefold, seed)),
            other => return Err(error(py, "OptionError", format!("unit={other:?} is not chars, words or stopwords"))),
        };
        Ok(Shingler { spec: Spec { unit, k, folding: Folding { casefold, nfkc, whitespace, punctuation }, bag, seed } })
    }

    /// The shingle hashes of one text in its order, repeats included.
    #[pyo3(signature = (text, *, path=None))]
    fn shingles<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyBytes>,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let (level, bytes) = (level(py, path)?, text.as_bytes());
        Ok(enter(py, 1, || sets::shingles(level, bytes, &self.spec))?.into_pyarray(py))
    }

    /// The sets of a batch of texts: sorted elements, one set after the other, and where each begins.
    #[pyo3(signature = (texts, *, threads, path=None))]
    fn sets<'py>(
        &self,
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        threads: usize,
        path: Option<&str>,
    ) -> PyResult<SetArrays<'py>> {
        let (elements, offsets, _) = self.flagged_sets(py, texts, threads, path)?;
        Ok((elements, offsets))
    }

    /// The sets of a batch of texts, and what was odd about each text, as bits.
    #[pyo3(signature = (texts, *, threads, path=None))]
    fn flagged_sets<'py>(
        &self,
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        threads: usize,
        path: Option<&str>,
    ) -> PyResult<FlaggedSetArrays<'py>> {
        let level = level(py, path)?;
        let (values, offsets) = ragged(&texts, py)?;
        let (elements, offsets, flags) = enter(py, threads, || sets::sets(level, values, offsets, &self.spec))?;
        Ok((elements.into_pyarray(py), offsets.into_pyarray(py), flags.into_pyarray(py)))
    }

    /// In how many texts of a batch each shingle occurs, in counters that shingles share.
    #[pyo3(signature = (texts, *, path=None))]
    fn document_frequencies<'py>(
        &self,
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let level = level(py, path)?;
        let (values, offsets) = ragged(&texts, py)?;
        let counted = enter(py, 1, || rare::document_frequencies(level, values, offsets, &self.spec))?;
        Ok(counted.into_pyarray(py))
    }

    /// The sets of a batch of texts, each of the `most` shingles of least frequency, and flags.
    #[pyo3(signature = (texts, frequencies, *, most, threads, path=None))]
    fn rarest<'py>(
        &self,
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        frequencies: PyReadonlyArray1<'py, u32>,
        most: usize,
        threads: usize,
        path: Option<&str>,
    ) -> PyResult<FlaggedSetArrays<'py>> {
        let level = level(py, path)?;
        let (values, offsets) = ragged(&texts, py)?;
        let frequencies = slice("frequencies", &frequencies, py)?;
        if frequencies.len() != rare::COUNTERS {
            let what = format!("there are {} frequencies, not {}", frequencies.len(), rare::COUNTERS);
            return Err(error(py, "OptionError", what));
        }
        let (elements, offsets, flags) =
            enter(py, threads, || rare::rarest(level, values, offsets, &self.spec, frequencies, most))?;
        Ok((elements.into_pyarray(py), offsets.into_pyarray(py), flags.into_pyarray(py)))
    }
}

/// A few known elements, by which sets that hold at least so many of them are told from most others.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Sieve {
    sieve: sieve::Sieve,
}

#[pymethods]
impl Sieve {
    #[new]
    #[pyo3(signature = (elements, *, least))]
    fn new(py: Python<'_>, elements: PyReadonlyArray1<'_, u64>, least: usize) -> PyResult<Sieve> {
        let elements = slice("elements", &elements, py)?;
        Ok(Sieve { sieve: enter(py, 1, || sieve::Sieve::of(elements, least))? })
    }

    /// Which texts may hold enough known elements: all that do, and few others.
    #[pyo3(signature = (texts, shingler, *, path=None))]
    fn texts_that_pass<'py>(
        &self,
        py: Python<'py>,
        texts: Ragged<'py, u8>,
        shingler: &Shingler,
        path: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let level = level(py, path)?;
        let (values, offsets) = ragged(&texts, py)?;
        let passed = enter(py, 1, || sieve::texts_that_pass(level, values, offsets, &shingler.spec, &self.sieve))?;
        Ok(passed.into_pyarray(py))
    }

    /// Which sets may hold enough known elements: all that do, and few others.
    fn sets_that_pass<'py>(&self, py: Python<'py>, sets: Ragged<'py, u64>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let (elements, offsets) = ragged(&sets, py)?;
        Ok(enter(py, 1, || sieve::sets_that_pass(elements, offsets, &self.sieve))?.into_pyarray(py))
    }
}

/// Premixes integer tokens, one to one.
#[pyfunction]
#[pyo3(signature = (tokens, *, seed, threads))]
fn mix_integers<'py>(
    py: Python<'py>,
    tokens: PyReadonlyArray1<'py, u64>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let tokens = slice("tokens", &tokens, py)?;
    let seed = hash::spread_seed(seed);
    let mixed = enter(py, threads, || tokens.par_iter().map(|&x| hash::token(x, seed)).collect::<Vec<u64>>())?;
    Ok(mixed.into_pyarray(py))
}

/// Hashes string tokens as whole words, without folding.
#[pyfunction]
#[pyo3(signature = (tokens, *, seed, threads))]
fn hash_strings<'py>(
    py: Python<'py>,
    tokens: Ragged<'py, u8>,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (values, offsets) = ragged(&tokens, py)?;
    let seed = hash::spread_seed(seed);
    let hashed = enter(py, threads, || {
        offsets
            .par_windows(2)
            .map(|o| hash::mix(hash::word(&values[o[0] as usize..o[1] as usize], seed)))
            .collect::<Vec<u64>>()
    })?;
    Ok(hashed.into_pyarray(py))
}

/// A hash of what one sees of each row of bytes at a glance: the same for the same bytes, and cheap whatever the length.
#[pyfunction]
#[pyo3(signature = (rows, *, seed))]
fn glances<'py>(py: Python<'py>, rows: Ragged<'py, u8>, seed: u64) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (values, offsets) = ragged(&rows, py)?;
    let seed = hash::spread_seed(seed);
    let seen = enter(py, 1, || {
        let glance = |o: &[i64]| hash::glance(&values[o[0] as usize..o[1] as usize], seed);
        offsets.windows(2).map(glance).collect::<Vec<u64>>()
    })?;
    Ok(seen.into_pyarray(py))
}

/// A checksum of stored bytes.
#[pyfunction]
fn checksum(py: Python<'_>, bytes: PyReadonlyArray1<'_, u8>) -> PyResult<u64> {
    let bytes = slice("bytes", &bytes, py)?;
    enter(py, 1, || hash::checksum(bytes))
}

/// Sorts each set and keeps each element once; of a bag, each occurrence.
#[pyfunction]
#[pyo3(signature = (sets, *, bag, threads))]
fn canonical_sets<'py>(py: Python<'py>, sets: Ragged<'py, u64>, bag: bool, threads: usize) -> PyResult<SetArrays<'py>> {
    let (elements, offsets) = ragged(&sets, py)?;
    let (elements, offsets) = enter(py, threads, || sets::canonical(elements, offsets, bag))?;
    Ok((elements.into_pyarray(py), offsets.into_pyarray(py)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Shingler>()?;
    module.add_class::<Sieve>()?;
    module.add_function(wrap_pyfunction!(mix_integers, module)?)?;
    module.add_function(wrap_pyfunction!(hash_strings, module)?)?;
    module.add_function(wrap_pyfunction!(glances, module)?)?;
    module.add_function(wrap_pyfunction!(checksum, module)?)?;
    module.add_function(wrap_pyfunction!(canonical_sets, module)?)
}
