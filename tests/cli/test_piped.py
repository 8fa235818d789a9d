"""Standard input, whatever is read from it: it waits where other work waits, and is read once."""

import bz2
import gzip
import io
import json
import lzma
import sys
import tempfile
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LINES = [
    {"text": f"the {word} sat on the mat and looked at the moon", "items": [1, 2, at], "at": at}
    for at, word in enumerate(["cat", "dog", "cat"])
]
ROWS = "".join(json.dumps(line) + "\n" for line in LINES).encode()
HEX = b'{"bits": "00ff"}\n{"bits": "00fe"}\n'

COMMANDS = [
    ("dedup - -o {out}", ROWS),
    ("dedup - --dry-run", ROWS),
    ("pairs - -o {out}", ROWS),
    ("pairs {rows} --with - -o {out}", ROWS),
    ("pairs - --sets -o {out}", b"1 2 3\n1 2 4\n"),
    ("pairs - --sets --items items -o {out}", ROWS),
    ("pairs - --sets --set-of text --items at -o {out}", ROWS),
    ("pairs - --bits --text bits -o {out}", HEX),
    ("pairs - --measurements at --within 1 -o {out}", ROWS),
    ("top - -o {out}", ROWS),
    ("decontaminate {rows} --with - -o {out}", ROWS),
]


@pytest.fixture
def piped(tmp_path, monkeypatch, type_):
    """Types a command with something on standard input; what came of it, and where nameless files were."""
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(ROWS)
    out = tmp_path / "new" / "out"
    make = tempfile.TemporaryFile

    def piped(command, given, *more):
        folders = []

        def noted(*arguments, dir=None, **options):
            folders.append(dir)
            return make(*arguments, dir=dir, **options)

        monkeypatch.setattr(tempfile, "TemporaryFile", noted)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(given)))
        words = [word.format(rows=rows, out=out) for word in command.split()]
        return type_(*words, *more), set(folders)

    return piped


@pytest.mark.parametrize(("command", "given"), COMMANDS)
def test_standard_input_waits_in_the_scratch_folder(command, given, piped, tmp_path):
    scratch = tmp_path / "fast" / "disk"
    more = (
        ["--scratch", scratch] if "--dry-run" not in command else ["--scratch", scratch, "--memory", "16MB"]
    )
    ended, folders = piped(command, given, *more)
    assert ended.code == 0, ended
    assert folders == {scratch}
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("command", "given"), [one for one in COMMANDS if "{out}" in one[0]])
def test_standard_input_waits_beside_the_output_if_nothing_else_is_said(command, given, piped, tmp_path):
    ended, folders = piped(command, given)
    assert ended.code == 0, ended
    # The nearest folder above the output that is there before the run.
    assert folders == {tmp_path}


@pytest.mark.parametrize(
    "command",
    [
        "pairs - --with - -o {out}",
        "pairs - --with - --bits -o {out}",
        "pairs - --with - --measurements at --within 1 -o {out}",
        "top - --with - -o {out}",
        "decontaminate - --with - -o {out}",
    ],
)
def test_standard_input_is_read_once_only(command, piped):
    ended, _ = piped(command, ROWS)
    assert ended.code == 2
    assert "standard input) can be read once only" in ended.err


PARQUET = io.BytesIO()
pq.write_table(pa.table({"text": ["a b c"]}), PARQUET)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (gzip.compress(ROWS), ["compressed with gzip", "gunzip -c FILE | …"]),
        (pa.compress(ROWS, "zstd", asbytes=True), ["compressed with zstd", "zstd -dc FILE | …"]),
        (bz2.compress(ROWS), ["compressed with bzip2", "bunzip2 -c FILE | …"]),
        (lzma.compress(ROWS), ["compressed with xz", "xz -dc FILE | …"]),
        (PARQUET.getvalue(), ["is Parquet", "name the file instead"]),
    ],
)
@pytest.mark.parametrize(
    ("command", "holds"),
    [
        ("dedup - -o {out}", "jsonl"),
        ("pairs - --sets -o {out}", "a set a line"),
        ("pairs - --sets --items items -o {out}", "jsonl"),
        ("pairs - --bits --text bits -o {out}", "jsonl"),
    ],
)
def test_what_is_no_lines_is_said_to_be_what_it_is(command, holds, given, words, piped):
    ended, _ = piped(command, given)
    assert ended.code == 2
    assert f"what is read there is {holds}: " in ended.err
    assert [word for word in words if word not in ended.err] == []


def test_tokens_may_begin_as_other_files_do(piped):
    ended, _ = piped("pairs - --sets -o {out}", b"PAR1 BZh9\nPAR1 BZh9\n")
    assert ended.code == 0, ended
