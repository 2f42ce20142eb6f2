"""Batches keep every item and the order, within both bounds, and the source is closed with them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.batches import batches

LINES = st.lists(st.binary(max_size=30), max_size=40)


def same(line: bytes) -> bytes:
    return line


@given(LINES, st.integers(1, 7), st.integers(1, 80))
def test_nothing_is_lost_and_the_bounds_hold(lines: list[bytes], max_items: int, max_bytes: int) -> None:
    async def cut() -> list[list[bytes]]:
        return [batch async for batch in batches(lines, same, max_items=max_items, max_bytes=max_bytes)]

    cuts = asyncio.run(cut())
    assert [line for batch in cuts for line in batch] == lines
    assert all(1 <= len(batch) <= max_items for batch in cuts)
    assert all(len(batch) == 1 or len(b"\n".join(batch)) <= max_bytes for batch in cuts)


async def test_a_source_is_read_no_further_than_one_batch_ahead() -> None:
    read = []

    def source() -> AsyncIterator[bytes]:
        async def endless() -> AsyncIterator[bytes]:
            while True:
                read.append(1)
                yield b"x"

        return endless()

    async with aclosing(batches(source(), same, max_items=5, max_bytes=1000)) as cut:
        assert await anext(cut) == [b"x"] * 5
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(read) <= 11
    assert len(asyncio.all_tasks()) == 1


async def test_an_item_that_cannot_be_encoded_is_raised_after_the_items_before_it() -> None:
    def picky(line: bytes) -> bytes:
        if line == b"bad":
            raise ValueError("bad line")
        return line

    async with aclosing(batches([b"a", b"b", b"bad", b"c"], picky, max_items=2, max_bytes=1000)) as cut:
        assert await anext(cut) == [b"a", b"b"]
        with pytest.raises(ValueError, match="bad line"):
            await anext(cut)
