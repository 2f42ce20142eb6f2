"""Work that would hold up everybody else if it were done at once: a step in each turn of the loop."""

import asyncio
from collections.abc import Iterator


def in_turns(work: Iterator[float]) -> None:
    """Takes a step of `work` in each turn of the loop, from the next one on, until it ends.

    What it yields is how many seconds it wants to wait first. `work` must end by itself when what it is about is gone. What it raises
    ends it, and goes to the loop's handler.
    """
    loop = asyncio.get_running_loop()

    def step() -> None:
        wait_s = next(work, None)
        if wait_s is not None:
            _ = loop.call_later(wait_s, step) if wait_s else loop.call_soon(step)

    loop.call_soon(step)
