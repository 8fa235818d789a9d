"""What a run leaves behind, and what it says while it lasts.

folder.py     a run folder appears whole or not at all
header.py     what every stored file says about itself
tables.py     stored Parquet tables, with a header and a checksum of the whole file
arrays.py     stored NumPy arrays, likewise
stored.py     stored Arrow tables, written and read a batch at a time, each with its checksum
ledger.py     an unfinished run: stages that commit, so that a killed run resumes
asked.py      ledger.json: what an unfinished run was begun with
lock.py       one process at a time in a folder
fingerprint.py  whether an input is still the one a run began with
space.py      room on a disk, asked for before it is needed
record.py     run.json: parameters, versions, counts, estimates beside actuals, checksums
stopwatch.py  seconds, bytes and peak memory of a stage
progress.py   what is shown while a stage runs
watch.py      both at once: a stage is measured and shown
side_by_side.py  several things at once, handed on in order
sizes.py      4GB as a number, and how much memory is free
"""

from lookalike.atomic import atomic_write, is_utf8_name
from lookalike.runs.arrays import read_arrays, write_arrays
from lookalike.runs.asked import LEDGER_NAME, is_unfinished_run
from lookalike.runs.fingerprint import Fingerprint
from lookalike.runs.folder import RECORD_NAME, RunFolder, is_run_folder
from lookalike.runs.header import FORMAT_VERSION, Header
from lookalike.runs.ledger import Ledger
from lookalike.runs.progress import Progress, StageProgress, choose_progress
from lookalike.runs.record import FileRecord, RunRecord, files_of
from lookalike.runs.sizes import default_budget, free_memory, parse_size
from lookalike.runs.space import require_space
from lookalike.runs.stopwatch import Stage, Stopwatch
from lookalike.runs.stored import StoredTable
from lookalike.runs.tables import read_header, read_parquet, write_parquet

__all__ = [
    "FORMAT_VERSION",
    "LEDGER_NAME",
    "RECORD_NAME",
    "FileRecord",
    "Fingerprint",
    "Header",
    "Ledger",
    "Progress",
    "RunFolder",
    "RunRecord",
    "Stage",
    "StageProgress",
    "Stopwatch",
    "StoredTable",
    "atomic_write",
    "choose_progress",
    "default_budget",
    "files_of",
    "free_memory",
    "is_run_folder",
    "is_unfinished_run",
    "is_utf8_name",
    "parse_size",
    "read_arrays",
    "read_header",
    "read_parquet",
    "require_space",
    "write_arrays",
    "write_parquet",
]
