//! Sets → the most similar of each, among sets that are held.

use lookalike_kernels::nearest::{Held, Neighbour, Numbered};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::{Ragged, ragged, same_length, slice};
use crate::doorway::{enter, error};

/// Row, neighbour, similarity, and how many of the given sets were gone through.
type Neighbours<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, usize);

/// Sets of distinct elements, held so that those which share elements with others are found by them.
#[pyclass(frozen, module = "lookalike._core")]
pub struct HeldSets {
    held: Held,
}

#[pymethods]
impl HeldSets {
    #[new]
    fn new(py: Python<'_>, sets: Ragged<'_, u64>, rows: PyReadonlyArray1<'_, u32>) -> PyResult<HeldSets> {
        let sets = numbered(py, &sets, &rows)?;
        if sets.elements.len() >= u32::MAX as usize {
            let what = format!("{} elements are more than can be held at a time (2³²)", sets.elements.len());
            return Err(error(py, "OptionError", what));
        }
        Ok(HeldSets { held: enter(py, 1, || Held::new(sets))? })
    }

    /// The `k` held sets that are most similar to each of the given ones, best first; those that share nothing are none.
    ///
    /// Ends when `most` elements were looked up and holders counted, after one set at the earliest, and says how many sets it got through.
    #[pyo3(signature = (sets, rows, *, k, most=usize::MAX))]
    fn best_for_passing<'py>(
        &self,
        py: Python<'py>,
        sets: Ragged<'py, u64>,
        rows: PyReadonlyArray1<'py, u32>,
        k: usize,
        most: usize,
    ) -> PyResult<Neighbours<'py>> {
        let sets = numbered(py, &sets, &rows)?;
        columns(py, k, |found| self.held.best_for_passing(sets, k, most, found))
    }

    /// The `k` given sets that are most similar to each of the held ones, best first; those that share nothing are none.
    ///
    /// Ends when `most` elements were looked up and holders counted, after one set at the earliest, and says how many sets it got through.
    #[pyo3(signature = (sets, rows, *, k, most=usize::MAX))]
    fn best_for_held<'py>(
        &self,
        py: Python<'py>,
        sets: Ragged<'py, u64>,
        rows: PyReadonlyArray1<'py, u32>,
        k: usize,
        most: usize,
    ) -> PyResult<Neighbours<'py>> {
        let sets = numbered(py, &sets, &rows)?;
        columns(py, k, |found| self.held.best_for_held(sets, k, most, found))
    }
}

fn numbered<'a>(
    py: Python<'_>,
    sets: &'a Ragged<'_, u64>,
    rows: &'a PyReadonlyArray1<'_, u32>,
) -> PyResult<Numbered<'a>> {
    let (elements, offsets) = ragged(sets, py)?;
    let rows = slice("rows", rows, py)?;
    same_length(rows.len(), offsets.len() - 1, py)?;
    Ok(Numbered { elements, offsets, rows })
}

fn columns<'py>(
    py: Python<'py>,
    k: usize,
    look: impl FnOnce(&mut dyn FnMut(u32, Neighbour)) -> usize + Send,
) -> PyResult<Neighbours<'py>> {
    if k == 0 || k > usize::MAX / 4 {
        return Err(error(py, "OptionError", format!("k={k} is out of range: 1 or more")));
    }
    let (found, done) = enter(py, 1, || {
        let mut found: (Vec<u32>, Vec<u32>, Vec<f64>) = Default::default();
        let done = look(&mut |row, one| {
            found.0.push(row);
            found.1.push(one.row);
            found.2.push(one.similarity);
        });
        (found, done)
    })?;
    Ok((found.0.into_pyarray(py), found.1.into_pyarray(py), found.2.into_pyarray(py), done))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HeldSets>()
}
