"""Waiting for what nobody tells of: the work of another thread or process, or a row in a store. Where somebody tells: `News`."""

import asyncio
import time
from collections.abc import Callable
from inspect import isawaitable
from typing import Any

DEADLINE_S = 30.0
# Nothing depends on how long it is: others must have the processor meanwhile, which those of other processes and threads need.
POLL_S = 0.001


async def eventually(
    condition: Callable[[], object],
    why: str | Callable[[], str] = "it did not come",
    *,
    deadline_s: float = DEADLINE_S,
    poll_s: float = POLL_S,
) -> Any:
    """Asks for `condition`, which may be a coroutine, again and again until it is true, and returns it then.

    Raises AssertionError, with `why`, after `deadline_s`. `poll_s`: the pause, where asking costs something.
    """
    end_s = time.monotonic() + deadline_s
    while not (found := await asked if isawaitable(asked := condition()) else asked):
        assert time.monotonic() < end_s, why if isinstance(why, str) else why()
        await asyncio.sleep(poll_s)
    return found
