"""An event loop with virtual time, on which many processes live at once.

Each process has its own queue of callbacks, and its turns are those of a real loop: everything that is ready, in order. Which process has
the next turn is drawn. A turn takes some microseconds of virtual time. When nobody has anything to do, time jumps to the next timer.
So one seed gives one interleaving, and nothing here waits. What the network does is nobody's turn: it happens when its time comes.
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
from .process import SimulatedProcess, process_of, running

T = TypeVar("T")
# So long a turn takes.
TURN_S: Final = (5e-6, 200e-6)
# The Unix time at which every world begins.
BORN_S: Final = 1_700_000_000.0


class SimulatedHandle(TimerHandle):
    """A callback of `process`, which may be cancelled. Without a process it is the network's."""

    __slots__ = ("process",)

    def __init__(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context, process: SimulatedProcess | None) -> None:
        # Without what asyncio does beside: it is the most frequent object of a simulation.
        self._callback, self._args, self._context, self.process = callback, args, context, process
        self._cancelled = False

    def cancel(self) -> None:
        """See `asyncio.Handle`. A cancelled timer is passed over when its time comes."""
        self._cancelled = True


class SimulatedLoop(asyncio.AbstractEventLoop):
    """The loop of a whole world. `now_s` is the world's time, in seconds since its beginning.

    - `rng`: draws turns. `failures`: what nobody has caught, with the process to which it happened.
    - `turns`: how many there were. `turn_s`: how long one takes, at least and at most.
    """

    def __init__(self, rng: random.Random) -> None:
        self.now_s, self.turns, self.turn_s = 0.0, 0, TURN_S
        self.failures: list[tuple[str, str]] = []
        self.world = SimulatedProcess("world")
        self.processes = [self.world]
        self._rng = rng
        self._timers: list[tuple[float, int, SimulatedHandle]] = []
        self._due: list[SimulatedProcess] = []
        self._number = 0
        self._tasks: list[Task[Any]] = []
        self._killed: list[SimulatedProcess] = []
        self._is_running = self._is_stopping = self._is_closed = False

    # Time.

    def time(self) -> float:
        """Returns the steady clock of the process that asks: seconds since the beginning, by its own rate."""
        return self.now_s * running(self.world).rate

    def wall(self) -> float:
        """Returns the Unix time of the process that asks."""
        process = running(self.world)
        return BORN_S + self.now_s * process.rate + process.offset_s

    # Callbacks.

    def _process(self, context: Context) -> SimulatedProcess:
        return process_of(context) or self.world

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> Handle:  # type: ignore[override]
        """See `asyncio`. The callback belongs to the process of its context."""
        handle = self._handle(callback, args, context)
        self._append(handle)
        return handle

    def call_in(self, process: SimulatedProcess, callback: Callable[..., Any], *args: Any) -> None:
        """Does the same for a process that is known."""
        if process.is_alive:  # as `_append` does: it is called for each piece that arrives
            process.ready.append(SimulatedHandle(callback, args, process.context, process))
            if not process.is_due:
                process.is_due = True
                self._due.append(process)

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """See `asyncio`."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """See `asyncio`. `when` is a time of the process that asks."""
        timer = self._handle(callback, args, context)
        assert timer.process is not None
        self._push(when / timer.process.rate, timer)
        return timer

    def at(self, now_s: float, callback: Callable[..., Any], *args: Any) -> None:
        """Has the network call `callback` at a time of the world."""
        self._number += 1
        handle = SimulatedHandle(callback, args, self.world.context, None)
        heapq.heappush(self._timers, (now_s if now_s > self.now_s else self.now_s, self._number, handle))

    def _handle(self, callback: Callable[..., Any], args: tuple[Any, ...], context: Context | None) -> SimulatedHandle:
        context = context or copy_context()
        return SimulatedHandle(callback, args, context, self._process(context))

    def _push(self, now_s: float, timer: SimulatedHandle) -> None:
        heapq.heappush(self._timers, (max(now_s, self.now_s), self._next(), timer))

    def _append(self, handle: SimulatedHandle) -> None:
        """Puts `handle` behind what its process has to do; the dead do nothing."""
        process = handle.process
        if process is not None and process.is_alive:
            process.ready.append(handle)
            if not process.is_due:
                process.is_due = True
                self._due.append(process)

    def _next(self) -> int:
        self._number += 1
        return self._number

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
                self._wake_timers()
                if self._due:
                    self._turn()
                else:
                    self._sleep()
        finally:
            asyncio._set_running_loop(None)
            self._is_running = False
        return task.result()

    def _turn(self) -> None:
        due = self._due
        place = int(self._rng.random() * len(due)) if len(due) > 1 else 0
        process, due[place] = due[place], due[-1]
        due.pop()
        if process.stalled_until_s > self.now_s:
            self.at(process.stalled_until_s, due.append, process)
            return
        self.turns += 1
        ready = process.ready
        for _ in range(len(ready)):
            if not ready:  # its process has been killed in its own turn
                break
            handle = ready.popleft()
            if not handle._cancelled:
                try:
                    handle._context.run(handle._callback, *handle._args)
                except Exception as error:
                    handle._context.run(self.call_exception_handler, {"message": "in a callback", "exception": error})
        if ready:
            due.append(process)
        else:
            process.is_due = False
        low_s, high_s = self.turn_s
        self.now_s += low_s + (high_s - low_s) * self._rng.random()

    def _wake_timers(self) -> None:
        timers, now_s = self._timers, self.now_s
        while timers and timers[0][0] <= now_s:
            _, _, timer = heapq.heappop(timers)
            if timer.process is None:
                timer._callback(*timer._args)  # the network's, which raises nothing and needs no context
            elif not timer._cancelled:
                self._append(timer)

    def _sleep(self) -> None:
        """Lets time pass until somebody has something to do."""
        if not self._timers:
            raise RuntimeError("nobody has anything to do, and never will")
        self.now_s = max(self.now_s, self._timers[0][0])

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
        for task in self._tasks:
            # asyncio keeps all tasks in one set. Those of each life have the same hashes, so with every life to come it would be slower.
            asyncio.tasks._unregister_task(task)
        self._is_closed = True

    async def _ended(self, tasks: list[Task[Any]]) -> None:
        await asyncio.wait(tasks, timeout=60)
        for task in tasks:
            if not task.done():  # its next step was forgotten when its process was killed
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                task.get_coro().close()
