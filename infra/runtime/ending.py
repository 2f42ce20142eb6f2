"""Ending several things in a row: one that raises does not leave the others open."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable

from infra.kernel.every_one import raise_all

End = Callable[[], Awaitable[object] | object]


async def end_all(*ends: End | None) -> None:
    """Calls each of `ends` that is not None, in this order, and awaits it if it can be awaited, whatever the others raise.

    Raises the only error as it is, several as an ExceptionGroup, when all have been called. Where it is cancelled, what was being
    ended is interrupted, the others are ended all the same, and then it raises CancelledError.
    """
    errors: list[Exception] = []
    cancelled: asyncio.CancelledError | None = None
    for end in ends:
        try:
            ending = end() if end is not None else None
            if isawaitable(ending):
                await ending
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception as error:
            errors.append(error)
    if cancelled is not None:
        for missed in errors:
            cancelled.add_note(f"and meanwhile: {missed!r}")
        raise cancelled
    raise_all(errors)


async def end_tasks(*tasks: "asyncio.Task[object] | asyncio.Task[None] | None") -> None:
    """Cancels the tasks that are not None and returns when they have ended; what they raise was theirs to tell."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
