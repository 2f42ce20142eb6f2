"""A loop goes on after a step that failed, says so once, counts it, and ends at once when it is told to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from infra.kernel.errors import Unavailable
from infra.runtime.ending import end_tasks
from infra.runtime.loops import Loops
from tests.support.news import News
from tests.support.recording_log import RecordingLog


class Steps:
    """A step that raises what `troubles` has for each of its calls; None: all is well."""

    def __init__(self, *troubles: BaseException | None) -> None:
        self.calls = 0
        self._troubles = list(troubles)
        self._news = News()

    def __call__(self) -> None:
        self.calls += 1
        self._news.tell()
        if self._troubles and (trouble := self._troubles.pop(0)) is not None:
            raise trouble

    async def until(self, calls: int) -> None:
        await self._news.until(lambda: self.calls >= calls)


def told(log: RecordingLog) -> list[str]:
    """Returns what was said of each trouble."""
    return [fields["reason"] if level == "warning" else repr(fields["exc_info"]) for level, _, fields in log.lines]


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


@pytest.fixture
async def loops(log: RecordingLog) -> AsyncIterator[Loops]:
    loops = Loops(log)
    yield loops
    await loops.close()
    await loops.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("is_awaited", [False, True])
async def test_a_loop_goes_on_after_its_step_raised(loops: Loops, log: RecordingLog, is_awaited: bool) -> None:
    steps = Steps(None, KeyError("oops"))

    async def step() -> None:
        steps()

    loops.every(0.001, step if is_awaited else steps, "work")
    await steps.until(4)
    assert loops.counters() == {"loop_failures_total": {"work": 1}}
    assert told(log) == ["KeyError('oops')"]


async def test_the_same_trouble_is_said_once_until_it_is_over_and_counted_each_time(loops: Loops, log: RecordingLog) -> None:
    away = Unavailable("the store is away")
    steps = Steps(away, away, KeyError("oops"), away, None, away)
    loops.every(0.001, steps, "work")
    await steps.until(7)
    assert loops.failures["work"] == 5
    assert told(log) == ["the store is away", "KeyError('oops')", *["the store is away"] * 2]
    assert {fields["loop"] for _, _, fields in log.lines} == {"work"}


async def test_a_step_that_waited_for_something_that_was_cancelled_has_failed_like_any_other(loops: Loops) -> None:
    steps = Steps(asyncio.CancelledError())
    loops.every(0.001, steps, "work")
    await steps.until(2)
    assert loops.failures["work"] == 1


async def test_cancelling_ends_a_loop_at_once(loops: Loops) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = loops.every(60.0, hang, "work", at_once=True)
    await begun.wait()
    await end_tasks(task)
    assert (task.cancelled(), ended.is_set(), loops.failures.total()) == (True, True, 0)


async def test_the_first_step_waits_for_a_period_unless_it_is_wanted_at_once(loops: Loops) -> None:
    late, prompt = Steps(), Steps()
    loops.every(60.0, late, "late")
    loops.every(60.0, prompt, "prompt", at_once=True)
    await prompt.until(1)
    assert late.calls == 0


async def test_a_step_may_say_when_it_wants_to_be_called_again(loops: Loops) -> None:
    steps = Steps()

    def step() -> float:
        steps()
        return 0.0

    loops.every(60.0, step, "work", at_once=True)
    await steps.until(3)


@pytest.mark.parametrize("period_s", [60.0, None])
async def test_a_loop_can_be_woken_also_while_its_step_is_at_work(loops: Loops, period_s: float | None) -> None:
    wake, steps, go = asyncio.Event(), Steps(KeyError("oops")), asyncio.Event()

    async def step() -> None:
        steps()
        await go.wait()

    loops.every(period_s, step, "work", wake=wake)
    for calls in (1, 2):
        wake.set()
        await steps.until(calls)
    wake.set()  # the second one is at work
    go.set()
    await steps.until(3)
    assert not wake.is_set()


async def test_how_long_to_wait_after_failures_may_grow(loops: Loops) -> None:
    asked: list[int] = []

    def again_s(failed: int) -> float:
        asked.append(failed)
        return 0.0

    trouble = KeyError("oops")
    steps = Steps(trouble, trouble, None, trouble)
    loops.every(0.0, steps, "work", again_s=again_s)
    await steps.until(5)
    assert asked == [1, 2, 1]


async def test_a_step_that_fails_without_having_waited_does_not_hold_up_everybody_else(loops: Loops, monkeypatch: Any) -> None:
    waits: list[float] = []
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def note(delay_s: float) -> None:
        waits.append(delay_s)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    steps = Steps(KeyError("oops"))
    loops.every(0.0, steps, "work")
    await steps.until(2)
    assert waits[:2] == [0.0, 0.25]
