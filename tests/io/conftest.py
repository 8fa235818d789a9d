"""What the tests of sources share: reading everything, and chunks small enough to show every boundary."""

import pyarrow as pa
import pytest

from lookalike.io import records


def everything(source, batch_bytes=1 << 20):
    """All rows of a scan as a table."""
    return pa.Table.from_batches(list(source.scan(batch_bytes)))


@pytest.fixture
def read_all():
    return everything


@pytest.fixture(params=[1 << 18, 7], ids=["steps-of-256KiB", "steps-of-7-bytes"])
def step(request, monkeypatch):
    """The size of one read from a stream; a small one puts chunk boundaries everywhere."""
    monkeypatch.setattr(records, "STEP", request.param)
    return request.param
