"""lookalike cluster"""

from __future__ import annotations

import json as jsonlib
import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from lookalike.applications.grouping import cluster as group
from lookalike.charts import numbers
from lookalike.cli import options as shared
from lookalike.cli.typed import command_seconds
from lookalike.errors import ArtefactError, OutputError, SourceError
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import Header, is_run_folder, read_header, read_parquet, write_parquet

_LARGEST = 5
#: Endings of what would be taken for text.
_OF_TEXT = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".gz", ".zst")


def cluster(
    pairs: Annotated[
        Path,
        typer.Argument(
            metavar="PAIRS",
            show_default=False,
            rich_help_panel=shared.READING,
            help="pairs.parquet, the folder that holds it, or any parquet, csv, tsv or jsonl file with the "
            "columns a and b.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            rich_help_panel=shared.WRITING,
            help="Parquet file to write: id and cluster, the least id it is connected with.",
        ),
    ],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=shared.WRITING, help="Replace the file.")
    ] = False,
    json: shared.Json = False,
) -> None:
    """Group everything that pairs connect.

    \b
    Examples:
      lookalike cluster alike/ -o clusters.parquet
      lookalike cluster my-pairs.csv -o clusters.parquet
    """
    if not output.parent.is_dir():
        raise OutputError(f"there is no folder {output.parent} to write {output.name} in: make it first")
    if output.is_dir():
        raise OutputError(f"{output} is a folder, and the output is a file: name a file in it")
    given = pairs / "pairs.parquet" if is_run_folder(pairs) else pairs
    if os.path.realpath(given) == os.path.realpath(output):
        raise OutputError(f"{output} is the file of pairs that is to be read: choose another name")
    if output.exists() and not overwrite:
        raise OutputError(f"{output} exists: choose another name, or replace it with --overwrite")
    _check_no_part_of_a_run(output)
    if output.suffix.lower() in _OF_TEXT:
        raise OutputError(
            f"what is written is Parquet, and {output.name} is no name for that: let it end in .parquet"
        )
    table, parameters = _read(given)
    found = group(table)
    header = Header(kind="clusters", algorithm=ALGORITHM_VERSION, parameters=parameters)
    write_parquet(output, found.to_arrow(), header)
    seconds = command_seconds()
    sizes = sorted(Counter(found["cluster"].to_pylist()).values(), reverse=True)
    if json:
        counts = {
            "pairs": len(table),
            "items": len(found),
            "clusters": len(sizes),
            "largest": sizes[:_LARGEST],
            "took": seconds,
        }
        print(jsonlib.dumps(counts, indent=2))
        return
    largest = ", ".join(numbers.count(size) for size in sizes[:_LARGEST])
    print(f"{'pairs':<13} {numbers.count(len(table))}")
    print(f"{'items':<13} {numbers.count(len(found))}")
    print(f"{'clusters':<13} {numbers.count(len(sizes))}{f', the largest of {largest}' if sizes else ''}")
    print(f"{'took':<13} {numbers.seconds(seconds)}")
    print(f"{'written':<13} {output}")


def _check_no_part_of_a_run(output: Path) -> None:
    """A run folder holds what its run.json says, with checksums: nothing in it is replaced, or added."""
    for folder in Path(os.path.realpath(output)).parents:
        if is_run_folder(folder):
            raise OutputError(
                f"{output} would lie in the folder of a run, {folder}, whose files belong together: choose"
                " another place"
            )


def _read(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """The pairs of a file, and the parameters they were found with if the file is ours."""
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    if not path.is_file():
        raise SourceError(f"there is no file {path}: name a file of pairs")
    kind = path.suffix.lower()
    try:
        if kind == ".parquet":
            if not _is_ours(path):
                return pyarrow.parquet.read_table(path), {}
            table, header = read_parquet(path, kind="pairs")
            return table, dict(header.parameters)
        if kind in (".csv", ".tsv"):
            # Ids stay what they are: 007 is not 7, and NA is no null. An empty field is no id, or all rows
            # that lack one would be a cluster.
            strings = pyarrow.csv.ConvertOptions(
                column_types={"a": pa.string(), "b": pa.string()}, null_values=[""], strings_can_be_null=True
            )
            comma = pyarrow.csv.ParseOptions(delimiter="," if kind == ".csv" else "\t")
            return pyarrow.csv.read_csv(path, parse_options=comma, convert_options=strings), {}
        if kind in (".jsonl", ".ndjson", ".json"):
            return _without_times(path, pyarrow.json.read_json(path)), {}
    except (pa.ArrowException, OSError) as error:
        reason = str(error).split("\n", maxsplit=1)[0].rstrip(".")
        raise SourceError(f"{path} cannot be read ({reason}): name a whole file of pairs") from error
    raise SourceError(f"{path} is of no kind that can be read: name a parquet, csv, tsv or jsonl file")


def _without_times(path: Path, table: pa.Table) -> pa.Table:
    """The table of a jsonl file, in which Arrow takes ids such as 2024-01-31 for times."""
    import pyarrow.json

    times = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if not times:
        return table
    strings = pa.schema([(name, pa.string()) for name in times])
    return pyarrow.json.read_json(path, parse_options=pyarrow.json.ParseOptions(explicit_schema=strings))


def _is_ours(path: Path) -> bool:
    try:
        read_header(path)
    except ArtefactError:
        return False
    return True
