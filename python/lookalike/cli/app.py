"""The commands there are.

A command is a function in the file of its name. The file is imported when the command is called: they stand
on Arrow and NumPy, and `lookalike --help` should not have to wait for those.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lookalike.cli import ending, first_sign
from lookalike.cli.typed import check_given, command_line, kinds_of
from lookalike.cli.wording import options_of
from lookalike.errors import LookalikeError

#: Each command with its line in the list; the line is also the first of the function's docstring.
COMMANDS = {
    "dedup": "Keep one document of every group of near-duplicates.",
    "pairs": "Find all pairs of similar items, in one collection or two.",
    "top": "Find the most similar items of every item.",
    "cluster": "Group everything that pairs connect.",
    "compare": "Show how similar two texts are, and the passages they share.",
    "decontaminate": "Find the test items that occur in training documents.",
    "baskets": "Find the pairs of items that are in many baskets together.",
    "plan": "Show what a threshold and a promised recall ask of the bands.",
    "demo": "Plant edited copies in a made-up corpus, and see them found.",
}

# Help is plain text: it is there at once, wraps as the terminal does, and can be searched.
_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "context_settings": {"max_content_width": 100, "help_option_names": ["-h", "--help"]},
}


class Command(TyperCommand):
    """A command whose help lists its options by topic."""

    #: What the values of its options are, by the names of its parameters.
    kinds: Mapping[str, type] = MappingProxyType({})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; what is no number, is empty or stands there twice is said in our own words."""
        check_given(self.make_parser(ctx), self.get_params(ctx), self.kinds, args)
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that shows no progress of its own may print at once."""
        if "progress" not in ctx.params:
            first_sign.end()
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as the help does, then the options."""
        arguments = [part for part in self.get_params(ctx) if part.param_type_name == "argument"]
        return [*(str(argument.metavar) for argument in arguments), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each topic, in the order they are first named."""
        topics: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                topic = getattr(parameter, "rich_help_panel", None) or "Help"
                # An argument's name may be followed by its type in Python, which is nobody's business here.
                topics.setdefault(topic, []).append((row[0].partition(" <")[0], row[1]))
        for topic, rows in topics.items():
            with formatter.section(topic):
                formatter.write_dl(rows)


class Deferred(TyperCommand):
    """A command known by its name and its line in the list, until somebody calls it."""

    def get_short_help_str(self, limit: int = 0) -> str:
        """The whole line: all of them fit a terminal of 80 columns, and a cut one says less."""
        return self.help or ""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Load the command and let it read its arguments."""
        assert self.name is not None
        return load(self.name).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, deferred."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, line in COMMANDS.items():
            self.add_command(Deferred(name=name, help=line, callback=None))


app = typer.Typer(cls=Commands, no_args_is_help=True, **_SETTINGS)


def load(name: str) -> Any:
    """The command of a name, ready to read its arguments."""
    module = importlib.import_module(f"lookalike.cli.{name}")
    alone = typer.Typer(**_SETTINGS)
    # A file whose command reads its arguments in a way of its own says how.
    alone.command(name, cls=getattr(module, "Reader", Command))(getattr(module, name))
    command: Any = typer.main.get_command(alone)
    command.kinds = kinds_of(getattr(module, name))
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        from lookalike import __version__

        print(f"lookalike {__version__}")
        raise typer.Exit


@app.callback()
def lookalike(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="After an error, also print where in the program it happened.")
    ] = False,
) -> None:
    """Find similar items in collections far too large to compare pair by pair.

    Items are documents, sets, vectors, hashes or strings. Every pair reported was checked on the data, and
    every run says how much it may have missed. To see it at work, type: lookalike demo
    """


def run(arguments: list[str]) -> int:
    """Run the command line `arguments` and return the exit code."""
    _mend_streams()
    command_line.set(("lookalike", *arguments))
    debug = False
    try:
        group = typer.main.get_command(app)
        with group.make_context("lookalike", list(arguments)) as context:
            debug = bool(context.params.get("debug"))
            group.invoke(context)
        # Now rather than at exit, where a full disk behind standard output could no longer be answered.
        sys.stdout.flush()
        return ending.DONE
    except typer.Exit as early:
        return early.exit_code
    except Exception as error:
        options = _options(arguments) if isinstance(error, LookalikeError) else {}
        return ending.explain(error, arguments, debug=debug, options=options)
    finally:
        first_sign.end()


def _options(arguments: list[str]) -> dict[str, str]:
    """The options of the command that was typed, if one was."""
    typed = next((argument for argument in arguments if not argument.startswith("-")), "")
    return options_of(load(typed)) if typed in COMMANDS else {}


def _mend_streams() -> None:
    """Make the standard streams safe to print to: closed ones lead nowhere, narrow ones do what they can."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        else:
            # A test or a notebook may have put something there that has nothing to mend.
            with contextlib.suppress(AttributeError):
                stream.reconfigure(errors="replace")
