"""Stopping: how this process ends when it is asked to, by Ctrl-C, SIGTERM, or a terminal that is closed. Signal handlers live here alone.

It imports nothing that takes time, because it has to be in charge before anything else is loaded.
"""

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, Final, NoReturn

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Shells add this to the number of a signal, and have the exit code of a process that it ended.
_SHELL: Final = 128
# The signal for which Stopped was raised, once it was.
_heard: Final[list[int]] = []


class Stopped(SystemExit):
    """The exit of a process that was asked to end by the signal `number`.

    It is raised where the process was at work, so that what was begun is undone.
    """

    def __init__(self, number: int) -> None:
        super().__init__(_SHELL + number)
        self.number = number


def die(number: int, _frame: object = None) -> NoReturn:
    """Ends this process by the signal `number`, here and now.

    It dies of the signal instead of leaving with an exit code: shells show 130 or 143 for both, but only a death ends the loop
    of a script that runs us.
    """
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(_SHELL + number)  # the first process of a container does not die of signals


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Holds for the life of a command: a signal ends the process at once, until `unwind` says that there is something to undo.

    Where Stopped comes through the block, the process dies of that signal, after everything that wants to be told of an exit.
    """
    stopped: list[int] = []
    atexit.register(lambda: die(stopped[0]) if stopped else None)  # the first to be registered is the last to be called
    _handle(die)
    try:
        yield
        check_stopped()
    except Stopped as stop:
        stopped.append(stop.number)
        raise
    except BaseException:
        if not _heard:
            raise
        stopped.append(_heard[0])  # it became something else on its way, which is no trouble of ours
        raise Stopped(_heard[0]) from None


def check_stopped() -> None:
    """Raises Stopped again where it was raised and has got lost: C code that calls Python may drop it, or make another error of it.

    Who is about to leave something behind asks first.
    """
    if _heard:
        raise Stopped(_heard[0])


def unwind() -> None:
    """Makes the first signal from now on raise Stopped in the main thread. The next one ends the process at once."""
    report = sys.unraisablehook

    def lost(trouble: "sys.UnraisableHookArgs") -> None:
        # A finalizer lets no exception out, but a process that was asked to end has to.
        if isinstance(trouble.exc_value, Stopped):
            die(trouble.exc_value.number)
        report(trouble)

    sys.unraisablehook = lost
    _handle(_stop)


def _stop(number: int, _frame: object) -> NoReturn:
    _handle(die)
    _heard.append(number)
    raise Stopped(number)


@contextmanager
def heeding(tell: Callable[[int], object], numbers: tuple[int, ...] = SIGNALS) -> Iterator[None]:
    """Calls `tell` with the number of each signal of `numbers` while the block runs, between any two steps of the main thread.

    In another thread it does nothing.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = _handle(lambda number, _: tell(number), numbers)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def has_terminal() -> bool:
    """Returns whether this process belongs to a terminal, and the terminal is there."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    os.close(terminal)
    return True


@contextmanager
def held() -> Iterator[None]:
    """Holds each signal that comes while the block runs until its end."""
    heard: list[int] = []
    try:
        with heeding(heard.append):
            yield
    finally:
        for number in heard:
            os.kill(os.getpid(), number)


def _handle(handler: Callable[[int, Any], object], numbers: tuple[int, ...] = SIGNALS) -> dict[int, Any]:
    """Puts `handler` in charge of the signals `numbers`, and returns what was in charge before."""
    # A hang-up that somebody wants to survive, as nohup does, stays ignored.
    wanted = [number for number in numbers if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in wanted}
