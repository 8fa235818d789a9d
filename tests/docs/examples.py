"""Runs the examples of a document, block by block, as a reader would."""

import contextlib
import glob
import io
import re
import shlex

from lookalike.cli import main

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Lines of a summary that tell times and memory are never the same twice: only their names count.
_MEASURED = re.compile(r"^(took|so far|seconds) .*$", re.MULTILINE)


def run_examples(document):
    """Run a document's fenced blocks in order, in the current folder; what they print must be what is shown.

    `python` blocks share their names. A block of no language shows what the one before it printed.
    `console` blocks hold commands, each behind a `$`, and below it what it prints; a command below which
    nothing is shown must only succeed, and a last line `…` stands for all that follow.
    `text` blocks are pictures and command lines in general.
    """
    names = {}
    printed = ""
    for language, body in _BLOCK.findall(document):
        if language == "":
            assert printed == body
            printed = ""
            continue
        assert printed == "", "an example prints this, and it is not shown"
        if language == "python":
            printed = _printed_by(exec, body, names)
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                _type(*part.split("\n", 1))
        else:
            assert language == "text", f"blocks of {language} are not tested"
    assert printed == "", "an example prints this, and it is not shown"


def _type(command, shown):
    """Run a command line, and hold what it prints against what is shown."""
    program, *words = shlex.split(command)
    assert program == "lookalike", f"{program} is not run"
    arguments = [name for word in words for name in sorted(glob.glob(word)) or [word]]
    codes = []
    printed = _printed_by(lambda: codes.append(main(arguments)))
    assert codes == [0], command
    if shown.strip():
        lines = _MEASURED.sub(r"\1", printed).split("\n")
        expected = _MEASURED.sub(r"\1", shown.rstrip("\n") + "\n").split("\n")
        if "…" in expected:
            expected = expected[: expected.index("…")]
            lines = lines[: len(expected)]
        assert lines == expected, command


def _printed_by(act, *arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        act(*arguments)
    return out.getvalue()
