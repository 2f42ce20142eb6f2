"""A runner of tasks in several processes."""

import multiprocessing
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from ..errors import TraceError
from .tasks import TableTask, Work


def results(work: Work, tasks: Sequence[TableTask], processes: int) -> Generator[Counter[str], None, None]:
    """Yields what `tasks` return for `work`, in the order in which they end. If `processes` is 1 they run in this one.

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
