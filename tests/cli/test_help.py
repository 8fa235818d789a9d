"""What the command says about itself."""

import dataclasses
import inspect
import subprocess
import sys
import time

import pytest

import lookalike
from lookalike.applications.compare import compare
from lookalike.applications.decontaminate import DecontaminateOptions
from lookalike.applications.demo import demo
from lookalike.applications.documents import DedupOptions, PairOptions
from lookalike.applications.top import TopOptions
from lookalike.cli.app import COMMANDS, load


def test_help_lists_every_command_with_its_line_in_full(type_):
    ended = type_("--help")
    assert ended.code == 0
    assert ended.err == ""
    for name, line in COMMANDS.items():
        assert f"  {name}" in ended.out
        assert line in ended.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_in_its_help(type_, name):
    ended = type_(name, "--help")
    assert ended.code == 0
    assert f"  lookalike {name}" in ended.out
    assert ended.out.startswith(f"Usage: lookalike {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_explained(name):
    for parameter in load(name).params:
        assert len(parameter.help or "") > 10, parameter.name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_list_is_the_first_of_the_commands_own_help(name):
    assert load(name).help.startswith(COMMANDS[name])


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("dedup", {field.name: field.default for field in dataclasses.fields(DedupOptions)}),
        ("decontaminate", {field.name: field.default for field in dataclasses.fields(DecontaminateOptions)}),
        ("pairs", {field.name: field.default for field in dataclasses.fields(PairOptions)}),
        ("top", {field.name: field.default for field in dataclasses.fields(TopOptions)}),
        ("plan", {field.name: field.default for field in dataclasses.fields(PairOptions)}),
        ("compare", {name: given.default for name, given in inspect.signature(compare).parameters.items()}),
        ("demo", {name: given.default for name, given in inspect.signature(demo).parameters.items()}),
    ],
)
def test_commands_have_no_defaults_of_their_own(name, defaults):
    shared = [parameter for parameter in load(name).params if parameter.name in defaults]
    theirs = {
        parameter.name: parameter.default for parameter in shared if parameter.param_type_name == "option"
    }
    assert len(theirs) >= 2
    # Progress is chosen by a word in the command and given as an object in Python.
    theirs.pop("progress", None)
    assert theirs == {option: defaults[option] for option in theirs}


@pytest.mark.parametrize("name", ["dedup", "pairs", "decontaminate", "top"])
def test_every_option_of_the_library_can_be_given(name):
    options = {
        "dedup": DedupOptions,
        "pairs": PairOptions,
        "decontaminate": DecontaminateOptions,
        "top": TopOptions,
    }[name]
    given = {parameter.name for parameter in load(name).params}
    assert {field.name for field in dataclasses.fields(options)} <= given


@pytest.mark.parametrize("name", ["compare", "decontaminate", "top"])
def test_help_does_not_offer_rare_words_where_they_are_refused(name):
    offered = {parameter.name: parameter.help for parameter in load(name).params}["shingle"]
    assert "rare" not in offered


def test_help_is_there_at_once_because_nothing_heavy_is_loaded():
    program = (
        "import sys; from lookalike.cli import main; main(['--help'])\n"
        "heavy = {'numpy', 'pyarrow', 'rich', 'lookalike._core'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    started = time.perf_counter()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    # Half a second on a machine at rest; this one may be busy.
    assert time.perf_counter() - started < 5


def test_the_version_is_told(type_):
    assert type_("--version") == (0, f"lookalike {lookalike.__version__}\n", "")


def test_no_command_is_answered_with_help_and_exit_2(type_):
    ended = type_()
    assert ended.code == 2
    assert "Commands:" in ended.out + ended.err


def test_a_misspelt_command_or_option_is_a_mistake_in_usage(type_):
    ended = type_("dedupe")
    assert ended.code == 2
    assert "dedup" in ended.err
    ended = type_("plan", "--treshold", "0.5")
    assert ended.code == 2
    assert "--threshold" in ended.err
    ended = type_("plan", "--threshold", "high")
    assert ended.code == 2
    assert "--threshold" in ended.err
