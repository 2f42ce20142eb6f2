"""The event loop with virtual time."""

import asyncio
import random

import pytest

from .loop import BORN_S, SimulatedLoop
from .process import SimulatedProcess


@pytest.fixture
def loop() -> SimulatedLoop:
    return SimulatedLoop(random.Random(1))  # type: ignore[abstract]


def process(loop: SimulatedLoop, name: str) -> SimulatedProcess:
    made = SimulatedProcess(name)
    loop.processes.append(made)
    return made


def test_an_hour_takes_no_time(loop: SimulatedLoop) -> None:
    loop.run_until_complete(asyncio.sleep(3600))
    assert 3600 <= loop.now_s < 3600.01
    loop.close()


def test_callbacks_of_a_process_keep_their_order_and_those_of_two_do_not(loop: SimulatedLoop) -> None:
    one, other, said = process(loop, "one"), process(loop, "other"), list[str]()

    def say(what: str, left: int) -> None:
        said.append(f"{what}{left}")
        if left:
            asyncio.get_running_loop().call_soon(say, what, left - 1)

    for each in (one, other):
        loop.call_soon(say, each.name, 20, context=each.context)
    loop.run_until_complete(asyncio.sleep(1))
    for each in (one, other):
        mine = [what for what in said if what.startswith(each.name)]
        assert mine == [f"{each.name}{left}" for left in range(20, -1, -1)]
    alternating = [what for pair in zip(said[::2], said[1::2], strict=False) for what in pair]
    assert len({what.rstrip("0123456789") for what in alternating[:2]}) in (1, 2)
    assert said != sorted(said)
    loop.close()


def test_a_process_that_stands_still_gets_no_turn_and_its_timers_are_late(loop: SimulatedLoop) -> None:
    slow, woken = process(loop, "slow"), list[float]()
    slow.stalled_until_s = 5.0
    loop.call_soon(lambda: asyncio.get_running_loop().call_later(1, lambda: woken.append(loop.now_s)), context=slow.context)
    loop.run_until_complete(asyncio.sleep(10))
    assert len(woken) == 1
    assert woken[0] >= 6.0
    loop.close()


def test_clocks_are_those_of_the_process_that_asks(loop: SimulatedLoop) -> None:
    fast, seen = process(loop, "fast"), list[tuple[float, float]]()
    fast.rate, fast.offset_s = 2.0, 100.0
    loop.call_soon(lambda: loop.call_later(10, lambda: seen.append((loop.time(), loop.wall()))), context=fast.context)
    loop.run_until_complete(asyncio.sleep(30))
    assert seen[0][0] == pytest.approx(10, abs=0.01)
    assert seen[0][1] == pytest.approx(BORN_S + 110, abs=0.01)
    assert loop.time() == pytest.approx(30, abs=0.01)
    loop.close()


def test_a_killed_process_does_nothing_any_more(loop: SimulatedLoop) -> None:
    doomed, done = process(loop, "doomed"), list[int]()
    loop.call_soon(lambda: loop.call_later(2, done.append, 1), context=doomed.context)
    loop.run_until_complete(asyncio.sleep(1))
    loop.kill(doomed)
    loop.run_until_complete(asyncio.sleep(5))
    assert not done
    loop.close()


def test_what_nobody_catches_is_kept_and_a_world_in_which_nothing_can_happen_says_so(loop: SimulatedLoop) -> None:
    loop.call_soon(lambda: 1 / 0)
    loop.run_until_complete(asyncio.sleep(0))
    assert "ZeroDivisionError" in loop.failures[0][1]
    with pytest.raises(RuntimeError, match="nobody has anything to do"):
        loop.run_until_complete(loop.create_future())
    loop.close()
