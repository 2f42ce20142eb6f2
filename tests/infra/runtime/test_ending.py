"""Several things are ended in a row: one that raises leaves no other open."""

import asyncio

import pytest

from infra.runtime.ending import end_all, end_tasks


class Door:
    """Notes that it was closed, in the list of all that were."""

    def __init__(self, name: str, closed: list[str], trouble: Exception | None = None) -> None:
        self._name, self._closed, self._trouble = name, closed, trouble

    async def close(self) -> None:
        await asyncio.sleep(0)
        self._closed.append(self._name)
        if self._trouble is not None:
            raise self._trouble


async def test_all_are_ended_in_order_and_the_only_error_is_raised_as_it_is() -> None:
    closed: list[str] = []
    bad = Door("bad", closed, OSError("disk"))
    with pytest.raises(OSError, match="disk"):
        await end_all(Door("one", closed).close, None, bad.close, lambda: closed.append("plain"), Door("last", closed).close)
    assert closed == ["one", "bad", "plain", "last"]


async def test_several_errors_are_raised_together() -> None:
    closed: list[str] = []
    doors = [Door("one", closed, OSError("disk")), Door("two", closed), Door("three", closed, KeyError("key"))]
    with pytest.raises(ExceptionGroup) as raised:
        await end_all(*(door.close for door in doors))
    assert [type(error) for error in raised.value.exceptions] == [OSError, KeyError]
    assert closed == ["one", "two", "three"]


async def test_where_it_is_cancelled_the_rest_is_ended_before_that_is_said() -> None:
    closed: list[str] = []
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    ending = asyncio.create_task(end_all(Door("one", closed).close, hang, Door("last", closed, OSError("disk")).close))
    await begun.wait()
    ending.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await ending
    assert closed == ["one", "last"]
    assert "disk" in raised.value.__notes__[0]


async def test_tasks_have_ended_when_that_is_said() -> None:
    async def fail() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("their own")

    tasks = [asyncio.create_task(fail()), asyncio.create_task(asyncio.sleep(60))]
    await asyncio.sleep(0)
    await end_tasks(tasks[0], None, tasks[1])
    assert [task.done() for task in tasks] == [True, True]
