"""Sets whose files are found and open, but not read yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from lookalike.applications.sets.reading import SetInput
from lookalike.io import FileSource, Source
from lookalike.io.edges import open_edges, open_lists
from lookalike.io.setfiles import open_set_lines


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenSets:
    """What was given, and the source it is read from; None of a matrix, which is read whole.

    Close it when done, or use it as a context manager.
    """

    given: SetInput
    source: Source | None

    @property
    def paths(self) -> list[Path]:
        """Where the sets are read from; nowhere, if they are in memory."""
        if isinstance(self.source, FileSource):
            return self.source.paths
        return [Path(path) for path in self.given.paths]

    @property
    def spooled(self) -> bool:
        """Whether they came on standard input, and are gone with the process."""
        return isinstance(self.source, FileSource) and self.source.spooled

    def __enter__(self) -> OpenSets:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.source is not None:
            self.source.close()


def open_sets(given: SetInput, scratch: Path | None = None) -> OpenSets:
    """Open what holds sets; standard input is kept in the folder `scratch` while it is in use."""
    return OpenSets(given=given, source=_source(given, scratch))


def _source(given: SetInput, scratch: Path | None) -> Source | None:
    match given.form:
        case "lines":
            return open_set_lines(given.paths, on_error=given.on_error, scratch=scratch)
        case "lists":
            assert given.items is not None
            return open_lists(
                given.data, items=given.items, id=given.id, on_error=given.on_error, scratch=scratch
            )
        case "edges":
            assert given.of is not None
            assert given.items is not None
            return open_edges(
                given.data,
                of=given.of,
                items=given.items,
                rating=given.rating,
                weight=given.weight,
                on_error=given.on_error,
                scratch=scratch,
            )
    return None
