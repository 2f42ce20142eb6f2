"""The event loop of a process: uvloop where it is there, asyncio otherwise; both must pass the same tests (design 5.6)."""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from .open_files import allow_open_files

T = TypeVar("T")

# Servers hold millions of long-lived objects and make few cycles: looking for garbage after every 700 allocations, as
# CPython does, costs a tenth of the time and finds nothing.
YOUNG_OBJECTS: Final = 50_000
OPEN_FILES: Final = 1 << 20


def factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes the loop of a process."""
    try:
        import uvloop
    except ImportError:  # not on this platform
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end on the best loop there is, with as many open files as this machine allows, up to `OPEN_FILES`."""
    allow_open_files(OPEN_FILES)
    gc.set_threshold(YOUNG_OBJECTS, 20, 100)
    with asyncio.Runner(loop_factory=factory()) as runner:
        return runner.run(main)


async def until_stopped(drain: Callable[[], Awaitable[None]]) -> None:
    """Wait for SIGTERM or SIGINT, then drain; a second signal stops the draining."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()
    stopped.clear()
    draining = asyncio.ensure_future(drain())
    again = asyncio.ensure_future(stopped.wait())
    await asyncio.wait({draining, again}, return_when=asyncio.FIRST_COMPLETED)
    for task in (draining, again):
        task.cancel()
    await asyncio.gather(draining, again, return_exceptions=True)


@contextmanager
def ended_by_ctrl_c(task: asyncio.Task[Any]) -> Iterator[None]:
    """While the block runs, Ctrl-C cancels `task` instead of everything."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
