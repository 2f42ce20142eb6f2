"""Completions come to the loop in order, and a burst of them wakes it once."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from infra.runtime.cassandra.hop import BURST, Hop


class CountingLoop(asyncio.SelectorEventLoop):
    """Knows how often another thread has woken it."""

    wakes = 0

    def call_soon_threadsafe(self, *args: Any, **options: Any) -> asyncio.Handle:  # type: ignore[override]
        self.wakes += 1
        return super().call_soon_threadsafe(*args, **options)


def run(scenario: Callable[[CountingLoop, Hop], None], until: Callable[[], bool]) -> CountingLoop:
    loop = CountingLoop()
    try:
        scenario(loop, Hop(loop))
        while not until():
            loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()
    return loop


def from_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


def test_a_burst_wakes_the_loop_once_and_keeps_its_order() -> None:
    seen: list[int] = []

    def scenario(_: CountingLoop, hop: Hop) -> None:
        def burst() -> None:
            for number in range(1_000):
                hop.post(seen.append, number)

        from_thread(burst)

    loop = run(scenario, lambda: len(seen) == 1_000)
    assert seen == list(range(1_000))
    assert loop.wakes == 1


def test_others_have_their_turns_between_the_parts_of_a_burst() -> None:
    seen: list[str] = []

    def scenario(loop: CountingLoop, hop: Hop) -> None:
        for _ in range(3 * BURST):
            hop.post(seen.append, "answer")

        def other(turns: int) -> None:
            seen.append("other")
            if turns:
                loop.call_soon(other, turns - 1)

        loop.call_soon(other, 5)

    run(scenario, lambda: seen.count("answer") == 3 * BURST and seen.count("other") == 6)
    first = seen.index("other")
    assert first <= BURST
    assert seen.index("other", first + 1) <= 2 * BURST + 1


def test_whatever_comes_while_completions_run_is_not_forgotten() -> None:
    seen: list[int] = []

    def scenario(_: CountingLoop, hop: Hop) -> None:
        def chain(left: int) -> None:
            seen.append(left)
            if left:
                hop.post(chain, left - 1)

        hop.post(chain, 200)

    run(scenario, lambda: seen[-1:] == [0])
    assert len(seen) == 201


def test_nothing_happens_after_the_loop_was_closed() -> None:
    seen: list[int] = []
    loop = asyncio.new_event_loop()
    hop = Hop(loop)
    loop.close()
    hop.post(seen.append, 1)
    assert seen == []
