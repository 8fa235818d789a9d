//! Texts and sets → signatures → bucket keys.

use lookalike_kernels::bands::Bands;
use lookalike_kernels::hash;
use lookalike_kernels::minhash::{self, Family, Orders as Drawn};
use lookalike_kernels::sign::{self, Keyed, Signed, sign_sets as kernel_sets, sign_texts as kernel_texts};
use lookalike_kernels::simd::Level;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::arrays::{Ragged, matrix, ragged, room_for, rows, same_length};
use crate::doorway::{enter, error, level};
use crate::shingling::Shingler;

/// More would only be a mistake, and asking for the memory of a mistake ends the process.
pub const MOST_SLOTS: usize = 1 << 16;

/// The random orders of one family, number of slots and seed.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Orders {
    drawn: Drawn,
    #[pyo3(get)]
    seed: u64,
}

#[pymethods]
impl Orders {
    #[new]
    #[pyo3(signature = (family, *, slots, seed))]
    fn new(py: Python<'_>, family: &str, slots: usize, seed: u64) -> PyResult<Orders> {
        if slots == 0 || slots > MOST_SLOTS {
            return Err(error(py, "OptionError", format!("slots={slots}: a signature has 1 to {MOST_SLOTS} slots")));
        }
        let family = match family {
            "bucketed" => Family::Bucketed,
            "khash" => Family::KHash,
            "universal" => Family::Universal,
            other => {
                return Err(error(py, "OptionError", format!("family={other:?} is not bucketed, khash or universal")));
            }
        };
        Ok(Orders { drawn: Drawn::new(family, slots, seed), seed })
    }

    #[getter]
    fn slots(&self) -> usize {
        self.drawn.slots()
    }

    /// The `(a, b)` of every slot of the universal family.
    #[getter]
    fn coefficients(&self) -> Vec<(u64, u64)> {
        self.drawn.coefficients().to_vec()
    }
}

/// A matrix (signatures, a row each; or bucket keys, a row a band), content hashes, bag digests, flags.
pub type Arrays<'py, T> =
    (Bound<'py, PyArray2<T>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

/// What is told of every row beside its signature.
struct Beside {
    content: Vec<u64>,
    bag: Vec<u64>,
    flags: Vec<u8>,
}

impl Beside {
    fn new(rows: usize) -> Beside {
        Beside { content: vec![0; rows], bag: vec![0; rows], flags: vec![0; rows] }
    }

    fn with<'py, T>(self, py: Python<'py>, matrix: Bound<'py, PyArray2<T>>) -> Arrays<'py, T> {
        (matrix, self.content.into_pyarray(py), self.bag.into_pyarray(py), self.flags.into_pyarray(py))
    }
}

/// What signs `rows` rows into the buffers it is lent. It writes every slot and reads none that it has not written.
pub fn signed<'py>(
    py: Python<'py>,
    threads: usize,
    [rows, slots]: [usize; 2],
    sign: impl FnOnce(Signed<'_>) + Send,
) -> PyResult<Arrays<'py, u32>> {
    // NumPy's binding panics where there is no room.
    room_for::<u32>([rows, slots])?;
    // SAFETY: a fresh array that nobody else holds. Filling it with zeros first would take a twentieth of the time of signing.
    let matrix = unsafe { PyArray2::<u32>::new(py, [rows, slots], false) };
    let signatures = unsafe { matrix.as_slice_mut()? };
    let mut beside = Beside::new(rows);
    let Beside { content, bag, flags } = &mut beside;
    enter(py, threads, || sign(Signed { signatures, content, bag, flags }))?;
    Ok(beside.with(py, matrix))
}

/// What signs `rows` rows and keeps the keys of their bands in the buffers it is lent; on the calling thread.
pub fn keyed<'py>(
    py: Python<'py>,
    [bands, rows]: [usize; 2],
    key: impl FnOnce(Keyed<'_>) + Send,
) -> PyResult<Arrays<'py, u64>> {
    room_for::<u64>([bands, rows])?;
    let mut keys = vec![0; bands * rows];
    let mut beside = Beside::new(rows);
    let Beside { content, bag, flags } = &mut beside;
    enter(py, 1, || key(Keyed { keys: &mut keys, content, bag, flags }))?;
    Ok(beside.with(py, keys.into_pyarray(py).reshape([bands, rows])?))
}

/// Shingles and signs a batch of texts in one go.
#[pyfunction]
#[pyo3(signature = (texts, shingler, orders, *, threads, path=None))]
fn sign_texts<'py>(
    py: Python<'py>,
    texts: Ragged<'py, u8>,
    shingler: &Shingler,
    orders: &Orders,
    threads: usize,
    path: Option<&str>,
) -> PyResult<Arrays<'py, u32>> {
    let level = level(py, path)?;
    let (values, offsets) = ragged(&texts, py)?;
    let shape = [offsets.len() - 1, orders.drawn.slots()];
    signed(py, threads, shape, |out| kernel_texts(level, values, offsets, &shingler.spec, &orders.drawn, out))
}

/// Signs a batch of sets of premixed elements.
#[pyfunction]
#[pyo3(signature = (sets, orders, *, threads, path=None))]
fn sign_sets<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    orders: &Orders,
    threads: usize,
    path: Option<&str>,
) -> PyResult<Arrays<'py, u32>> {
    let level = level(py, path)?;
    let (elements, offsets) = ragged(&sets, py)?;
    let shape = [offsets.len() - 1, orders.drawn.slots()];
    let seed = hash::spread_seed(orders.seed);
    signed(py, threads, shape, |out| kernel_sets(level, elements, offsets, seed, &orders.drawn, out))
}

/// The 61-bit minima of the universal family, for those who want to check them by hand.
#[pyfunction]
fn universal_minima<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    orders: &Orders,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (elements, offsets) = ragged(&sets, py)?;
    let slots = orders.drawn.coefficients().len();
    if slots == 0 {
        return Err(error(py, "OptionError", "these orders are not of the universal family".into()));
    }
    room_for::<u64>([offsets.len() - 1, slots])?;
    let minima = enter(py, 1, || {
        let mut minima = vec![u64::MAX; (offsets.len() - 1) * slots];
        for (o, signature) in offsets.windows(2).zip(minima.chunks_mut(slots)) {
            minhash::universal_into(&elements[o[0] as usize..o[1] as usize], orders.drawn.coefficients(), signature);
        }
        minima
    })?;
    minima.into_pyarray(py).reshape([offsets.len() - 1, slots])
}

pub fn checked_bands(py: Python<'_>, first: usize, bands: usize, rows: usize, slots: usize) -> PyResult<Bands> {
    let used = first.checked_add(bands).and_then(|last| last.checked_mul(rows));
    if bands == 0 || rows == 0 || used.is_none_or(|used| used > slots) || slots > MOST_SLOTS {
        let what = format!("{bands} bands of {rows} rows do not fit {slots} slots");
        return Err(error(py, "OptionError", what));
    }
    Ok(Bands::new(first, bands, rows))
}

/// Shingles and signs a batch of texts and keeps only the bucket keys; on the calling thread's one.
#[pyfunction]
#[pyo3(signature = (texts, shingler, orders, *, bands, rows, path=None))]
fn key_texts<'py>(
    py: Python<'py>,
    texts: Ragged<'py, u8>,
    shingler: &Shingler,
    orders: &Orders,
    bands: usize,
    rows: usize,
    path: Option<&str>,
) -> PyResult<Arrays<'py, u64>> {
    let level = level(py, path)?;
    let (values, offsets) = ragged(&texts, py)?;
    let bands = checked_bands(py, 0, bands, rows, orders.drawn.slots())?;
    let shape = [bands.count(), offsets.len() - 1];
    keyed(py, shape, |out| sign::key_texts(level, values, offsets, &shingler.spec, &orders.drawn, &bands, out))
}

/// Signs a batch of sets of premixed elements and keeps only the bucket keys; on the calling thread's one.
#[pyfunction]
#[pyo3(signature = (sets, orders, *, bands, rows, path=None))]
fn key_sets<'py>(
    py: Python<'py>,
    sets: Ragged<'py, u64>,
    orders: &Orders,
    bands: usize,
    rows: usize,
    path: Option<&str>,
) -> PyResult<Arrays<'py, u64>> {
    let level = level(py, path)?;
    let (elements, offsets) = ragged(&sets, py)?;
    let bands = checked_bands(py, 0, bands, rows, orders.drawn.slots())?;
    let shape = [bands.count(), offsets.len() - 1];
    let seed = hash::spread_seed(orders.seed);
    keyed(py, shape, |out| sign::key_sets(level, elements, offsets, seed, &orders.drawn, &bands, out))
}

/// The bucket keys of every row, one row a band, from the band `first` on; the low 16 bits of a key are its band.
#[pyfunction]
#[pyo3(signature = (signatures, *, bands, rows, first=0))]
fn band_keys<'py>(
    py: Python<'py>,
    signatures: PyReadonlyArray2<'py, u32>,
    bands: usize,
    rows: usize,
    first: usize,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (values, slots) = matrix("signatures", &signatures, py)?;
    let bands = checked_bands(py, first, bands, rows, slots)?;
    let count = values.len() / slots;
    room_for::<u64>([count, bands.count()])?;
    let keys = enter(py, 1, || {
        let mut keys = vec![0u64; count * bands.count()];
        for (row, signature) in values.chunks(slots).enumerate() {
            bands.keys_into(signature, &mut keys, row, count);
        }
        keys
    })?;
    keys.into_pyarray(py).reshape([bands.count(), count])
}

/// In how many slots the signatures of rows `a[i]` and `b[i]` agree.
#[pyfunction]
#[pyo3(signature = (signatures, a, b, *, threads))]
fn agreements<'py>(
    py: Python<'py>,
    signatures: PyReadonlyArray2<'py, u32>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (values, slots) = matrix("signatures", &signatures, py)?;
    let count = values.len() / slots.max(1);
    let (a, b) = (rows("a", &a, count, py)?, rows("b", &b, count, py)?);
    same_length(a.len(), b.len(), py)?;
    let row = |i: u32| &values[i as usize * slots..(i as usize + 1) * slots];
    let agreeing = enter(py, threads, || {
        let pairs = a.par_iter().zip(b).with_min_len(256);
        pairs.map(|(&a, &b)| minhash::agreement(row(a), row(b))).collect::<Vec<u32>>()
    })?;
    Ok(agreeing.into_pyarray(py))
}

/// How many pairs of all rows agree in 0, 1, … slots. Quadratic in rows: meant for a sample.
#[pyfunction]
#[pyo3(signature = (signatures, *, threads))]
fn agreement_histogram<'py>(
    py: Python<'py>,
    signatures: PyReadonlyArray2<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let (values, slots) = matrix("signatures", &signatures, py)?;
    let count = values.len() / slots.max(1);
    let histogram = enter(py, threads, || {
        let empty = || vec![0u64; slots + 1];
        let level = Level::detect();
        (0..count)
            .into_par_iter()
            .fold(empty, |mut histogram, i| {
                let (signature, others) = values[i * slots..].split_at(slots);
                minhash::count_agreements(level, signature, others, &mut histogram);
                histogram
            })
            .reduce(empty, |a, b| a.iter().zip(&b).map(|(x, y)| x + y).collect())
    })?;
    Ok(histogram.into_pyarray(py))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Orders>()?;
    module.add_function(wrap_pyfunction!(sign_texts, module)?)?;
    module.add_function(wrap_pyfunction!(sign_sets, module)?)?;
    module.add_function(wrap_pyfunction!(universal_minima, module)?)?;
    module.add_function(wrap_pyfunction!(key_texts, module)?)?;
    module.add_function(wrap_pyfunction!(key_sets, module)?)?;
    module.add_function(wrap_pyfunction!(band_keys, module)?)?;
    module.add_function(wrap_pyfunction!(agreements, module)?)?;
    module.add_function(wrap_pyfunction!(agreement_histogram, module)?)
}
