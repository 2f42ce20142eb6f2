"""Shares: nobody has more of a turn than a share, all together have no more than the whole, and everybody has their turn."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.shares import Shares

Step = Callable[[], None]


class Loop:
    """A loop without a clock: what is said for soon is done in the next turn."""

    def __init__(self) -> None:
        self.soon: list[Step] = []
        self.turns = 0

    def turn(self) -> None:
        self.turns += 1
        steps, self.soon = self.soon, []
        for step in steps:
            step()


class Wanting:
    """One who wants `much` done, in steps that cost `step` each, and notes in which turns it was."""

    def __init__(self, loop: Loop, shares: Shares, much: int, step: int) -> None:
        self.loop, self.shares, self.much, self.step = loop, shares, much, step
        self.done = Counter[int]()
        self.waits = 0

    def go_on(self) -> None:
        left = self.shares.take()
        while left > 0 and self.much > 0:
            left -= self.step
            self.much -= self.step
            self.shares.spend(self.step)
            self.done[self.loop.turns] += self.step
        if self.much > 0:
            self.waits += 1
            self.shares.wait(self.go_on)


WANTS = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 15)), min_size=1, max_size=12)


@given(WANTS)
def test_all_is_done_in_shares(wants: list[tuple[int, int]]) -> None:
    """DPS-26."""
    loop = Loop()
    shares = Shares(lambda step: loop.soon.append(step), share=10, whole=40)
    all_of_them = [Wanting(loop, shares, much, step) for much, step in wants]
    for each in all_of_them:
        each.go_on()
    while loop.soon:
        loop.turn()
    longest = max(step for _, step in wants)
    for each in all_of_them:
        assert each.much <= 0
        assert max(each.done.values()) < 10 + each.step
    for turn in range(loop.turns):
        assert sum(each.done[turn] for each in all_of_them) < 40 + longest
    assert len(shares) == 0


def test_one_with_little_to_do_is_served_in_the_same_turn_beside_one_who_never_ends() -> None:
    loop = Loop()
    shares = Shares(lambda step: loop.soon.append(step), share=10, whole=40)
    flooder = Wanting(loop, shares, much=10**9, step=1)
    flooder.go_on()
    for _ in range(100):
        loop.turn()
        modest = Wanting(loop, shares, much=5, step=1)
        modest.go_on()
        assert modest.done == {loop.turns: 5}
    assert set(flooder.done.values()) == {10}


def test_with_more_than_a_turn_can_hold_they_take_turns_in_order() -> None:
    loop = Loop()
    shares = Shares(lambda step: loop.soon.append(step), share=10, whole=20)
    many = [Wanting(loop, shares, much=30, step=10) for _ in range(6)]
    for each in many:
        each.go_on()
    for _ in range(8):
        loop.turn()
    assert [sorted(each.done) for each in many] == [[0, 1, 4], [0, 1, 4], [2, 5, 7], [2, 5, 7], [3, 6, 8], [3, 6, 8]]


def test_while_nobody_wants_anything_no_turn_is_asked_for() -> None:
    loop = Loop()
    shares = Shares(lambda step: loop.soon.append(step))
    assert shares.take() > 0
    loop.turn()
    assert not loop.soon


def test_a_step_that_fails_keeps_nobody_else_from_their_turn() -> None:
    loop, done = Loop(), list[str]()
    shares = Shares(lambda step: loop.soon.append(step))

    def fail() -> None:
        raise ValueError("a defect")

    shares.wait(fail)
    shares.wait(lambda: done.append("the other"))
    with pytest.raises(ValueError, match="a defect"):
        loop.turn()
    assert done == ["the other"]
    loop.turn()
    assert not loop.soon
