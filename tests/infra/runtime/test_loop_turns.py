"""Turns of the loop that many share, on asyncio's own loop and on uvloop."""

import asyncio

from infra.runtime.loop_turns import LoopTurns
from tests.support.both_loops import on_both_loops


@on_both_loops
async def test_so_many_go_on_in_a_turn_in_the_order_in_which_they_came() -> None:
    turns, went = LoopTurns(at_once=4), list[int]()

    async def go(who: int) -> None:
        await turns.wait()
        went.append(who)

    tasks = [asyncio.create_task(go(who)) for who in range(10)]
    seen = []
    while len(went) < len(tasks):
        seen.append(len(went))
        await asyncio.sleep(0)
    assert went == list(range(10))
    assert max(after - before for before, after in zip(seen, [*seen[1:], len(went)], strict=True)) == 4
    await asyncio.gather(*tasks)


@on_both_loops
async def test_who_is_cancelled_takes_no_room() -> None:
    turns = LoopTurns(at_once=1)
    waits = [asyncio.create_task(turns.wait()) for _ in range(5)]
    await asyncio.sleep(0)
    for each in waits[:4]:
        each.cancel()
    await asyncio.gather(*waits, return_exceptions=True)
    assert [each.cancelled() for each in waits] == [True] * 4 + [False]
    await turns.wait()  # and it begins anew
