//! Entering and leaving native code.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lookalike_kernels::simd::Level;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Raises one of `lookalike.errors` by name.
pub fn error(py: Python<'_>, class: &str, message: String) -> PyErr {
    let raise = || -> PyResult<PyErr> {
        let class = py.import("lookalike.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call1((&message,))?))
    };
    raise().unwrap_or_else(|_| PyRuntimeError::new_err(message.clone()))
}

/// Runs a kernel with the interpreter lock released, on `threads` threads that live no longer than the call.
///
/// No thread outlives a call, so a process may fork between calls. A panic becomes an `InternalError`.
pub fn enter<R: Send>(py: Python<'_>, threads: usize, kernel: impl FnOnce() -> R + Send) -> PyResult<R> {
    let outcome = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1));
            pool.build().map(|pool| pool.install(kernel)).map_err(|reason| reason.to_string())
        }))
    });
    match outcome {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(reason)) => Err(error(py, "InternalError", format!("cannot start {threads} threads: {reason}"))),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(error(
                py,
                "InternalError",
                format!("a kernel failed: {said}. This is a defect of Lookalike, please report it"),
            ))
        }
    }
}

/// The path asked for by name, or the best there is.
pub fn level(py: Python<'_>, path: Option<&str>) -> PyResult<Level> {
    let level = match path {
        None => return Ok(Level::detect()),
        Some("scalar") => Level::Scalar,
        Some("avx2") => Level::Avx2,
        Some("avx512") => Level::Avx512,
        Some(other) => return Err(error(py, "OptionError", format!("path={other:?} is not one of {:?}", paths()))),
    };
    if level > Level::detect() {
        return Err(error(py, "OptionError", format!("this machine has no {level:?}; it has {:?}", paths())));
    }
    Ok(level)
}

/// The instruction paths this machine can run, least first.
#[pyfunction]
pub fn paths() -> Vec<&'static str> {
    Level::available()
        .into_iter()
        .map(|level| match level {
            Level::Scalar => "scalar",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        })
        .collect()
}

/// Panics inside a kernel call, so that a test can see what Python gets.
#[pyfunction]
pub fn panic_on_purpose(py: Python<'_>) -> PyResult<()> {
    enter(py, 1, || panic!("on purpose"))
}
