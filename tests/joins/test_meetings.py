"""Who meets whom: every pair, and no more of them at once than the engine has room for."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from lookalike import _core
from lookalike.engines import LocalEngine, Table
from lookalike.joins import meetings
from lookalike.joins.meetings import Meet, count_meetings


@pytest.mark.parametrize(("memory", "most"), [(16_000_000, 83_333), (2**30, 1 << 22)])
def test_pairs_made_at_once_follow_the_budget(monkeypatch, memory, most):
    runs = {1: range(1500), 2: range(100, 1300, 3), 3: range(40), 4: range(7, 9)}
    lines = [(key, row) for key, rows in runs.items() for row in rows]
    keys, rows = (np.array(column, np.uint64) for column in zip(*lines, strict=True))
    calls, stages = [], []
    kernel, meet = _core.meetings, Meet.__call__

    def called(*arguments, **options):
        pairs, times = kernel(*arguments, **options)
        calls.append(len(pairs))
        return pairs, times

    def made(self, batch):
        result = meet(self, batch)
        stages.append(len(result))
        return result

    monkeypatch.setattr(_core, "meetings", called)
    monkeypatch.setattr(Meet, "__call__", made)
    engine = LocalEngine(2, memory=memory)
    places = Table.of(element=keys, row=rows.astype(np.uint32))
    met = count_meetings(engine, meetings.meetings(engine, places, "element", boundary=None), most=4)
    truth = Counter((a << 32) | b for rows in runs.values() for a, b in combinations(rows, 2))
    assert dict(zip(met.column("pair").tolist(), met.column("times").tolist(), strict=True)) == truth
    # A batch holds the longest run, and may hold shorter ones beside it.
    assert max(stages) <= 3 * most
    assert max(calls) <= most
    assert len(stages) < 100
