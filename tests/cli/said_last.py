"""Command lines of tests that take their usual options and say some of them otherwise."""

SEVERAL = ("--against", "--with", "--measurements")


def said_last(arguments):
    """The arguments without options that are said again further on: the command refuses those.

    What is said again stands last. Options of several values stay.
    """
    arguments = [str(argument) for argument in arguments]
    kept = []
    skip = False
    for at, argument in enumerate(arguments):
        if skip:
            skip = False
        elif argument.startswith("-") and argument not in SEVERAL and argument in arguments[at + 1 :]:
            skip = not _is_switch(arguments, at)
        else:
            kept.append(argument)
    return kept


def _is_switch(arguments, at):
    return at + 1 == len(arguments) or arguments[at + 1].startswith("--")
