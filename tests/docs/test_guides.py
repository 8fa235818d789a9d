"""Every example in the guides prints what the guide shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = sorted(DOCS.rglob("*.md"))
#: A block of Python, and the block of output that may follow it.
_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: str(guide.relative_to(DOCS)))
def test_examples_print_what_the_guide_shows(guide, tmp_path, monkeypatch):
    # What an example writes stays here; names live on from one example of a guide to the next.
    monkeypatch.chdir(tmp_path)
    names = {}
    examples = _EXAMPLE.findall(guide.read_text(encoding="utf-8"))
    assert examples, "a guide without an example is not tested"
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert printed.getvalue() == shown, code
