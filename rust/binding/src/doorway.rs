//! Entering and leaving native code.

use std::cell::{OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lookalike_kernels::simd::Level;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Raises one of `lookalike.errors` by name.
pub fn error(py: Python<'_>, class: &str, message: String) -> PyErr {
    let raise = || -> PyResult<PyErr> {
        let class = py.import("lookalike.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call1((&message,))?))
    };
    raise().unwrap_or_else(|_| PyRuntimeError::new_err(message.clone()))
}

thread_local! {
    /// This thread as a crew of its own, for calls on one thread: nothing is handed over, and a fork takes it along.
    static SOLO: OnceCell<ThreadPool> = const { OnceCell::new() };
    /// The threads that the last call from this thread ran on, and the process they were started in.
    static CREW: RefCell<Option<(u32, ThreadPool)>> = const { RefCell::new(None) };
}

/// Lends the threads of the last call if they are as many as asked for and of this process; a fork leaves its child none.
fn with_crew<R>(threads: usize, work: impl FnOnce(&ThreadPool) -> R) -> Result<R, ThreadPoolBuildError> {
    if threads == 1 {
        return SOLO.with(|solo| {
            if solo.get().is_none() {
                let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()?;
                solo.set(pool).expect("looked just now");
            }
            Ok(work(solo.get().expect("set just now")))
        });
    }
    let process = std::process::id();
    let held = CREW.take();
    let pool = match held {
        Some((of, pool)) if of == process && pool.current_num_threads() == threads => pool,
        Some((of, pool)) if of != process => {
            // Its threads are not here: even to dismiss them would be to wait for them.
            std::mem::forget(pool);
            ThreadPoolBuilder::new().num_threads(threads).build()?
        }
        _ => ThreadPoolBuilder::new().num_threads(threads).build()?,
    };
    let result = work(&pool);
    CREW.set(Some((process, pool)));
    Ok(result)
}

/// Runs a kernel with the interpreter lock released, on `threads` threads of its own.
///
/// Every calling thread has its own crew, so that calls side by side do not wait for each other, and a forked child starts a new one. A
/// panic becomes an `InternalError`.
pub fn enter<R: Send>(py: Python<'_>, threads: usize, kernel: impl FnOnce() -> R + Send) -> PyResult<R> {
    let outcome = py.detach(|| {
        catch_unwind(AssertUnwindSafe(|| {
            with_crew(threads.max(1), |pool| pool.install(kernel)).map_err(|reason| reason.to_string())
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
