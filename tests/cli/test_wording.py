"""What is wrong is said in the words that were typed."""

import pytest

from lookalike.cli.app import COMMANDS, load
from lookalike.cli.wording import as_typed, options_of

OPTIONS = {"threshold": "--threshold", "slots": "--slots", "recall": "--recall", "set_of": "--set-of"}
OPTIONS |= {"least_rating": "--least-rating", "bits": "--bits", "k": "-k", "id": "--id"}


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("threshold=2 is out of range", "--threshold 2 is out of range"),
        ("threshold=80: did you mean threshold=0.8?", "--threshold 80: did you mean --threshold 0.8?"),
        ("threshold='20deg' is odd", "--threshold 20deg is odd"),
        ("threshold='20 deg' is odd", "--threshold '20 deg' is odd"),
        ("use slots=192 or more, or accept recall=0.9.", "use --slots 192 or more, or accept --recall 0.9."),
        ("share=(1, 2) do not go", "--threshold 1,2 do not go"),
        ("of='user' needs least_rating", "--set-of user needs --least-rating"),
        ("leave out bits=True (k=3)", "leave out --bits (-k 3)"),
        ("name recall=… and also of=…; or slots=…", "name --recall … and also --set-of …; or --slots …"),
        # What is no parameter of the command, and what is part of a path or a name, stays.
        ("ranges=3 says nothing", "ranges=3 says nothing"),
        ("there is no file data/id=3/x.parquet", "there is no file data/id=3/x.parquet"),
        ("there is no file id=3/x.parquet", "there is no file id=3/x.parquet"),
        ("it has no column 'least_rating'", "it has no column 'least_rating'"),
        ("my_least_rating.csv is gone", "my_least_rating.csv is gone"),
    ],
)
def test_parameters_become_options(said, typed):
    assert as_typed(said, OPTIONS) == typed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_options_that_can_be_typed(name):
    options = options_of(load(name))
    assert options
    assert all(option.startswith("-") and "_" not in option for option in options.values())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--measure", "hamming", "--threshold", "3"), "--measure hamming needs to know"),
        (("plan", "--measure", "hamming", "--threshold", "3"), "say so, such as --bits 64"),
        (("plan", "--measure", "hamming", "--bits", "0", "-t", "3"), "--bits 0 is out of range"),
        (("plan", "-t", "20deg"), "--threshold 20deg"),
        (("plan", "-t", "0.2", "--recall", "0.9999", "--slots", "8"), "use --slots"),
        (("pairs", "missing.csv", "-o", "out"), "no file or folder missing.csv: check the name"),
        (
            ("pairs", "x.npy", "--measure", "angle", "-t", "9deg", "--probes", "0", "-o", "out"),
            "--probes 0 is",
        ),
        (("pairs", "x.npy", "--measure", "angle", "-o", "out"), "such as --threshold 20deg"),
        (
            (
                "pairs",
                "x.npy",
                "--measure",
                "l2",
                "-t",
                "9",
                "--method",
                "exact",
                "--probes",
                "3",
                "-o",
                "out",
            ),
            "leave out --probes 3",
        ),
        (("top", "x.txt", "-o", "out", "--shingle", "words:0"), "shingle words:0 is out of range"),
        (("dedup", "x.txt", "-o", "out", "--shingle", "words:1+rare0"), "+rare0 is out of range"),
        (("pairs", "--sets", "x.csv", "-o", "out"), "name its columns, --items … and for an item a row"),
        (("pairs", "--sets", "x.csv", "-o", "out"), "also --set-of …; or --separator …, what stands"),
        (("top", "--sets", "x.csv", "--set-of", "a", "-o", "out"), "--set-of a needs --items …, the column"),
        (
            ("pairs", "x.csv", "--measurements", "a", "--within", "1", "-t", "2", "-o", "out"),
            "--threshold 2",
        ),
    ],
)
def test_commands_speak_of_what_was_typed(refused, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = refused(*arguments)
    assert said in message
    assert "=" not in message
    assert "in a list" not in message
