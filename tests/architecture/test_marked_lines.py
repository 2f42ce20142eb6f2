"""Marks say of a module which of its statements have run, as a tracer does."""

import importlib
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.support.marked_lines import MarkedModules

# Every sort of block, some run and some not. Docstrings are no statements, and stay where they are.
SOURCE = '''\
"""A module."""
from __future__ import annotations
import functools
from contextlib import suppress

class Thing:
    """A thing."""
    size: int = 3

    @functools.cache
    def half(self):
        """Returns half."""
        return self.size // 2

    @property
    def never(self):
        return 0

def sort(value):
    "Sorts."
    match value:
        case int() if value > 9:
            return "many"
        case int():
            return "few"
        case str():
            return "text"
    return "other"

def tries(value):
    try:
        number = 9 // value
    except TypeError:
        number = -1
    except (ZeroDivisionError,
            OverflowError):
        number = 0
    else:
        number += 1
    finally:
        value = None
    if number == 0:
        return "none"
    elif number > 5:
        return (
            "much"
        )
    elif number > 3:
        return "some"
    else:
        return "little"

async def waits():
    async with Nothing() as nothing:
        async for each in nothing:
            print(each)

class Nothing:
    async def __aenter__(self):
        return self
    async def __aexit__(self, *_):
        pass
    def __aiter__(self):
        return self
    async def __anext__(self):
        raise StopAsyncIteration

def loops():
    for each in range(2):
        continue
    else:
        each = [inner for inner in range(each)]
    while each:
        break
    with suppress(KeyError):
        {}["no"]
        print("never")
    return (lambda: 1 if each else 2)()

Thing().half()
sort(3), sort("a")
tries(2), tries(0), tries(9)
loops()
try:
    waits().send(None)
except StopIteration:
    pass
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that modules are found in; those of `marked_here` with marks."""
    (tmp_path / "marked_here.py").write_text(SOURCE)
    (tmp_path / "unmarked_here.py").write_text("is_there = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("marked_here", "unmarked_here"):
        sys.modules.pop(name, None)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> MarkedModules:
    """The finder, in its place."""
    finder = MarkedModules(["marked_here"])
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    return finder


def traced(path: Path) -> set[int]:
    """Returns the lines of the file that a tracer is told of."""
    seen: set[int] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != str(path):
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        runpy.run_path(str(path))
    finally:
        sys.settrace(before)
    return seen


def test_marks_name_the_lines_that_a_tracer_is_told_of(place: Path, modules: MarkedModules) -> None:
    """A tracer is told of more lines of a statement that has several, and of docstrings. Both are no statements of their own."""
    path = place / "marked_here.py"
    importlib.import_module("marked_here")
    lines = SOURCE.splitlines()
    parts = {number for number, line in enumerate(lines, 1) if line.strip().startswith(('"', "OverflowError"))}
    parts |= {number for number, line in enumerate(lines, 1) if line.strip() == "finally:"}
    assert modules.taken() == {str(path): sorted(traced(path) - parts)}
    assert lines.index('        print("never")') + 1 not in traced(path)


def test_what_was_taken_is_forgotten_and_what_runs_afterwards_is_marked_again(place: Path, modules: MarkedModules) -> None:
    module: Any = importlib.import_module("marked_here")
    modules.taken()
    assert modules.taken() == {}
    assert module.sort(12) == "many"
    assert [SOURCE.splitlines()[line - 1].strip() for line in modules.taken()[str(place / "marked_here.py")]] == [
        "match value:",
        "case int() if value > 9:",
        'return "many"',
    ]


def test_other_modules_have_no_marks_and_docstrings_stay(place: Path, modules: MarkedModules) -> None:
    module: Any = importlib.import_module("marked_here")
    other = importlib.import_module("unmarked_here")
    assert modules.taken().keys() == {str(place / "marked_here.py")}
    assert not hasattr(other, "__lines__")
    assert (module.__doc__, module.Thing.__doc__, module.sort.__doc__) == ("A module.", "A thing.", "Sorts.")
