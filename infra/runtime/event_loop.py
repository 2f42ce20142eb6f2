"""The event loop of a process: uvloop where it is installed, asyncio otherwise. Both must pass the same tests (design 5.6)."""

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Final, Generic, TypeVar

from .open_files import allow_open_files
from .stopping import SIGNALS, Stopped, die, has_terminal, heeding

T = TypeVar("T")

# Servers hold millions of long-lived objects and make few cycles. To look for garbage after every 700 allocations, as CPython does,
# costs a tenth of the time and finds nothing.
YOUNG_OBJECTS: Final = 50_000
OPEN_FILES: Final = 1 << 20


def factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Returns the function that makes the loop of a process."""
    try:
        import uvloop
    except ImportError:  # not on this platform
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` to its end on the best loop there is, with as many open files as this machine allows, up to `OPEN_FILES`.

    The first signal cancels it, and is raised as Stopped when everything is undone. The second one ends the process at once.
    """
    try:
        allow_open_files(OPEN_FILES)
        gc.set_threshold(YOUNG_OBJECTS, 20, 100)
        life = _Life(main)
        with heeding(life.stop), asyncio.Runner(loop_factory=factory()) as runner:
            runner.run(life.live())
        return life.result()
    finally:
        main.close()  # a signal may come before it has begun; of one that has ended this asks nothing


class _Life(Generic[T]):
    """A coroutine and how it ended. SystemExit is kept out of the loop, which would complain that nobody has taken it from the task."""

    def __init__(self, main: Coroutine[Any, Any, T]) -> None:
        self._main = main
        self._task: asyncio.Task[None] | None = None
        self._results: list[T] = []
        self._exit: SystemExit | None = None

    def stop(self, number: int) -> None:
        """Cancels it. A second signal does not wait until all is undone."""
        if isinstance(self._exit, Stopped):
            die(number)
        self._exit = Stopped(number)
        if self._task is not None:
            with suppress(RuntimeError):  # the loop has just been closed
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    async def live(self) -> None:
        """Runs it to its end. Raises what it raises, but SystemExit."""
        self._task = asyncio.current_task()
        if self._exit is not None:
            self._main.close()
            return
        try:
            self._results.append(await self._main)
        except asyncio.CancelledError:
            if self._exit is None:
                raise
        except SystemExit as exit:
            if self._exit is None:  # a signal came first
                self._exit = exit

    def result(self) -> T:
        """Returns what it returned. Raises Stopped after a signal, and SystemExit if it raised that."""
        if self._exit is not None:
            raise self._exit
        return self._results[0]


@contextmanager
def stopped_by_signals(reload: Callable[[], object] | None = None) -> Iterator[asyncio.Event]:
    """Yields an event that a signal sets while the block runs, instead of cancelling everything.

    A server says that it is ready in the block, waits there, and drains behind it. The next signal cancels that (see `run`).

    `reload`: SIGHUP calls it, and stops nothing, unless it came because our terminal was closed.
    """
    stopped = asyncio.Event()
    had_terminal = has_terminal()

    def hang_up() -> None:
        if reload is None or (had_terminal and not has_terminal()):
            stopped.set()
        else:
            reload()

    with _heard_in_loop(stopped.set), _heard_in_loop(hang_up, (signal.SIGHUP,)):
        yield stopped


def ended_by_ctrl_c(task: asyncio.Task[Any]) -> AbstractContextManager[None]:
    """Makes Ctrl-C cancel `task` instead of everything while the block runs."""
    return _heard_in_loop(task.cancel, (signal.SIGINT,))


def _heard_in_loop(tell: Callable[[], object], numbers: tuple[int, ...] = SIGNALS) -> AbstractContextManager[None]:
    """Calls `tell` in the loop for each signal of `numbers` while the block runs."""
    # Not by `loop.add_signal_handler`: when that is taken back, the handler of before is not in charge again.
    loop = asyncio.get_running_loop()
    return heeding(lambda _: loop.call_soon_threadsafe(tell), numbers)
