"""Engines move tables of Arrow batches and know nothing of what is in them.

An engine offers six verbs: `scan`, `map`, `group`, `fetch`, `fold`, `write`. Joins are written once over
them.
"""

from lookalike.engines.again import renumbered
from lookalike.engines.cores import checked_threads, cores
from lookalike.engines.local import LocalEngine, local_engine
from lookalike.engines.settled import stored_table
from lookalike.engines.verbs import Aside, Engine, Held, Origin, Stage, Table, as_it_is

__all__ = [
    "Aside",
    "Engine",
    "Held",
    "LocalEngine",
    "Origin",
    "Stage",
    "Table",
    "as_it_is",
    "checked_threads",
    "cores",
    "local_engine",
    "renumbered",
    "stored_table",
]
