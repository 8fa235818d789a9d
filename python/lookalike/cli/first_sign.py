"""A sign of life on a terminal, before and between bars: what is going on, in a line that goes again.

    Lookalike is starting …
    read …

Modules take part of a second to load and files to open, and a stage gets its bar only when it lasts. Nobody
should look at an empty line for more than a second meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import TextIO

#: So long nothing is shown, as most commands are done by then.
PATIENCE = 0.5
_ERASE = "\r\x1b[K"
#: Wide enough for words, and narrower than any terminal: a longer line could not be taken back.
_WIDEST = 30


class FirstSign:
    """The line, which may be shown from `patience` seconds after `began` on."""

    def __init__(
        self,
        stream: TextIO,
        *,
        began: float,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._text = "Lookalike is starting"
        self._due = began + patience
        self._clock = clock
        self._shown = self._closed = False
        self._bars = 0
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(0.0, self._due - clock()), self._show_now)
        self._timer.daemon = True
        self._timer.start()

    def now(self, name: str) -> None:
        """Say what is going on from here on."""
        with self._lock:
            self._text = name
            if self._clock() >= self._due:
                self._show()

    def hide(self) -> None:
        """Make room for something else to be written; what goes on next is shown again."""
        with self._lock:
            self._erase()

    def bar(self, shown: bool) -> None:
        """A bar appears, which says more, or is gone."""
        with self._lock:
            self._bars += 1 if shown else -1
            self._erase()

    def close(self) -> None:
        """Be gone for good."""
        self._timer.cancel()
        with self._lock:
            self._erase()
            self._closed = True

    def _show_now(self) -> None:
        with self._lock:
            self._show()

    def _show(self) -> None:
        if not self._bars and not self._closed:
            self._write(f"{_ERASE}{self._text[:_WIDEST]} …")
            self._shown = True

    def _erase(self) -> None:
        if self._shown:
            self._write(_ERASE)
            self._shown = False

    def _write(self, text: str) -> None:
        # A terminal that is gone is no reason to stop.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()


#: The line of this process, if it has one.
_current: FirstSign | None = None


def begin(stream: TextIO, *, began: float) -> None:
    """Give this process its line."""
    global _current
    _current = FirstSign(stream, began=began)


def current() -> FirstSign | None:
    """The line of this process, if it has one."""
    return _current


def hide() -> None:
    """Make room on the terminal."""
    if _current is not None:
        _current.hide()


def end() -> None:
    """Nothing more is to be waited for: a result or an error follows."""
    global _current
    if _current is not None:
        _current.close()
        _current = None
