"""What operators want of sessions: who is here, who is sent away, what ends, and what everybody is told."""

from collections.abc import Callable
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.json_text import typed
from infra.kernel.orders import AnnounceOrder, Answers, DisconnectOrder, Order, SessionsOrder, UnsubscribeOrder
from infra.kernel.rates import Bucket, Rate, RateRefused
from infra.kernel.topics import Kind, kind_of, parse_topic

from . import operator_answers as bodies
from .operator_request import OperatorRequest, only_one
from .options import BrokerOptions
from .orders import ClusterOrders

MAX_DATA_BYTES: Final = 8 << 10
ENCODE: Final = msgspec.json.Encoder().encode


class OperatorSessions:
    """The sessions of all sites, as one broker has access points find them.

    - `orders`: carries an order to them.
    - `now`: seconds of a clock that never goes back.
    - `new_id()`: returns an id that no other order has.
    """

    def __init__(self, options: BrokerOptions, orders: ClusterOrders, now: Callable[[], float], new_id: Callable[[], str]) -> None:
        self._options, self._orders, self._now, self._new_id = options, orders, now, new_id
        self._announcements = Bucket(Rate(options.announcements_per_minute / 60, options.announcements_per_minute))

    async def sessions(self, asked: OperatorRequest) -> bodies.SessionList:
        """Returns who is here of the user whom the query names."""
        user = _user(asked)
        answers = await self._orders.give(SessionsOrder(self._new_id(), user))
        rows = [row for point in answers.points for row in point.sessions]
        return bodies.SessionList(*_done(answers), listed=rows)

    async def disconnect(self, asked: OperatorRequest) -> bodies.OrderDone:
        """Ends the sessions of a user, or one session. Returns how many there were."""
        request = typed(asked.body, bodies.DisconnectRequest)
        kind, name = only_one(user=request.user, session=request.session)
        asked.on.extend((kind, name))
        return await self._order(DisconnectOrder(self._new_id(), request.user or "", request.session or "", request.may_return))

    async def unsubscribe(self, asked: OperatorRequest) -> bodies.OrderDone:
        """Takes a topic from all sessions of a user. Returns how many sessions had it. Raises `Refused` for an inbox."""
        request = typed(asked.body, bodies.UnsubscribeRequest)
        asked.on.extend(("user", request.user, "topic", request.topic))
        if kind_of(parse_topic(request.topic)) is Kind.INBOX:
            raise Refused("bad-topic", "an inbox belongs to its user's sessions; to end them: disconnect")
        return await self._order(UnsubscribeOrder(self._new_id(), request.user, request.topic))

    async def announce(self, asked: OperatorRequest) -> bodies.OrderDone:
        """Tells everybody at some sites, or at all. Returns how many sessions were told.

        Raises `Refused` for an unknown site and for too much of it, and `RateRefused` if everybody is told something too often.
        """
        request = typed(asked.body, bodies.AnnounceRequest)
        asked.on.extend(request.sites or ["everybody"])
        if unknown := sorted({*request.sites} - {*self._orders.sites}):
            raise Refused("bad-field", f"there is no site {unknown[0]!r:.80}; there are {', '.join(sorted(self._orders.sites))}")
        data = ENCODE(request.data)
        if len(data) > MAX_DATA_BYTES:
            raise Refused("too-large", f"data has {len(data)} bytes, and may have {MAX_DATA_BYTES}")
        if wait_s := self._announcements.allow(self._now()):
            most = self._options.announcements_per_minute
            raise RateRefused(wait_s, f"everybody is told something {most:g} times a minute at most (announcements_per_minute)")
        return await self._order(AnnounceOrder(self._new_id(), request.text, msgspec.Raw(data)), request.sites)

    async def _order(self, order: Order, sites: list[str] | None = None) -> bodies.OrderDone:
        return bodies.OrderDone(*_done(await self._orders.give(order, sites or ())))


def _user(asked: OperatorRequest) -> str:
    """Returns the user whom the query names. Raises `Refused` where it names none."""
    name = asked.query.get("user", "")
    return typed(ENCODE({"user": name}), bodies.LiftRequest).user


def _done(answers: Answers) -> tuple[int, bool, list[str]]:
    return sum(point.done for point in answers.points), bool(answers.missing), answers.missing
