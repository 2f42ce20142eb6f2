"""An event loop with virtual time, on which many processes live at once.

Each process has its own queue of callbacks, and its turns are those of a real loop: everything that is ready, in order. Which process has
the next turn is drawn. A turn takes some microseconds of virtual time. When nobody has anything to do, time jumps to the next timer.
So one seed gives one interleaving, and nothing here waits.
"""

import asyncio
import heapq
import random
from asyncio import Future, Handle, Task, TimerHandle
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, Final, TypeVar

from .births import BornFuture, BornTask
from .process import SimulatedProcess, process_of

T = TypeVar("T")
# So long a turn takes, in microseconds.
TURN_US: Final = (5, 200)
# The Unix time at which every world begins.
BORN_S: Final = 1_700_000_000.0


class SimulatedLoop(asyncio.AbstractEventLoop):
    """The loop of a whole world. `now_s` is the world's time, in seconds since its beginning.

    - `rng`: draws turns. `failures`: what nobody has caught, with the process to which it happened.
    - `turns`: how many there were.
    """

    def __init__(self, rng: random.Random) -> None:
        self.now_s, self.turns = 0.0, 0
        self.failures: list[tuple[str, str]] = []
        self.world = SimulatedProcess("world")
        self.processes = [self.world]
        self._rng = rng
        self._timers: list[tuple[float, int, TimerHandle]] = []
        self._number = 0
        self._tasks: list[Task[Any]] = []
        self._killed: list[SimulatedProcess] = []
        self._is_running = self._is_stopping = self._is_closed = False

    # Time.

    def time(self) -> float:
        """Returns the steady clock of the process that asks: seconds since the beginning, by its own rate."""
        return self.now_s * self._process(copy_context()).rate

    def wall(self) -> float:
        """Returns the Unix time of the process that asks."""
        process = self._process(copy_context())
        return BORN_S + self.now_s * process.rate + process.offset_s

    # Callbacks.

    def _process(self, context: Context) -> SimulatedProcess:
        return process_of(context) or self.world

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> Handle:  # type: ignore[override]
        """See `asyncio`. The callback belongs to the process of its context."""
        handle = Handle(callback, args, self, context or copy_context())
        process = self._process(handle._context)  # type: ignore[attr-defined]
        if process.is_alive:
            process.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """See `asyncio`."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """See `asyncio`. `when` is a time of the process that asks."""
        timer = TimerHandle(when, callback, args, self, context or copy_context())
        self._push(when / self._process(timer._context).rate, timer)  # type: ignore[attr-defined]
        return timer

    def at(self, now_s: float, callback: Callable[..., Any], *args: Any, context: Context) -> None:
        """Has `callback` called in `context` at a time of the world."""
        self._push(now_s, TimerHandle(now_s, callback, args, self, context))

    def _push(self, now_s: float, timer: TimerHandle) -> None:
        heapq.heappush(self._timers, (max(now_s, self.now_s), self._next(), timer))

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _timer_handle_cancelled(self, timer: TimerHandle) -> None:
        """Does nothing: a cancelled timer is passed over when its time comes."""

    def create_future(self) -> Future[Any]:
        """See `asyncio`."""
        future = BornFuture(loop=self)
        future.number = self._next()
        return future

    def create_task(self, coro: Coroutine[Any, Any, T], *, name: str | None = None, context: Context | None = None) -> Task[T]:  # type: ignore[override]
        """See `asyncio`. Tasks are kept until the loop is closed: what a killed process was doing never goes on, and never ends."""
        number = self._next()
        task = BornTask(coro, loop=self, name=name or f"Task-{number}", context=context)
        task.number = number
        self._tasks.append(task)
        return task

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> "Future[T]":  # type: ignore[override]
        """Does it at once: a simulated process has no threads."""
        future = self.create_future()
        future.set_result(func(*args))
        return future

    # Turns.

    def run_until_complete(self, future: Any) -> Any:
        """See `asyncio`. Raises RuntimeError when nobody has anything to do, and never will."""
        task = future if isinstance(future, Future) else self.create_task(future, context=self.world.context.copy())
        self._is_running = True
        asyncio._set_running_loop(self)
        try:
            while not task.done():
                self._turn()
        finally:
            asyncio._set_running_loop(None)
            self._is_running = False
        return task.result()

    def _turn(self) -> None:
        self._wake_timers()
        ready = [process for process in self.processes if process.ready and process.stalled_until_s <= self.now_s]
        if not ready:
            self._sleep()
            return
        process = ready[self._rng.randrange(len(ready))] if len(ready) > 1 else ready[0]
        self.turns += 1
        for _ in range(len(process.ready)):
            if not process.ready:  # it has been killed in its own turn
                break
            handle = process.ready.popleft()
            if not handle.cancelled():
                handle._run()
        self.now_s += self._rng.randint(*TURN_US) / 1e6

    def _wake_timers(self) -> None:
        while self._timers and self._timers[0][0] <= self.now_s:
            _, _, timer = heapq.heappop(self._timers)
            process = self._process(timer._context)  # type: ignore[attr-defined]
            if not timer.cancelled() and process.is_alive:
                process.ready.append(timer)

    def _sleep(self) -> None:
        """Lets time pass until somebody has something to do."""
        until = [process.stalled_until_s for process in self.processes if process.ready]
        if self._timers:
            until.append(self._timers[0][0])
        if not until:
            raise RuntimeError("nobody has anything to do, and never will")
        self.now_s = max(self.now_s, min(until))

    # What asyncio asks of a loop beside that.

    def kill(self, process: SimulatedProcess) -> None:
        """Ends `process` at once: it gets no turn any more."""
        process.is_alive = False
        process.ready.clear()
        if process in self.processes:
            self.processes.remove(process)
            self._killed.append(process)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keeps what nobody has caught."""
        error = context.get("exception")
        self.failures.append((self._process(copy_context()).name, f"{context.get('message')}: {error!r}"))

    def is_running(self) -> bool:
        """See `asyncio`."""
        return self._is_running

    def is_closed(self) -> bool:
        """See `asyncio`."""
        return self._is_closed

    def get_debug(self) -> bool:
        """See `asyncio`."""
        return False

    def close(self) -> None:
        """Ends everything. What processes were doing is cancelled, also in those that were killed, so that nothing is left behind."""
        told = len(self.failures)
        for process in self._killed:
            process.is_alive = True
        self.processes += self._killed
        self._timers.clear()
        for task in self._tasks:
            task.cancel()
        with suppress(RuntimeError):
            self.run_until_complete(self._ended(self._tasks[:]))
        del self.failures[told:]  # by then nobody is there to catch anything
        self._is_closed = True

    async def _ended(self, tasks: list[Task[Any]]) -> None:
        await asyncio.wait(tasks, timeout=60)
        for task in tasks:
            if not task.done():  # its next step was forgotten when its process was killed
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                task.get_coro().close()
