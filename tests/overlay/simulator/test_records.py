"""Named tuples in kernels: one argument each, read and written in place."""

import shutil
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from overlay.protocol.buffer import Buffer
from overlay.simulator import buffers, records
from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution, compiled, digest, numbers
from overlay.simulator.records import RecordType


class Inner(NamedTuple):
    """Two buffers, of other widths in some tests."""

    ages: Buffer
    weights: Buffer


class Outer(NamedTuple):
    """A buffer, a number, a tuple within."""

    ids: Buffer
    step: int
    inner: Inner


class Twin(NamedTuple):
    """The fields of Inner, the other way round."""

    weights: Buffer
    ages: Buffer


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of these tests lie in a folder of their own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))


def grow(outer: Outer, at: int) -> int:
    """Adds to what stands at a place, and returns a sum over all parts."""
    _grow_inner(outer.inner, at, outer.step)
    return outer.ids[at] + outer.inner.ages[at] + outer.inner.weights[at] + len(outer.inner.weights)


def _grow_inner(inner: Inner, at: int, step: int) -> None:
    inner.ages[at] += step
    inner.weights[at] -= step


def first_age(inner: Inner) -> int:
    """Returns one number."""
    return inner.ages[0]


def unknown(inner: Inner) -> int:
    """Asks for a part that is not there."""
    return inner.nothing  # type: ignore[attr-defined, no-any-return]


def made(execution: Execution) -> Outer:
    """Returns a tuple with numbers that tell the parts apart."""
    return Outer(
        ids=execution.buffer([1, 2, 3], np.int32),
        step=5,
        inner=Inner(ages=execution.buffer([10, 20, 30], np.int8), weights=execution.buffer([100, 200, 300, 400])),
    )


@pytest.mark.parametrize("execution", [COMPILED, INTERPRETED], ids=["compiled", "interpreted"])
def test_all_parts_are_read_and_written_in_place(execution: Execution) -> None:
    outer = made(execution)
    assert execution.kernel(grow)(outer, 1) == 2 + 25 + 195 + 4
    assert numbers(outer.inner.ages) == [10, 25, 30]
    assert numbers(outer.inner.weights) == [100, 195, 300, 400]
    assert numbers(outer.ids) == [1, 2, 3]


def test_a_tuple_is_one_argument_whatever_it_has() -> None:
    kernel = compiled(grow)
    kernel(made(COMPILED), 0)
    [(state, _)] = kernel.signatures
    assert isinstance(state, RecordType)
    assert [isinstance(part, RecordType) for part in state.parts] == [False, False, True]


def test_other_widths_and_other_classes_are_other_types() -> None:
    kernel, narrow, wide = compiled(first_age), COMPILED.buffer([1, 2], np.int8), COMPILED.buffer([3, 4])
    assert [kernel(Inner(narrow, wide)), kernel(Inner(wide, narrow)), kernel(Twin(wide, narrow))] == [1, 3, 1]
    assert kernel(Inner(ages=narrow, weights=wide)) == 1
    assert len(kernel.signatures) == 3


def test_tuples_of_others_stay_as_they_are() -> None:
    """What is no kernel of ours, such as an algorithm of `analytics`, may unpack and return tuples."""
    compiled(first_age)(made(COMPILED).inner)
    pair = numba.njit(lambda inner: Twin(inner.weights[:1], inner[0][1:]))(made(COMPILED).inner)
    assert (type(pair), numbers(pair.weights), numbers(pair.ages)) == (Twin, [100], [20, 30])


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(TypingError, match="nothing"):
        compiled(unknown)(made(COMPILED).inner)


@pytest.mark.parametrize("way", [records, buffers], ids=["records", "buffers"])
def test_a_change_of_how_arguments_are_passed_makes_other_kernels(way: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(grow, FunctionType)
    assert way.__file__
    before, copied = digest(grow), tmp_path / "way.py"
    shutil.copy(way.__file__, copied)
    monkeypatch.setattr(way, "__file__", str(copied))
    assert digest(grow) == before
    copied.write_text("")
    assert digest(grow) != before
