//! Two texts → the passages they share.

use lookalike_kernels::passages;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::doorway::{enter, error, level};
use crate::shingling::Shingler;

/// Shared passages in the order of `a`, a row each: where it begins and ends in `a`, then in `b`, in bytes; shared tokens; changed tokens.
#[pyfunction]
#[pyo3(signature = (a, b, shingler, *, least, gap, path=None))]
#[allow(clippy::too_many_arguments)]
fn shared_passages<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyBytes>,
    b: &Bound<'py, PyBytes>,
    shingler: &Shingler,
    least: usize,
    gap: usize,
    path: Option<&str>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    if least == 0 {
        return Err(error(py, "OptionError", "least=0: a passage holds at least one token".into()));
    }
    let level = level(py, path)?;
    let (a, b) = (text("a", a, py)?, text("b", b, py)?);
    let rows: Vec<u32> = enter(py, 1, || {
        passages::shared(level, a, b, &shingler.spec, least, gap)
            .into_iter()
            .flat_map(|p| [p.a.start, p.a.end, p.b.start, p.b.end, p.tokens, p.changed])
            .collect()
    })?;
    let count = rows.len() / 6;
    PyArray1::from_vec(py, rows).reshape([count, 6])
}

/// How many words, or characters, a text has, as `shared_passages` counts them.
#[pyfunction]
#[pyo3(signature = (text, shingler, *, path=None))]
fn count_tokens<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyBytes>,
    shingler: &Shingler,
    path: Option<&str>,
) -> PyResult<usize> {
    let level = level(py, path)?;
    let text = self::text("text", text, py)?;
    enter(py, 1, || passages::count_tokens(level, text, &shingler.spec))
}

/// Bytes short enough for 32-bit positions.
fn text<'a>(name: &str, bytes: &'a Bound<'_, PyBytes>, py: Python<'_>) -> PyResult<&'a [u8]> {
    let bytes = bytes.as_bytes();
    if bytes.len() > u32::MAX as usize {
        return Err(error(py, "OptionError", format!("{name} is over 4 GiB, the most one text may hold: split it")));
    }
    Ok(bytes)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(shared_passages, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens, module)?)
}
