"""Work that runs side by side, each in a process that has time for it, and tells meanwhile what it does."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from analytics.processes import CONTEXT, results

Result = TypeVar("Result")
# Told is the key of some work, and what it does now; nothing when it has ended.
Told = Callable[[str, str], None]
_END = ("", "")


def side_by_side(work: Mapping[str, Callable[[Callable[[str], None]], Result]], processes: int, told: Told) -> Iterator[tuple[str, Result]]:
    """Yields the key and the result of each piece of `work` as it ends. Each is given a function that it tells what it does.

    - `processes`: so many pieces run at a time.
    - `told`: is called with the key of a piece and what it does now, also by another thread; with "" when it has ended.

    Raises what the work raises, and TraceError if a process is killed.
    """
    calls = [partial(_done, key, each) for key, each in work.items()]
    with _heard(told) as queue:
        for key, result in results(calls, min(processes, max(1, len(calls))), "overlays", prepare=_tell_to, given=(queue,)):
            yield key, result
            told(key, "")


def _done(key: str, work: Callable[[Callable[[str], None]], Result]) -> tuple[str, Result]:
    return key, work(partial(_tell, key))


# The queue to which work of this process tells what it does.
_queues: list[Any] = []


def _tell_to(queue: Any) -> None:
    _queues[:] = [queue]


def _tell(key: str, step: str) -> None:
    for queue in _queues:
        queue.put((key, step))


@contextmanager
def _heard(told: Told) -> Iterator[Any]:
    """Yields a queue; what processes put there is told by a thread."""
    queue = CONTEXT.SimpleQueue()

    def listen() -> None:
        while (said := queue.get()) != _END:
            told(*said)

    listener = threading.Thread(target=listen, daemon=True, name="side by side")
    listener.start()
    try:
        yield queue
    finally:
        queue.put(_END)
        listener.join()
        queue.close()
