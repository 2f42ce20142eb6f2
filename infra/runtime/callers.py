"""Calls that others make to a role: answered in the order in which they came, queue by queue, and bounded in number and bytes."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Call, Reply
from infra.runtime.ending import end_tasks
from infra.runtime.link import Link
from infra.runtime.logs import Logger

MAX_WAITING: Final = 10_000
MAX_WAITING_BYTES: Final = 64 << 20

# The body of the reply. Raises Refused, or Unavailable: repeating the call is safe.
Answerer = Callable[[Call], Awaitable[bytes]]


class Callers:
    """The calls that wait here for their answers. Those of different queues (see `Call`) are answered side by side.

    - `answers`: op -> the coroutine that answers it.
    - `max_waiting`, `max_bytes`: beyond so many calls, or bytes of their bodies, a call is refused at once.
    """

    def __init__(
        self, answers: Mapping[str, Answerer], log: Logger, max_waiting: int = MAX_WAITING, max_bytes: int = MAX_WAITING_BYTES
    ) -> None:
        self.answered: Counter[str] = Counter()
        self.refused = 0
        self._answers, self._log = answers, log
        self._max_waiting, self._max_bytes = max_waiting, max_bytes
        self._queues: dict[str, deque[tuple[Link, Call]]] = {}
        self._waiting = self._waiting_bytes = 0
        self._runners: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def take(self, link: Link, call: Call) -> None:
        """Answers `call` on `link` when its turn comes."""
        if self._is_closed:  # the link outlives us for a moment
            link.send(Reply(call.n, "unavailable", "this node is closing; try again", b""))
            return
        if self._waiting >= self._max_waiting or self._waiting_bytes + len(call.body) > self._max_bytes:
            self.refused += 1
            link.send(Reply(call.n, "unavailable", "too many requests wait here; try again", b""))
            return
        self._waiting += 1
        self._waiting_bytes += len(call.body)
        name = call.queue or call.user
        if name in self._queues:
            self._queues[name].append((link, call))
            return
        self._queues[name] = deque([(link, call)])
        runner = asyncio.get_running_loop().create_task(self._run(name), name="calls of one queue")
        self._runners.add(runner)
        runner.add_done_callback(self._runners.discard)

    async def close(self) -> None:
        """Gives up what is open: callers find their link gone. May be called twice."""
        self._is_closed = True
        await end_tasks(*self._runners)

    async def _run(self, name: str) -> None:
        queue = self._queues[name]
        try:
            while queue:
                link, call = queue[0]  # it stays in the queue while it is answered, so that the next one waits
                link.send(await self._answer(call))
                queue.popleft()
                self._waiting -= 1
                self._waiting_bytes -= len(call.body)
        finally:
            del self._queues[name]

    async def _answer(self, call: Call) -> Reply:
        try:
            if call.op not in self._answers:
                raise Refused("unknown-op", f"there is no {call.op} here, only {', '.join(sorted(self._answers))}")
            body = await self._answers[call.op](call)
        except Refused as refused:
            self.refused += 1
            return Reply(call.n, refused.code.name, refused.reason, b"")
        except Unavailable as trouble:
            self.refused += 1
            return Reply(call.n, "unavailable", str(trouble), b"")
        except Exception:
            self._log.exception("call failed", op=call.op)
            return Reply(call.n, "internal-error", "a defect of ours; it has been logged", b"")
        self.answered[call.op] += 1
        return Reply(call.n, "", "", body)
