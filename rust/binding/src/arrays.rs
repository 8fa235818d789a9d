//! NumPy arrays as slices, their shapes checked.

use lookalike_kernels::verify::Rows;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyMemoryError;
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
    let (values, offsets) = bounded(ragged, py)?;
    // All at once, as processors like it; which row it is only matters if there is one.
    if offsets.windows(2).fold(false, |any, o| any | odd(o)) {
        let row = offsets.windows(2).position(odd).expect("an odd row was seen");
        return Err(refused(&offsets[row..], row, py));
    }
    Ok((values, offsets))
}

/// Rows in pieces of which `a` and `b` pick some: offsets of those rise within the values, and no such row is too wide. There may be far more rows.
pub fn picked<'a, T: Element>(
    pieces: &'a [Ragged<'_, T>],
    a: &'a PyReadonlyArray1<'_, u32>,
    b: &'a PyReadonlyArray1<'_, u32>,
    py: Python<'_>,
) -> PyResult<(Rows<'a, T>, &'a [u32], &'a [u32])> {
    let items = Rows::new(pieces.iter().map(|piece| bounded(piece, py)).collect::<PyResult<_>>()?);
    let (a, b) = (rows("a", a, items.len(), py)?, rows("b", b, items.len(), py)?);
    same_length(a.len(), b.len(), py)?;
    let refusable = |row: u32| {
        let (values, offsets) = items.place_of(row);
        odd(offsets) || offsets[0] < 0 || offsets[1] > values.len() as i64
    };
    match a.iter().chain(b).find(|&&row| refusable(row)) {
        Some(&row) => Err(refused(items.place_of(row).1, row as usize, py)),
        None => Ok((items, a, b)),
    }
}

/// Values and offsets as slices, of which the first and the last lie within the values.
fn bounded<'a, T: Element>(ragged: &'a Ragged<'_, T>, py: Python<'_>) -> PyResult<(&'a [T], &'a [i64])> {
    let values = slice("values", &ragged.0, py)?;
    let offsets = slice("offsets", &ragged.1, py)?;
    let refuse = |what: String| Err(error(py, "OptionError", what));
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
        return refuse("offsets must hold at least one entry: where the first row begins".into());
    };
    if first < 0 || last > values.len() as i64 {
        return refuse(format!("offsets run from {first} to {last}, but there are {} values", values.len()));
    }
    Ok((values, offsets))
}

/// Whether a row does not end after it begins, or is too wide. No difference overflows unless an offset is under 0.
fn odd(offsets: &[i64]) -> bool {
    offsets[1].wrapping_sub(offsets[0]) as u64 > WIDEST as u64
}

fn refused(offsets: &[i64], row: usize, py: Python<'_>) -> PyErr {
    let what = if offsets[1] < offsets[0] {
        format!("offsets fall after row {row}")
    } else if odd(offsets) {
        format!("row {row} is over 4 GiB by its offsets, the most one item may hold: split it")
    } else {
        format!("offsets of row {row} run from {} to {}, beyond the values there are", offsets[0], offsets[1])
    };
    error(py, "OptionError", what)
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

/// Makes sure that so many entries can be had at a time. A kernel that asked for them in vain would end the process.
pub fn room_for<T>(entries: impl IntoIterator<Item = usize>) -> PyResult<()> {
    let entries = entries.into_iter().try_fold(1usize, |product, factor| product.checked_mul(factor));
    match entries.map(|entries| Vec::<T>::new().try_reserve_exact(entries)) {
        Some(Ok(())) => Ok(()),
        _ => {
            let gigabytes = entries.map_or(f64::INFINITY, |entries| entries as f64) * size_of::<T>() as f64 / 1e9;
            Err(PyMemoryError::new_err(format!("{gigabytes:.1} GB at a time are more than this machine gives")))
        }
    }
}

/// Two arrays that belong together, entry by entry.
pub fn same_length(a: usize, b: usize, py: Python<'_>) -> PyResult<()> {
    if a == b {
        return Ok(());
    }
    Err(error(py, "OptionError", format!("two arrays that belong together have {a} and {b} entries")))
}
