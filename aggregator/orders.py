"""Orders of operators at an aggregator: each goes on to all access points, and their answers go back as one."""

import asyncio
from collections.abc import Callable, Iterable

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import AnyFrame, Call, Reply, Revoked
from infra.kernel.orders import MAX_ANSWER_BYTES, ORDER_OP, POINT_S, Answers, PointAnswer, body_of, read_order, read_point
from infra.runtime.call_client import CallClient
from infra.runtime.callers import Callers
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.logs import Logger


class PointOrders:
    """The orders that brokers give. `points` returns the links to the access points."""

    def __init__(self, points: Callable[[], Iterable[Link]], log: Logger) -> None:
        self._points = points
        self._calls = CallClient(POINT_S)
        self._callers = Callers({ORDER_OP: self._pass_on}, log)

    def take(self, link: Link, frame: AnyFrame) -> None:
        """Takes a `Call` of a broker, or a `Reply` of an access point."""
        if isinstance(frame, Call):
            self._callers.take(link, frame)
        elif isinstance(frame, Reply):
            self._calls.reply(link, frame)

    def link_down(self, link: Link) -> None:
        """Gives up what an access point that is gone has not answered."""
        self._calls.link_down(link)

    async def _pass_on(self, call: Call) -> bytes:
        read_order(call.body)  # what is no order is refused here, and not by each access point
        answered = await asyncio.gather(*(self._ask(link, call) for link in list(self._points())))
        points: list[PointAnswer] = []
        missing: list[str] = []
        size_bytes = 0
        for name, answer, answer_bytes in answered:
            size_bytes += answer_bytes
            if answer is not None and size_bytes <= MAX_ANSWER_BYTES:
                points.append(answer)
            else:
                missing.append(name)
        return body_of(Answers(points, missing))

    async def _ask(self, link: Link, call: Call) -> tuple[str, PointAnswer | None, int]:
        """Returns the name of an access point, its answer if it gives one, and the size of that in bytes."""
        name = f"{link.peer.site}/{link.peer.node}"
        if not link.knows(Revoked):  # one of an older version knows nothing of orders
            return name, None, 0
        try:
            reply = await self._calls.call(link, ORDER_OP, call.body)
            return name, read_point(reply.body) if not reply.code else None, len(reply.body)
        except (Unavailable, Refused):
            return name, None, 0

    async def close(self) -> None:
        """Gives up what is open. May be called twice."""
        await end_all(self._callers.close)
