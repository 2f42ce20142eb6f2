"""Running tasks in several processes."""

import multiprocessing
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..errors import TraceError
from .tasks import Task, Work


def results(work: Work, tasks: Sequence[Task], processes: int) -> Generator[Counter[str], None, None]:
    """What the tasks return, in the order in which they end. With one process they run in this one.

    Closing it early ends the tasks that have begun, too. Raises what a task raises, and TraceError if a process is killed.
    """
    if processes == 1:
        yield from (task.run(work) for task in tasks)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
    try:
        with _interrupts_held():
            futures = [pool.submit(task.run, work) for task in tasks]
        for future in as_completed(futures):
            yield future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise TraceError(
            f"{work.folder}: a process was ended from outside, most likely for want of memory; use fewer --processes, or a smaller scale"
        ) from None
    finally:
        for child in multiprocessing.active_children():
            child.terminate()  # nobody waits for what it does
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started meanwhile never heed Ctrl-C, which reaches all processes of a terminal: this one decides for them."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
