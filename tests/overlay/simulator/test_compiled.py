"""Kernels: compiled, interpreted, and never served stale from disk."""

import importlib.util
import os
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, KEPT, compiled, digest, kernel_folder, numbers, reached
from overlay.simulator.counters import count

STEP = "from .numbers import BIG\nfrom .{other} import twice\n\n\ndef step(value):\n    return twice(value) + BIG\n"
FILES = {
    "__init__": "",
    "numbers": "BIG = 100\n",
    "deep": "def twice(value):\n    return 2 * value\n\n\ndef unused(value):\n    return value\n",
    "rule": STEP.format(other="deep"),
    "driver": "from . import rule\n\n\ndef run(values):\n    for at in range(len(values)):\n        values[at] = rule.step(values[at])\n",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for kernels and for a package of five files that a kernel is made of."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))
    (tmp_path / "tiny").mkdir()
    for name, text in FILES.items():
        write(tmp_path, name, text)
    return tmp_path


def write(place: Path, name: str, text: str) -> None:
    """Writes a file of the package, with the same time as ever: what was compiled must not depend on times."""
    path = place / "tiny" / f"{name}.py"
    path.write_text(text)
    os.utime(path, (1_000_000_000, 1_000_000_000))


def imported(place: Path) -> ModuleType:
    """Returns the driver of the package as it lies there now, as a new process would import it."""
    for name in [each for each in sys.modules if each.partition(".")[0] == "tiny"]:
        del sys.modules[name]
    for name in ("", *(f".{each}" for each in FILES if each != "__init__")):
        path = place / "tiny" / f"{name[1:] or '__init__'}.py"
        spec = importlib.util.spec_from_loader(f"tiny{name}", loader=None, origin=str(path), is_package=not name)
        assert spec
        module = importlib.util.module_from_spec(spec)
        sys.modules[f"tiny{name}"] = module
        exec(compile(path.read_text(), path, "exec"), module.__dict__)  # noqa: S102 - as an import would
        if name:
            setattr(sys.modules["tiny"], name[1:], module)
            module.__file__ = str(path)
    return sys.modules["tiny.driver"]


def outcome(place: Path) -> tuple[int, int]:
    """Returns what the kernel makes of 1, and how often it was found on disk."""
    kernel = compiled(imported(place).run)
    values = np.array([1])
    kernel(values)
    return int(values[0]), sum(kernel.stats.cache_hits.values())


def test_a_kernel_that_did_not_change_comes_from_disk(place: Path) -> None:
    assert outcome(place) == (102, 0)
    assert outcome(place) == (102, 1)


@pytest.mark.parametrize(
    ("name", "text", "result"),
    [
        ("deep", "def twice(value):\n    return 20 * value\n", 120),
        ("numbers", "BIG = 1000\n", 1002),
        ("rule", STEP.format(other="deep").replace("+ BIG", "- BIG"), -98),
        ("deep", "def twice(value, by=30):\n    return by * value\n", 130),
    ],
    ids=["a function in another file", "a constant in another file", "a function between", "a default"],
)
def test_a_change_in_a_file_that_a_kernel_reaches_is_seen(place: Path, name: str, text: str, result: int) -> None:
    """OV-1: Numba alone would take the kernel of the file that did not change."""
    assert outcome(place) == (102, 0)
    write(place, name, text)
    assert outcome(place) == (result, 0)
    write(place, name, FILES[name])
    assert outcome(place) == (102, 1)


def test_a_change_that_cannot_matter_costs_no_compiling(place: Path) -> None:
    assert outcome(place) == (102, 0)
    write(place, "deep", '"""Words."""\n\n' + FILES["deep"].replace("return value", "return -value"))
    assert outcome(place) == (102, 1)


def test_fields_in_another_order_are_another_kernel() -> None:
    """A named tuple is known to Numba by its name and types alone."""

    def made(fields: str) -> FunctionType:
        scope: dict[str, Any] = {"__name__": "tiny.world"}
        exec(  # noqa: S102 - two classes of one name, as two versions of a file have
            f"from collections import namedtuple\nWorld = namedtuple('World', '{fields}')\n"
            "def run(world: World):\n    return world.ages[0]\n",
            scope,
        )
        function = scope["run"]
        assert isinstance(function, FunctionType)
        return function

    assert digest(made("ids ages")) == digest(made("ids ages")) != digest(made("ages ids"))


def test_a_kernel_reaches_functions_of_its_package_only(place: Path) -> None:
    found = reached(imported(place).run)
    assert [(each.__module__, each.__name__) for each in found] == [("tiny.deep", "twice"), ("tiny.driver", "run"), ("tiny.rule", "step")]


def test_a_few_versions_of_a_kernel_stay_on_disk(place: Path) -> None:
    for number in range(KEPT + 3):
        write(place, "numbers", f"BIG = {number}\n")
        folder = kernel_folder(imported(place).run)
        assert folder is not None
        os.utime(folder, (number, number))
    numbers = sorted(int(each.stat().st_mtime) for each in (place / "kernels").iterdir())
    assert numbers == [2, 3, 4, 5]


def test_a_place_that_cannot_be_written_is_passed_over(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "taken").write_text("a file where a folder would have to be")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(place / "taken"))
    folder = kernel_folder(imported(place).run)
    assert folder is not None
    assert folder.is_dir()


def test_a_kernel_is_compiled_each_time_where_nothing_can_be_written(place: Path) -> None:
    taken = place / "taken"
    taken.write_text("")
    assert kernel_folder(imported(place).run, places=[taken]) is None
    kernel = compiled(imported(place).run, places=(taken,))
    kernel(values := np.array([1]))
    assert values.tolist() == [102]
    assert not kernel.stats.cache_hits


def test_the_same_function_runs_both_ways() -> None:
    results = []
    for execution in (COMPILED, INTERPRETED):
        messages, sizes = execution.filled(8), execution.buffer(range(8), np.int32)
        for _ in range(3):
            execution.kernel(count)(messages, sizes, 1, 2, 50)
        results.append((numbers(messages), numbers(sizes)))
    assert results[0] == results[1] == ([0, 0, 0, 0, 0, 0, 3, 0], [0, 1, 2, 3, 4, 5, 156, 7])
    assert isinstance(INTERPRETED.filled(1), list)


def test_only_a_function_can_be_a_kernel() -> None:
    with pytest.raises(TypeError, match="is no plain function"):
        compiled(len)
