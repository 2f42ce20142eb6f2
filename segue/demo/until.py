"""Waiting for what nobody announces: it is looked at again and again."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

POLL_S: Final = 0.02


async def until(holds: Callable[[], bool | Awaitable[bool]], within_s: float) -> bool:
    """Waits until it holds; False if it did not within the time."""
    deadline_s = perf_counter() + within_s
    while not (found if isinstance(found := holds(), bool) else await found):
        if perf_counter() > deadline_s:
            return False
        await asyncio.sleep(POLL_S)
    return True
