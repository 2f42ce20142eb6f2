"""Waiting for a condition of which nobody tells: it is checked again and again."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Final

POLL_S: Final = 0.02


async def until(holds: Callable[[], bool | Awaitable[bool]], within_s: float) -> bool:
    """Waits until `holds` returns something true. Returns False if it has not within `within_s`."""
    deadline_s = perf_counter() + within_s
    while not (found if isinstance(found := holds(), bool) else await found):
        if perf_counter() > deadline_s:
            return False
        await asyncio.sleep(POLL_S)
    return True
