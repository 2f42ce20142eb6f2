"""Lines of a pipe, as they come."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from segue.cli.lines import MAX_LINE_BYTES, lines
from segue.sdk.errors import Misuse


class Pipe(NamedTuple):
    source: int
    sink: int


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    both = Pipe(*os.pipe())
    yield both
    for end in both:
        with suppress(OSError):  # the test has closed it
            os.close(end)


async def test_a_line_is_there_as_soon_as_it_is_written(pipe: Pipe) -> None:
    stream = lines(pipe.source)
    os.write(pipe.sink, b"one\ntw")
    assert await anext(stream) == b"one"
    os.write(pipe.sink, b"o\n\nthree")
    assert [await anext(stream), await anext(stream)] == [b"two", b""]
    os.close(pipe.sink)
    assert [line async for line in stream] == [b"three"]


async def test_waiting_for_a_line_can_be_cancelled(pipe: Pipe) -> None:
    waiting = asyncio.ensure_future(anext(lines(pipe.source)))
    done, _ = await asyncio.wait({waiting}, timeout=0)
    assert not done
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.close(pipe.sink)


async def test_what_cannot_be_read_is_raised(pipe: Pipe) -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        await anext(lines(pipe.sink))


async def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long"
    file.write_bytes(b"x" * (MAX_LINE_BYTES + 2))
    descriptor = os.open(file, os.O_RDONLY)
    with pytest.raises(Misuse, match="a line is longer than 1048576 bytes"):
        await anext(lines(descriptor))
    os.close(descriptor)
