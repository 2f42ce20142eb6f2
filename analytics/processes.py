"""Work that several processes share: calls that run side by side, wherever there is room."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from .errors import TraceError

Result = TypeVar("Result")
# Processes begin anew: a copy of this one would have its locks, and not its threads.
CONTEXT = multiprocessing.get_context("spawn")


def results(
    calls: Sequence[Callable[[], Result]],
    processes: int,
    about: str,
    *,
    prepare: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Generator[Result, None, None]:
    """Yields what `calls` return, in the order in which they end. If `processes` is 1 they run in this one.

    - `about`: what the work is for; an error begins with it.
    - `prepare`: is called with what is `given` in each process before anything else.

    Closing it early ends the calls that have begun, too. Raises what a call raises, and TraceError if a process is killed.
    """
    if processes == 1:
        if prepare:
            prepare(*given)
        yield from (call() for call in calls)
        return
    pool = ProcessPoolExecutor(processes, CONTEXT, prepare, given)
    try:
        with _interrupts_held():
            futures = [pool.submit(call) for call in calls]
        for future in as_completed(futures):
            yield future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise TraceError(
            f"{about}: a process was ended from outside, most likely for want of memory; use fewer --processes, or a smaller scale"
        ) from None
    finally:
        for child in multiprocessing.active_children():
            child.terminate()  # nobody will read its part: the folder is removed
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keeps Ctrl-C from the processes that are started in the block.

    Ctrl-C reaches all processes of a terminal, and this one decides for the others. A signal that comes during the block is acted on at its
    end: a process that is half started complains of it. The mask alone does not see to that, because other threads take signals, too.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    handlers = {number: signal.signal(number, lambda number, _: heard.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for held, handler in handlers.items():
            signal.signal(held, handler)
        for number in heard:
            signal.raise_signal(number)
