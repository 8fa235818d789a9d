"""Prints what pyproject.toml says is needed: for the build (`build`), or for an extra, by its name."""

import sys
import tomllib
from pathlib import Path


def requirements(name: str) -> list[str]:
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    if name == "build":
        return list(settings["build-system"]["requires"])
    return list(settings["project"]["optional-dependencies"][name])


if __name__ == "__main__":
    print(*requirements(sys.argv[1]), sep="\n")
