"""The asking side of calls over links: replies are awaited. `callers` is the other side; `infra.kernel.open_calls` decides."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import NOBODY, Call, Frame, Reply
from infra.kernel.open_calls import OpenCalls
from infra.runtime.link import MAX_BYTES, Link

# As many as a node takes from others (see `callers.MAX_WAITING`).
MAX_CALLS: Final = 10_000


class CallClient:
    """Calls of this process over any links.

    - `timeout_s`: how long an answer is waited for.
    - `max_calls`: beyond so many open calls the next one is refused.
    - `max_bytes`: the same for their bodies; as much as a link may hold.
    """

    def __init__(self, timeout_s: float, max_calls: int = MAX_CALLS, max_bytes: int = MAX_BYTES) -> None:
        self._open: OpenCalls[Link] = OpenCalls(max_calls, max_bytes, timeout_s)
        self._timer: asyncio.TimerHandle | None = None

    async def call(self, link: Link, op: str, body: bytes, *, user: str = NOBODY, queue: str = "") -> Reply:
        """Returns the reply of the peer of `link` to `op`, whatever its code says. For `user`, `queue` and `body` see `Call`.

        Raises Unavailable when too many calls are open, when the link is lost or when there is no reply in time: then it may have
        been done. Cancelling gives up the reply.
        """
        return await self.ask(link, lambda n: Call(n, user, "", op, body, queue), len(body))

    async def ask(self, link: Link, question: Callable[[int], Frame], size_bytes: int = 0) -> Reply:
        """Returns the reply of the peer of `link` to the frame that `question` makes of its number. Raises Unavailable as `call` does.

        `size_bytes`: what the question holds until it is answered.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        try:
            n = self._open.open(link, size_bytes, loop.time(), partial(_settle, answer))
        except Refused as full:
            raise Unavailable(full.reason) from None
        self._set_timer(loop)
        try:
            link.send(question(n))
            return await answer
        finally:
            self._open.give_up(n)

    def reply(self, link: Link, reply: Reply) -> None:
        """Notes what the peer of `link` has answered."""
        self._open.reply(link, reply)

    def link_down(self, link: Link) -> None:
        """Ends the calls over a link that is lost."""
        self._open.lost(link, Refused("unavailable", f"the {link.peer.role} service went away before it answered"))

    def _set_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sets the one timer to when the next call is late, unless it is set: then it is set again when it has rung."""
        if self._timer is None and (due_s := self._open.due_s) is not None:
            self._timer = loop.call_at(due_s, self._late, loop, due_s)

    def _late(self, loop: asyncio.AbstractEventLoop, due_s: float) -> None:
        self._timer = None
        # Not the loop's time: a timer may ring a little early, and would then be set to the same moment again and again.
        self._open.tick(due_s)
        self._set_timer(loop)


def _settle(answer: "asyncio.Future[Reply]", outcome: Reply | Refused) -> None:
    if answer.done():
        return  # cancelled, but its task has not run since
    if isinstance(outcome, Reply):
        answer.set_result(outcome)
    else:
        answer.set_exception(Unavailable(outcome.reason))
