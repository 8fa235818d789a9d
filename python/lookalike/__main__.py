"""`python -m lookalike`: the command, where it is not on the path."""

from lookalike.cli import command

if __name__ == "__main__":
    command()
