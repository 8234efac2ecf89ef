"""Engines installed in an environment, from its directories alone: no interpreter is started."""

import os
import re
from collections.abc import Iterator

from .engine_table import MAIN_DISTRIBUTIONS


def engines(directory: str) -> Iterator[tuple[str, str | None]]:
    """List the engines in an environment's site-packages by name; the interpreter is not started."""
    for place in _places(directory):
        for name in _names(place):
            stem, ending = os.path.splitext(name)
            found = re.sub(r"[-_.]+", "-", stem.split("-")[0]).lower()
            if ending == ".dist-info" and found in MAIN_DISTRIBUTIONS:
                yield found, _metadata_version(os.path.join(place, name, "METADATA"))


def _places(directory: str) -> list[str]:
    library = os.path.join(directory, "lib")
    versions = [n for n in _names(library) if n.startswith(("python", "pypy"))]
    places = [os.path.join(library, n, "site-packages") for n in versions]
    return [*places, os.path.join(directory, "Lib", "site-packages")]


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _metadata_version(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"^Version:\s*(\S+)", file.read(8192), re.MULTILINE)
    except OSError:
        return None
    return found[1] if found else None
