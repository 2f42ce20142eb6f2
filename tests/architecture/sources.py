"""The Python files of this checkout, parsed once a run, for checks of the house."""

import ast
import gc
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Source(NamedTuple):
    """One file: its path from the root, its text, the tree of it, and all nodes of the tree, from the top."""

    path: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]


def sources(*folders: str) -> list[Source]:
    """Returns the files below `folders` of the root, by name."""
    # Trees are many small objects that stay. To look for garbage among them, over and over, took four fifths of the time.
    gc.disable()
    try:
        paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
        return [_parsed(path.relative_to(ROOT).as_posix()) for path in paths]
    finally:
        gc.enable()


@cache
def _parsed(path: str) -> Source:
    text = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Source(path, text, tree, tuple(ast.walk(tree)))


def forget() -> None:
    """Lets go of all trees: they are hundreds of megabytes."""
    _parsed.cache_clear()


def sentence(docstring: str) -> str:
    """Returns the first line of a docstring, as a failing check shows it."""
    return re.sub(r"\s+", " ", docstring.strip().partition("\n")[0])[:90]
