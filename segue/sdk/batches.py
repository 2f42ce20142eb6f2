"""Batches of lines from a stream of items. They are as large as the load makes them.

There is no timer. A batch is what came in while the batch before it was on its way, so a slow stream is sent item by item, and a fast
one in full batches.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class _End:
    """The end of a source; `error` is what it raised, None if it raised nothing."""

    def __init__(self, error: Exception | None) -> None:
        self.error = error


async def batches(
    source: Iterable[T] | AsyncIterable[T], encode: Callable[[T], bytes], *, max_items: int, max_bytes: int
) -> AsyncGenerator[list[bytes], None]:
    """Yields the items of `source`, encoded by `encode`, in lists.

    A list has 1 to `max_items` items and at most `max_bytes`, except where one item alone is larger. At most `max_items` are read ahead.
    What the source or `encode` raises is raised after the items before it. Close the generator (`contextlib.aclosing`) to stop reading
    the source early.
    """
    ahead: asyncio.Queue[bytes | _End] = asyncio.Queue(max_items)
    reading = asyncio.create_task(_read(source, encode, ahead))
    batch: list[bytes] = []
    size_bytes = 0
    try:
        while not isinstance(item := await ahead.get(), _End):
            if batch and size_bytes + len(item) > max_bytes:
                yield batch
                batch, size_bytes = [], 0
            batch.append(item)
            size_bytes += len(item) + 1
            if ahead.empty() or len(batch) == max_items:
                yield batch
                batch, size_bytes = [], 0
        if batch:
            yield batch
        if item.error is not None:
            raise item.error
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(source: Iterable[T] | AsyncIterable[T], encode: Callable[[T], bytes], ahead: asyncio.Queue[bytes | _End]) -> None:
    error: Exception | None = None
    try:
        if isinstance(source, AsyncIterable):
            async for item in source:
                await ahead.put(encode(item))
        else:
            for item in source:
                await ahead.put(encode(item))
    except Exception as raised:  # it belongs to whoever takes the batches
        error = raised
    await ahead.put(_End(error))
