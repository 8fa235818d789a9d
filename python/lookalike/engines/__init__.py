"""Engines move tables of Arrow batches and know nothing of what is in them.

An engine offers seven verbs: `scan`, `map`, `group`, `sort`, `fetch`, `fold`, `write`. Joins are written once
over them.

verbs      the seven verbs, and the tables they are spoken over
local      one process: its threads, memory and disk
memory     the budget; widths: how many bytes rows take
spill      tables on disk; settled: those that a killed run finds again
handed_over  results that fit memory, or are mapped from disk
again      tables that lie in the source and are read from there
runs       `group`: equal keys together
reach      `fetch`: the rows that items name; numbering: where rows stand
gather     rows of many batches in any order; parts: rows dealt out to files
large_rows rows that are larger than the budget
ahead      batches read ahead; cores: how many threads
"""

from lookalike.engines.again import renumbered
from lookalike.engines.cores import checked_threads, cores
from lookalike.engines.local import LocalEngine, engine_of, local_engine
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
    "engine_of",
    "local_engine",
    "renumbered",
    "stored_table",
]
