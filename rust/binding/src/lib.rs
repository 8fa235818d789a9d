//! `lookalike._core`: the one doorway into the kernels.
//!
//! It checks shapes, releases the interpreter lock, and turns errors and panics into exceptions of `lookalike.errors`. It does no arithmetic of its own.
//! The functions follow the road: [`shingling`], [`signing`], [`joining`], [`prefixing`], [`roads`], [`nearest`], [`passages`], [`weighting`], [`bits`], [`vectors`].

mod arrays;
mod bits;
mod doorway;
mod joining;
mod nearest;
mod passages;
mod prefixing;
mod roads;
mod shingling;
mod signing;
mod vectors;
mod weighting;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ALGORITHM_VERSION", lookalike_kernels::hash::ALGORITHM_VERSION)?;
    module.add("FLAG_EMPTY", lookalike_kernels::sign::FLAG_EMPTY)?;
    module.add("FLAG_SHORT", lookalike_kernels::sign::FLAG_SHORT)?;
    module.add("FLAG_UNSPACED", lookalike_kernels::sign::FLAG_UNSPACED)?;
    module.add("FREQUENCY_COUNTERS", lookalike_kernels::rare::COUNTERS)?;
    module.add_function(wrap_pyfunction!(doorway::paths, module)?)?;
    module.add_function(wrap_pyfunction!(doorway::panic_on_purpose, module)?)?;
    shingling::register(module)?;
    signing::register(module)?;
    joining::register(module)?;
    prefixing::register(module)?;
    roads::register(module)?;
    nearest::register(module)?;
    passages::register(module)?;
    weighting::register(module)?;
    bits::register(module)?;
    vectors::register(module)
}
