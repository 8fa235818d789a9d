"""lookalike pairs --measure levenshtein: strings within a few edits."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from lookalike.applications.strings import strings_within
from lookalike.charts import numbers
from lookalike.cli.output import Reading, checked_folder, note_what_was_left_out, opened
from lookalike.engines import LocalEngine
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import Header, RunRecord, choose_progress, write_parquet
from lookalike.runs.watch import Watch


@dataclass(frozen=True, kw_only=True)
class Near:
    """What is near, and on how many threads it is looked for."""

    measure: str
    distance: int
    threads: int | None


def find_strings(
    inputs: list[str],
    other: list[str] | None,
    reading: Reading,
    near: Near,
    *,
    output: Path | None,
    overwrite: bool,
    json: bool,
    progress: str,
) -> None:
    """Find the pairs, write the folder, and say what was found."""
    watch = Watch(choose_progress(progress))  # type: ignore[arg-type]
    parameters = {"measure": near.measure, "distance": near.distance}
    with ExitStack() as stack:
        folder = stack.enter_context(checked_folder(output, overwrite=overwrite))
        sources = [
            stack.enter_context(opened(paths, reading, output=output)) for paths in (inputs, other) if paths
        ]
        found, collections, candidates = strings_within(
            sources,
            distance=near.distance,
            kind=near.measure,
            engine=LocalEngine(near.threads),
            watch=watch,
        )
        with watch.stage("write"):
            header = Header(kind="pairs", algorithm=ALGORITHM_VERSION, parameters=parameters)
            write_parquet(folder.path / "pairs.parquet", found.to_arrow(), header)
        strings = [collection.rows for collection in collections]
        record = RunRecord(
            job="pairs",
            parameters=parameters,
            counts={
                "strings": sum(strings),
                "strings_by_collection": strings,
                "unreadable": sum(source.unreadable.rows for source in sources),
                "unreadable_files": sum(source.unreadable.files for source in sources),
                "candidates": candidates,
                "pairs": len(found),
            },
            estimates={},
            stages=tuple(watch.stages),
        ).write(folder.path)
        for source in sources:
            note_what_was_left_out(source)
    if json:
        print(record.to_json().rstrip())
        return
    print(f"{'strings':<13} {numbers.count(sum(strings))}")
    print(f"{'candidates':<13} {numbers.count(candidates)}")
    print(f"{'pairs':<13} {numbers.count(len(found))} within {near.distance} edits, all there are")
    print(f"{'written':<13} {output}: pairs.parquet, run.json")
