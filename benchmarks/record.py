"""Records: what was measured, when and on what, as JSON to keep and Markdown to read.

    python -m benchmarks.record                            write RESULTS.md anew

Every benchmark writes records/NAME-DATE.json; RESULTS.md shows the latest of each name. A record holds its
table as it was printed, so that showing it again computes nothing, and the command that printed it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).with_name("records")
RESULTS = Path(__file__).with_name("RESULTS.md")
_WIDTH = 120
_PREFACE = """# Results

The latest record of each benchmark, written by `--record`; do not edit. README.md says what is measured and
how the answers are judged.
"""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run of one benchmark, and the command that made it."""

    name: str
    title: str
    date: str
    command: str
    machine: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def to_markdown(self) -> str:
        """Return the record as a section."""
        lines = [f"## {self.title}", "", f"{self.date}, `{self.command}`. {self.machine}.", ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("| --- |" + " ---: |" * (len(self.columns) - 1))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines).rstrip() + "\n"

    def show(self, console: Console) -> None:
        """Print the table and the notes."""
        table = Table(title=self.title)
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)
        for note in self.notes:
            console.print(note)


def console() -> Console:
    """Return a console wide enough for a table, also when the output goes to a file."""
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH)


def command(module: str, arguments: Sequence[str] | None = None) -> str:
    """Return the command that runs a benchmark with these arguments (None: this process's own).

    Files are named without their folders, which say nothing to others; whether it was recorded is plain.
    """
    given = sys.argv[1:] if arguments is None else arguments
    words = [word.rsplit("/", 1)[-1] for word in given if word != "--record"]
    return " ".join(["python -m", f"benchmarks.{module}", *words])


def save(record: Record, folder: Path = FOLDER, results: Path = RESULTS) -> Path:
    """Write a record, and RESULTS.md anew. A second record of a day takes the place of the first."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{record.name}-{record.date}.json"
    file.write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")
    write_results(folder, results)
    return file


def write_results(folder: Path = FOLDER, results: Path = RESULTS) -> None:
    """Write RESULTS.md from the latest records."""
    results.write_text("\n".join([_PREFACE, *(latest.to_markdown() for latest in _latest(folder))]))


def _latest(folder: Path) -> list[Record]:
    """Return the newest record of each name; dates sort as text."""
    newest: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.json")):
        stored = json.loads(file.read_text())
        if stored["date"] >= newest.get(stored["name"], stored)["date"]:
            newest[stored["name"]] = stored
    return [
        Record(**stored | {"columns": tuple(stored["columns"]), "rows": tuple(map(tuple, stored["rows"]))})
        for _, stored in sorted(newest.items())
    ]


if __name__ == "__main__":
    write_results()
