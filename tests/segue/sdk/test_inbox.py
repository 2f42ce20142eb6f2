"""The inbox is bounded, keeps the order, and ends."""

import asyncio

import pytest

from segue.sdk.inbox import Inbox
from segue.sdk.messages import Event


def event(seq: int) -> Event:
    return Event(topic="t", site="s", epoch=1, seq=seq, ts_ms=0, id="", kind="play", payload={})


async def test_a_full_inbox_makes_the_writer_wait_until_the_reader_takes_something() -> None:
    inbox = Inbox(limit_bytes=100)
    inbox.put(event(1), 60)
    inbox.put(event(2), 60)
    writing = asyncio.create_task(inbox.room())
    await asyncio.sleep(0)
    assert not writing.done()
    assert (await inbox.get()).seq == 1
    await writing
    inbox.put(event(3), 60)
    assert [(await inbox.get()).seq, (await inbox.get()).seq] == [2, 3]


async def test_the_first_end_counts_and_is_raised_each_time() -> None:
    inbox = Inbox(limit_bytes=1)
    reading = asyncio.create_task(inbox.get())
    await asyncio.sleep(0)
    inbox.end(EOFError("first"))
    inbox.end(EOFError("second"))
    for _ in range(2):
        with pytest.raises(EOFError, match="first"):
            await inbox.get()
    with pytest.raises(EOFError, match="first"):
        await reading
