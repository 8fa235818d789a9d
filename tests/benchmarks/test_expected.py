"""The benchmark of what is expected judges what it sets out to judge."""

from types import SimpleNamespace

import pytest

from benchmarks import expected


def asked(said, came, rows=10_000):
    account = SimpleNamespace(method="lsh", items=rows, candidates=came, expected_candidates=said, added=())
    return expected.Asked(
        name="made up",
        search=lambda **options: SimpleNamespace(account=account),
        options={},
        methods=("lsh",),
    )


@pytest.mark.parametrize(
    ("said", "came", "near"),
    [(6_000, 2_000, True), (6_100, 2_000, False), (2_000, 6_100, False), (0, 3_000, True), (0, 3_100, False)],
)
def test_more_than_three_times_as_many_are_a_fault_either_way(monkeypatch, capsys, said, came, near):
    made = expected.line(asked(said, came), "lsh")
    assert made.near is near
    monkeypatch.setattr(expected, "searches", lambda scale: [asked(said, came)])
    assert expected.main([]) == (0 if near else 1)
    assert ("Reached" if near else "Missed by 1 of 1") in capsys.readouterr().out


def test_roads_that_nobody_estimates_are_left_out():
    assert expected.line(asked(None, 5), "exact") is None


def test_every_kind_of_item_is_searched_and_nothing_is_far_on_small_collections(monkeypatch):
    kinds = {"shingle", "measure", "threshold", "within"}
    small = [one for one in expected.searches(0.05) if not one.name.startswith("texts of 2700")]
    assert kinds <= {name for one in small for name in one.options}
    lines = [
        made for one in small for method in one.methods if (made := expected.line(one, method)) is not None
    ]
    assert [made.cells() for made in lines if not made.near] == []
