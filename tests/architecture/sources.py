"""The Python files of this checkout, parsed once a run, for checks of the house."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Source(NamedTuple):
    """One file: its path from the root, its text, and the tree of it."""

    path: str
    text: str
    tree: ast.Module


def sources(*folders: str) -> Iterator[Source]:
    """Yields the files below `folders` of the root, by name."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield _parsed(path.relative_to(ROOT).as_posix())


@cache
def _parsed(path: str) -> Source:
    text = (ROOT / path).read_text(encoding="utf-8")
    return Source(path, text, ast.parse(text))


def sentence(docstring: str) -> str:
    """Returns the first line of a docstring, as a failing check shows it."""
    return re.sub(r"\s+", " ", docstring.strip().partition("\n")[0])[:90]
