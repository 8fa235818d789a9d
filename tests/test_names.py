"""The public names: what a user can type after `la.`, and what importing them costs."""

import subprocess
import sys

import pytest

import lookalike as la

NAMES = [
    "L1",
    "Amplification",
    "Banding",
    "BitSampling",
    "Bits",
    "Cascade",
    "Clusters",
    "CompactSignatures",
    "Comparison",
    "Covering",
    "DedupOptions",
    "DedupResult",
    "Euclidean",
    "Gallery",
    "HammingTable",
    "Hyperplane",
    "LocalEngine",
    "LookalikeError",
    "MinHash",
    "PairOptions",
    "Pairs",
    "Plan",
    "RangeQuery",
    "RangeSearch",
    "Ranges",
    "Sensitivity",
    "Sets",
    "Shingle",
    "TopOptions",
    "TopResult",
    "VectorOptions",
    "Vectors",
    "WeightedMinHash",
    "WeightedOptions",
    "as_bits",
    "as_sets",
    "candidates",
    "cluster",
    "compare",
    "decontaminate",
    "dedup",
    "frequent_pairs",
    "plan",
    "read_sets",
    "similar_bits",
    "similar_measurements",
    "similar_pairs",
    "similar_strings",
    "top",
]


def test_these_are_the_public_names():
    assert la.__all__ == NAMES
    assert set(NAMES) <= set(dir(la))


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_to_something_documented(name):
    value = getattr(la, name)
    assert value.__name__ == name
    assert value.__doc__


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'deduplicate'"):
        la.deduplicate  # noqa: B018


def test_the_import_is_light():
    """In a process of its own: what this one has imported says nothing."""
    heavy = ["numpy", "pyarrow", "rich", "typer", "pandas", "polars", "scipy"]
    program = f"import sys, lookalike; print(sorted(set({heavy!r}) & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "[]"


def test_the_library_works_without_what_only_the_command_or_a_user_needs():
    program = """
import sys

class Absent:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in ("rich", "typer", "pandas", "polars", "scipy"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
import lookalike as la
print(la.dedup(["a b c d e f", "A b c d e f!", "other"]).kept, la.plan(0.8).banding)
"""
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "['a b c d e f', 'other'] Banding(bands=13, rows=7)"
