"""ledger.json: what an unfinished run was begun with, and whether that is what is asked for now."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.errors import ArtefactError, ResumeError, SourceError
from lookalike.runs.fingerprint import Fingerprint, input_changes
from lookalike.runs.header import MAGIC, Header
from lookalike.runs.record import versions_here
from lookalike.runs.stored import as_stored

LEDGER_NAME = "ledger.json"

_DIGEST_BYTES = 16
_CHECKSUM_MARK = b'"checksum":"'
# Of the versions that are written down, those that results may depend on.
_BINDING_VERSIONS = ("lookalike",)
_NAMED_CHANGES = 5
#: Of more inputs run.json would be larger than many results.
_MOST_REMEMBERED = 100


def asked_for(
    *, job: str, parameters: Mapping[str, Any], inputs: Sequence[Fingerprint], algorithm: int
) -> Header:
    """What is asked for now, as a header with a checksum of itself."""
    header = Header(
        kind="ledger",
        algorithm=algorithm,
        parameters={
            "job": job,
            "parameters": as_stored(parameters),
            "versions": versions_here(),
            "inputs": [file.to_dict() for file in inputs],
        },
    )
    head, mark, _ = header.to_json().encode().rpartition(_CHECKSUM_MARK)
    return dataclasses.replace(header, checksum=digest(head + mark))


def is_unfinished_run(folder: Path) -> bool:
    """Whether `folder` holds a run of ours that was begun; whether it can go on, `Ledger.open` says."""
    try:
        return f'"magic":"{MAGIC}"'.encode() in (folder / LEDGER_NAME).read_bytes()
    except OSError:
        return False


def to_remember(asked: Header) -> dict[str, Any]:
    """What run.json remembers of a question; of very many inputs only a digest of all of them."""
    remembered = {"algorithm": asked.algorithm, **asked.parameters}
    inputs = remembered["inputs"]
    if len(inputs) > _MOST_REMEMBERED:
        remembered["inputs"] = {"files": len(inputs), "digest": _digest_of(inputs)}
    return remembered


def differences(remembered: Mapping[str, Any], asked: Header) -> list[str]:
    """A sentence for everything in which a question differs from one that run.json remembers.

    Raises
    ------
    KeyError, TypeError
        If what is remembered is no question.
    """
    then = dict(remembered)
    algorithm, inputs = then.pop("algorithm"), then["inputs"]
    changed = []
    if isinstance(inputs, Mapping):
        now = asked.parameters["inputs"]
        if (inputs["files"], inputs["digest"]) != (len(now), _digest_of(now)):
            changed = ["the input files are not the same, or were changed"]
        then["inputs"] = now
    return _changes(Header(kind=asked.kind, algorithm=algorithm, parameters=then), asked) + changed


def in_short(changes: Sequence[str]) -> str:
    """The first few of many changes."""
    more = len(changes) - _NAMED_CHANGES
    return "; ".join(changes[:_NAMED_CHANGES]) + (f"; and {more} more" if more > 0 else "")


def _digest_of(inputs: Sequence[Mapping[str, Any]]) -> str:
    # A file that was copied has another time of change, which counts only where no checksum was taken.
    told = [{**file, "changed": None if file["whole"] is not None else file["changed"]} for file in inputs]
    return digest(json.dumps(told, sort_keys=True).encode())


def require_unchanged(folder: Path, asked: Header) -> Header:
    """The ledger of the unfinished run in `folder`; refused if something else is asked for now.

    Raises
    ------
    ResumeError
        If it was begun with other parameters, inputs or versions.
    ArtefactError
        If it is damaged.
    """
    stored = _stored(folder / LEDGER_NAME)
    changes = _changes(stored, asked)
    if changes:
        raise ResumeError(
            f"the unfinished run in {folder} was begun otherwise ({in_short(changes)}): ask for what it was "
            "begun with, or begin anew with --overwrite"
        )
    return stored


def _changes(stored: Header, asked: Header) -> list[str]:
    then, now = stored.parameters, asked.parameters
    changes = []
    if then["job"] != now["job"]:
        changes.append(f"it was {then['job']} and is {now['job']} now")
    if stored.algorithm != asked.algorithm:
        changes.append(f"version {stored.algorithm} of the algorithms began it and this is {asked.algorithm}")
    for name in _BINDING_VERSIONS:
        if then["versions"].get(name) != now["versions"].get(name):
            changes.append(f"{name} was {then['versions'].get(name)} and is {now['versions'].get(name)} now")
    before, after = then["parameters"], now["parameters"]
    for name in dict.fromkeys([*before, *after]):
        if name not in before or name not in after or before[name] != after[name]:
            old, new = (repr(given[name]) if name in given else "not given" for given in (before, after))
            changes.append(f"{name} was {old} and is {new} now")
    return changes + input_changes(
        [Fingerprint.from_dict(file) for file in now["inputs"]],
        [Fingerprint.from_dict(file) for file in then["inputs"]],
    )


def _stored(path: Path) -> Header:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    head, mark, checksum = content.rpartition(_CHECKSUM_MARK)
    if checksum != f'{digest(head + mark)}"}}'.encode():
        raise ArtefactError(
            f"{path} is damaged, and with it what the run was begun with is lost: begin anew with --overwrite"
        )
    return Header.from_json(content, where=str(path))


def digest(content: bytes) -> str:
    """What tells runs, and stages of a run, from one another."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
