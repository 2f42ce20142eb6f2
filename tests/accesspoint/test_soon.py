"""accesspoint.soon: what is done for very many is done a slice in each turn of the loop."""

from collections.abc import Callable

import pytest

from accesspoint.soon import in_slices


def test_a_slice_is_done_in_each_turn_until_nobody_is_left() -> None:
    turns: list[Callable[[], None]] = []
    done: list[int] = []
    in_slices(list(range(5)), 2, turns.append, done.append)
    assert (done, len(turns)) == ([3, 4], 1)
    turns.pop()()
    assert (done, len(turns)) == ([3, 4, 1, 2], 1)
    turns.pop()()
    assert (sorted(done), turns) == ([0, 1, 2, 3, 4], [])


def test_of_nobody_nothing_is_done() -> None:
    turns: list[Callable[[], None]] = []
    in_slices([], 2, turns.append, turns.append)
    assert turns == []


def test_what_goes_wrong_with_one_keeps_nobody_else_from_their_turn() -> None:
    turns: list[Callable[[], None]] = []
    done: list[str] = []

    def do(name: str) -> None:
        done.append(name)
        if name == "b":
            raise ValueError(name)

    with pytest.raises(ValueError, match="b"):
        in_slices(["a", "b", "c"], 2, turns.append, do)
    turns.pop()()
    assert done == ["b", "c", "a"]
