"""A search for pairs as `lookalike pairs` runs it, whatever is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.applications.documents.rehearsal import Rehearsal
from lookalike.applications.documents.road_rehearsal import RoadRehearsal
from lookalike.cli.following import following
from lookalike.cli.given import note_what_was_left_out_of
from lookalike.cli.outcome import PairsOutcome, tell, tell_rehearsal
from lookalike.cli.output import checked_folder, note, work_place
from lookalike.cli.unfinished import engine_of_a_run
from lookalike.engines import Engine, local_engine
from lookalike.runs import RunFolder
from lookalike.runs.watch import Watch

#: Options that every kind of item has. Each kind names those it has beside them, and refuses the others.
OF_ALL_KINDS = frozenset(
    (
        *("inputs", "other", "text", "id", "on_error", "output", "copies", "overwrite", "json"),
        *("threads", "memory", "scratch", "resume", "progress"),
    )
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairSearch:
    """What a kind of items brings along; the rest is the same for all.

    Parameters
    ----------
    parameters
        All that the answer depends on, beside the input: a run with others does not go on.
    open
        Finds and opens the input of one collection or two; standard input waits in the folder `scratch`.
    find
        From what was opened to pairs.
    rehearse
        From what was opened to what that would cost; None of what nobody estimates.
    """

    parameters: dict[str, Any]
    open: Callable[..., AbstractContextManager[Sequence[Any]]]
    find: Callable[[Sequence[Any], Engine, Watch], PairsOutcome]
    rehearse: Callable[[Sequence[Any], Engine, Watch], Rehearsal | RoadRehearsal] | None = None

    def run(
        self,
        *,
        output: Path | None,
        overwrite: bool,
        json: bool,
        dry_run: bool,
        threads: int | None,
        memory: str | None,
        scratch: Path | None,
        resume: bool,
        progress: str,
    ) -> None:
        """Find the pairs, write the folder, and say what was found; of a dry run, what it would cost."""
        watch = following(progress)
        if dry_run:
            # Kinds of items that nobody estimates refuse the option.
            assert self.rehearse is not None
            if output is not None:
                RunFolder.create(output, overwrite=overwrite)
            engine = local_engine(threads, memory, work_place(output, scratch))
            with self.open(scratch=scratch) as given:
                rehearsal = self.rehearse(given, engine, watch)
                note_what_was_left_out_of(given)
            tell_rehearsal(rehearsal, json=json)
            return
        folder = checked_folder(output, overwrite=overwrite, resume=resume)
        with (
            self.open(scratch=scratch) as given,
            engine_of_a_run(
                "pairs",
                folder,
                given,
                self.parameters,
                threads=threads,
                memory=memory,
                scratch=scratch,
                resume=resume,
                json=json,
            ) as working,
            folder,
        ):
            outcome = self.find(given, working, watch)
            record = outcome.write_into(folder, watch)
        note_what_was_left_out_of(given)
        for sentence in outcome.advice:
            note(sentence)
        tell(record, "\n".join(outcome.lines(watch.stages)), output, json=json)
