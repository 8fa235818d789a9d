"""A run that may be killed: what it has done waits beside the output until it goes on.

Beside OUT lies .OUT.unfinished with the stages that are done (`runs.ledger`). It is gone when OUT is there.
It stays when the run is killed, interrupted, or out of disk or memory, if any stage is done; a new run then
begins anew, or goes on with --resume, with more --memory if it likes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import typer

from lookalike.cli.done import in_words
from lookalike.cli.output import finished_already, is_left_over, note, unfinished_place, work_place
from lookalike.engines import LocalEngine
from lookalike.errors import ArtefactError, OptionError, OutputError, ResumeError, RowTooLargeError
from lookalike.joins import ALGORITHM_VERSION
from lookalike.runs import (
    RECORD_NAME,
    Fingerprint,
    Header,
    Ledger,
    RunFolder,
    RunRecord,
    is_unfinished_run,
    parse_size,
)
from lookalike.runs.asked import asked_for, differences, in_short, to_remember
from lookalike.runs.header import damaged
from lookalike.runs.stored import as_stored


class Files(Protocol):
    """A collection that is read from files."""

    @property
    def paths(self) -> list[Path]:
        """Where they lie."""

    @property
    def spooled(self) -> bool:
        """Whether they came on standard input, and are gone with the process."""


@contextlib.contextmanager
def engine_of_a_run(
    job: str,
    folder: RunFolder,
    sources: Sequence[Files],
    parameters: Mapping[str, Any],
    *,
    threads: int | None,
    memory: str | None,
    scratch: Path | None,
    resume: bool,
    more_inputs: Sequence[Path] = (),
    written: Mapping[str, Any] | None = None,
    json: bool = False,
) -> Iterator[LocalEngine]:
    """An engine whose settled tables outlive the process, for as long as the run is unfinished.

    `parameters` is all that the result depends on, besides `sources` and `more_inputs`; what is `written` of
    it may change while the run is unfinished. The folder is entered inside the block, and takes its name at
    its end. A finished run that answers the same question is left as it is, and the command ends; with `json`
    its record is printed again.
    """
    budget = None if memory is None else parse_size(memory)
    if any(source.spooled for source in sources):
        if resume:
            raise OptionError(
                "what came on standard input is gone: a run that read it cannot go on with --resume"
            )
        yield LocalEngine(threads, memory=budget, scratch=work_place(folder.target, scratch))
        return
    if len(sources) > 1:
        # The same files, but another of them in the other collection, would be another run.
        parameters = {**parameters, "files_by_collection": [len(source.paths) for source in sources]}
    inputs = Fingerprint.of_all([*(path for source in sources for path in source.paths), *more_inputs])
    asked = asked_for(
        job=job,
        parameters={**parameters, **(written or {})},
        inputs=inputs,
        algorithm=ALGORITHM_VERSION,
    )
    if folder.finished:
        _let_finished_be(folder.target, asked, json=json)
    folder.asked = to_remember(asked)
    place = unfinished_place(folder.target)
    missing = [parent for parent in place.parents if not parent.exists()]
    there = is_unfinished_run(place)
    left_over = resume and is_left_over(folder.target)
    ledger = Ledger.open(
        place,
        job=job,
        parameters=dict(parameters),
        inputs=inputs,
        algorithm=ALGORITHM_VERSION,
        resume=resume,
        # Beginning anew is what one does who does not say --resume.
        overwrite=True,
    )
    if left_over:
        _let_be(folder.target, ledger, job, parameters, json=json)
    try:
        _say_what_is_there(ledger, there=there, resume=resume)
        folder.write_in(ledger.folder)
        yield LocalEngine(threads, memory=budget, scratch=scratch or ledger.folder, ledger=ledger)
    except BaseException as error:
        if ledger.done() and _may_go_on(error):
            ledger.close()
            note(f"what is done is kept in {place}: go on with --resume")
        else:
            _forget(ledger, missing)
        raise
    _forget(ledger, [])


def _let_finished_be(finished: Path, asked: Header, *, json: bool) -> None:
    """End here: the run that is there answers what is asked, or is another one, which is not replaced."""
    record = RunRecord.read(finished)
    ways_on = "choose another folder, or do it again with --overwrite"
    if record.asked is None:
        raise OutputError(
            f"{_finished_run(finished)}, and does not tell all that it was asked, as it was made in Python, "
            f"of standard input or by an older version: use what is there; or {ways_on}"
        )
    try:
        changes = differences(record.asked, asked)
    except (KeyError, TypeError, AttributeError) as error:
        raise damaged(str(finished / RECORD_NAME), "what it was asked cannot be read") from error
    if changes:
        raise ResumeError(
            f"{_finished_run(finished)}, and was asked otherwise ({in_short(changes)}): {ways_on}"
        )
    for name, entry in record.files.items():
        path = finished / name
        if not path.is_file() or path.stat().st_size != entry.bytes:
            raise ArtefactError(f"{path} is not as the finished run wrote it: do it again with --overwrite")
    _tell_finished(finished, record, json=json)


def _finished_run(finished: Path) -> str:
    return finished_already(finished).partition(":")[0]


def _tell_finished(finished: Path, record: RunRecord, *, json: bool) -> None:
    note(finished_already(finished))
    if json:
        print(record.to_json().rstrip())
    raise typer.Exit


def _let_be(finished: Path, ledger: Ledger, job: str, parameters: Mapping[str, Any], *, json: bool) -> None:
    """End here if the run was killed after its folder was there, as it removed what it no longer needed.

    The ledger has found the question to be the one it was begun with; what is finished must answer it, too.
    """
    record = RunRecord.read(finished)
    asked = as_stored(parameters)
    if record.job != job or any(
        _differs(asked.get(name), value) for name, value in record.parameters.items()
    ):
        ledger.close()
        raise OutputError(
            f"{finished} holds another run than the unfinished one in {ledger.folder}: choose another "
            "folder, or begin anew with --overwrite"
        )
    _forget(ledger, [])
    _tell_finished(finished, record, json=json)


def _differs(asked: Any, recorded: Any) -> bool:
    """Whether what is recorded is not what was asked for; what was left open, or has a unit, was read."""
    if isinstance(recorded, list) and all(isinstance(one, dict) for one in recorded):
        # Earlier runs are recorded by their folders, with what was found there.
        recorded = sorted(str(one.get("folder")) for one in recorded)
        asked = sorted(map(str, asked)) if isinstance(asked, list) else asked
    return asked is not None and type(asked) is type(recorded) and asked != recorded


def _may_go_on(error: BaseException) -> bool:
    """Whether the same run may end well another time: it was stopped, or had no room on disk or in memory."""
    no_room = isinstance(error, OutputError | RowTooLargeError | MemoryError)
    return no_room or not isinstance(error, Exception)


def _say_what_is_there(ledger: Ledger, *, there: bool, resume: bool) -> None:
    if ledger.resumed:
        done = ", ".join(in_words(ledger.done()))
        note(f"going on in {ledger.folder}, where {'this is done: ' + done if done else 'nothing was done'}")
    elif there:
        note(f"an unfinished run was in {ledger.folder}; this one begins anew (--resume would have gone on)")
    elif resume:
        note(f"there is no unfinished run in {ledger.folder}: this one begins anew")


def _forget(ledger: Ledger, parents: Sequence[Path]) -> None:
    ledger.discard()
    for parent in parents:
        with contextlib.suppress(OSError):
            os.rmdir(parent)
