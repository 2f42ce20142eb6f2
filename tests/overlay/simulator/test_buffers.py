"""Buffers in kernels: read and written as lists are, whatever the width of their numbers."""

from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from overlay.protocol.buffer import Buffer
from overlay.simulator.buffers import BufferType, buffer_type
from overlay.simulator.compiled import CHECKED, COMPILED, INTERPRETED, Execution, compiled, numbers

WIDTHS = [np.int8, np.int16, np.int32, np.int64, np.uint8]


class Pair(NamedTuple):
    """Two buffers: a kernel reads the one and writes the other."""

    source: Buffer
    target: Buffer


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of these tests lie in a folder of their own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kernels"))


def copy(pair: Pair, by: int) -> int:
    """Writes what the source has, `by` times, and at the last place whether that was once. Returns the number of places."""
    for at in range(len(pair.source)):
        pair.target[at] = by * pair.source[at]
    pair.target[len(pair.target) - 1] = by == 1
    return len(pair.source)


def square(buffer: Buffer) -> int:
    """Returns a product of numbers that are narrow where they come from."""
    return buffer[0] * buffer[0]


def square_of(pair: Pair) -> int:
    """Returns what one function makes of both buffers."""
    return square(pair.source) + square(pair.target)


@pytest.mark.parametrize("execution", [COMPILED, INTERPRETED], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("width", WIDTHS)
def test_each_width_is_read_and_written(execution: Execution, width: Any) -> None:
    pair = Pair(execution.buffer([7, 0, 5], width), execution.filled(4, 9, width))
    assert execution.kernel(copy)(pair, 3) == 3
    assert numbers(pair.target) == [21, 0, 15, 0]
    assert numbers(pair.source) == [7, 0, 5]


def test_what_is_read_has_64_bits() -> None:
    pair = Pair(COMPILED.buffer([100], np.int8), COMPILED.buffer([70_000], np.int32))
    assert compiled(square_of)(pair) == 100**2 + 70_000**2


def test_signs_are_kept() -> None:
    pair = Pair(COMPILED.buffer([-3, 200 - 256], np.int8), COMPILED.filled(3, 0, np.int64))
    compiled(copy)(pair, 1)
    assert numbers(pair.target) == [-3, -56, 1]


def test_an_empty_buffer_has_no_places() -> None:
    assert compiled(copy)(Pair(COMPILED.filled(0), COMPILED.filled(1)), 1) == 0


def test_what_is_no_flat_row_of_whole_numbers_is_no_buffer() -> None:
    fixed = np.arange(4)
    fixed.flags.writeable = False
    others = [np.zeros(4), np.zeros(4, np.bool_), np.zeros((2, 2), np.int64), np.arange(8)[::2], np.arange(4, dtype=">i4"), fixed]
    assert [buffer_type(each) for each in others] == [None] * len(others)
    assert buffer_type(np.arange(4, dtype=np.int32)) == BufferType(numba.int32) != BufferType(numba.int64)


def at_place(pair: Pair, at: int) -> int:
    """Moves one number, by a function that is called: returns what was there."""
    return swapped(pair.source, pair.target, at)


def swapped(source: Buffer, target: Buffer, at: int) -> int:
    """Writes 7 at a place of the target, and returns what the source has there."""
    target[at] = 7
    return source[at]


@pytest.mark.parametrize(("source", "target", "at"), [(3, 3, 3), (3, 3, -1), (2, 3, 2), (3, 2, 2), (0, 0, 0)])
def test_a_checked_kernel_does_not_leave_its_buffers(source: int, target: int, at: int) -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        CHECKED.kernel(at_place)(Pair(CHECKED.filled(source), CHECKED.filled(target)), at)


def test_a_checked_kernel_does_what_the_other_one_does_within_its_buffers() -> None:
    pairs = [Pair(each.buffer([1, 2, 3], np.int8), each.filled(3)) for each in (CHECKED, COMPILED)]
    found = [each.kernel(at_place)(pair, 2) for each, pair in zip((CHECKED, COMPILED), pairs, strict=True)]
    assert found == [3, 3]
    assert numbers(pairs[0].target) == numbers(pairs[1].target) == [0, 0, 7]
    # Buffers that come without a tuple are checked, too.
    with pytest.raises(IndexError):
        CHECKED.kernel(swapped)(CHECKED.filled(1), CHECKED.filled(1), -1)
