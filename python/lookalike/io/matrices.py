"""Sparse matrices in files: SciPy's .npz and MatrixMarket .mtx, plain or .gz.

They are read whole: their formats are made for that. SciPy reads them, and is asked for only here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.errors import OptionError, SourceError

_ENDINGS = (".npz", ".mtx", ".mtx.gz")


def is_matrix_file(path: str | Path) -> bool:
    """Whether a file's name says that it holds a sparse matrix."""
    return str(path).lower().endswith(_ENDINGS)


def read_matrix(path: str | Path) -> Any:
    """Read a sparse matrix.

    Raises
    ------
    SourceError
        If the file is missing or no sparse matrix.
    OptionError
        If SciPy is not installed.
    """
    try:
        import scipy.io  # type: ignore[import-untyped]
        import scipy.sparse  # type: ignore[import-untyped]
    except ImportError:
        raise OptionError(
            f"reading {path} needs SciPy, which is not installed: install scipy first"
        ) from None
    if not Path(path).is_file():
        raise SourceError(f"there is no file {path}: check the name")
    try:
        if str(path).lower().endswith(".npz"):
            return scipy.sparse.load_npz(path)
        matrix = scipy.io.mmread(path)
    except Exception as error:
        # A broken file fails in as many ways as there are bytes in it.
        reason = str(error).split("\n", maxsplit=1)[0].rstrip(".")
        raise SourceError(
            f"{path} holds no sparse matrix that SciPy can read ({reason}): write it with "
            "scipy.sparse.save_npz or scipy.io.mmwrite"
        ) from error
    # MatrixMarket has a dense form too.
    return matrix if hasattr(matrix, "tocsr") else scipy.sparse.coo_matrix(matrix)
