"""Turns: one inside at a time for each key, whoever comes, fails or gives up meanwhile."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Unavailable
from notification.turns import Turns

MOST = 20
# When one comes, how long they are inside, and when they give up, counted in turns of the loop.
visitors = st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 4), st.none() | st.integers(0, 12), st.booleans())


async def pass_turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


class House:
    """Counts who is inside."""

    def __init__(self) -> None:
        self.turns = Turns(MOST)
        self.inside: Counter[str] = Counter()
        self.served = 0

    async def visit(self, key: str, comes_after: int, stays_for: int, fails: bool) -> None:
        await pass_turns(comes_after)
        async with self.turns.take(key):
            self.inside[key] += 1
            try:
                assert self.inside[key] == 1
                await pass_turns(stays_for)
                self.served += 1
                if fails:
                    raise ConnectionError
            finally:
                self.inside[key] -= 1


async def give_up(task: asyncio.Task[None], after: int | None) -> None:
    if after is not None:
        await pass_turns(after)
        task.cancel()


@given(st.lists(visitors, max_size=MOST))
def test_of_many_who_want_the_same_key_one_is_inside_at_a_time_and_nothing_is_left_behind(
    plan: list[tuple[str, int, int, int | None, bool]],
) -> None:
    async def play() -> None:
        house = House()
        tasks = [asyncio.create_task(house.visit(key, comes, stays, fails)) for key, comes, stays, _, fails in plan]
        await asyncio.gather(*(give_up(task, after) for task, (*_, after, _) in zip(tasks, plan, strict=True)))
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(end is None or isinstance(end, ConnectionError | asyncio.CancelledError) for end in ends)
        assert house.served >= sum(after is None for *_, after, _ in plan)
        assert (house.turns._places, house.turns._wanted, house.turns._here) == ({}, {}, 0)

    asyncio.run(play())


async def test_one_too_many_is_refused_and_comes_again_later() -> None:
    turns = Turns(2)
    async with turns.take("a"), turns.take("b"):
        with pytest.raises(Unavailable, match="2 requests"):
            async with turns.take("c"):
                pass
    async with turns.take("c"):
        pass


async def test_a_few_may_be_inside_and_one_key_cannot_take_the_places_of_others() -> None:
    turns = Turns(4, most_of_key=3, inside=2)
    async with turns.take("a"), turns.take("a"):
        third = asyncio.create_task(_enter(turns, "a"))
        await pass_turns(1)
        assert not third.done()
        with pytest.raises(Unavailable, match="3 requests for a"):
            await _enter(turns, "a")
        await _enter(turns, "b")
    await third


async def _enter(turns: Turns, key: str) -> None:
    async with turns.take(key):
        pass
