//! NumPy arrays as slices, their shapes checked.

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::doorway::error;

/// Values and where each row begins in them.
pub type Ragged<'py, T> = (PyReadonlyArray1<'py, T>, PyReadonlyArray1<'py, i64>);

/// The widest row that kernels take: positions inside a row are 32-bit.
const WIDEST: i64 = u32::MAX as i64;

pub fn slice<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>, py: Python<'_>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| error(py, "OptionError", format!("{name} must be a contiguous array")))
}

/// A matrix as one slice, row after row, and its width.
pub fn matrix<'a, T: Element>(
    name: &str,
    array: &'a PyReadonlyArray2<'_, T>,
    py: Python<'_>,
) -> PyResult<(&'a [T], usize)> {
    let width = array.as_array().ncols();
    // A matrix that lies column by column is contiguous too, and would be read transposed.
    match array.as_slice() {
        Ok(values) if array.is_c_contiguous() => Ok((values, width)),
        _ => Err(error(py, "OptionError", format!("{name} must be contiguous, row by row"))),
    }
}

/// Values and offsets as slices: offsets rise, stay within the values, and no row is too wide.
pub fn ragged<'a, T: Element>(ragged: &'a Ragged<'_, T>, py: Python<'_>) -> PyResult<(&'a [T], &'a [i64])> {
    let values = slice("values", &ragged.0, py)?;
    let offsets = slice("offsets", &ragged.1, py)?;
    let refuse = |what: String| Err(error(py, "OptionError", what));
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return refuse("offsets must hold at least one entry: where the first row begins".into());
    };
    if first < 0 || last > values.len() as i64 {
        return refuse(format!("offsets run from {first} to {last}, but there are {} values", values.len()));
    }
    // All at once, as processors like it; which row it is only matters if there is one. No difference overflows unless one is under 0.
    let odd = |o: &[i64]| o[1].wrapping_sub(o[0]) as u64 > WIDEST as u64;
    if !offsets.windows(2).fold(false, |any, o| any | odd(o)) {
        return Ok((values, offsets));
    }
    if let Some(row) = offsets.windows(2).position(|o| o[1] < o[0]) {
        return refuse(format!("offsets fall after row {row}"));
    }
    let row = offsets.windows(2).position(odd).expect("an odd row was seen");
    refuse(format!("row {row} is over 4 GiB, the most one item may hold: split it"))
}

/// Row numbers, all under `rows`.
pub fn rows<'a>(name: &str, array: &'a PyReadonlyArray1<'_, u32>, rows: usize, py: Python<'_>) -> PyResult<&'a [u32]> {
    let slice = slice(name, array, py)?;
    match slice.iter().max() {
        Some(&row) if row as usize >= rows => {
            Err(error(py, "OptionError", format!("{name} names row {row}, but there are {rows}")))
        }
        _ => Ok(slice),
    }
}

/// Two arrays that belong together, entry by entry.
pub fn same_length(a: usize, b: usize, py: Python<'_>) -> PyResult<()> {
    if a == b {
        return Ok(());
    }
    Err(error(py, "OptionError", format!("two arrays that belong together have {a} and {b} entries")))
}
