"""What an operator orders: who is here, who is sent away, what is told to everybody. Pure."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from infra.kernel import orders
from infra.kernel.errors import Refused, SentAway
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import Call, Reply
from infra.kernel.http_error import described
from infra.kernel.recent import Recent
from infra.kernel.topics import Kind, format_topic, kind_of, parse_topic

from . import messages
from .authorization.gatekeeper import Gatekeeper
from .hub import SLICE, Hub
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser
from .soon import Soon, in_slices

# An order may come twice, by two aggregators. One that changes something is done once, and answered twice.
REMEMBERED: Final = 256


class Orders:
    """The orders to one access point, and what was answered to the last ones.

    - `point`: its site and its name, such as "sto/ap1".
    - `ready`: the sessions that have said hello, by id, so that nobody has to look for one; `users`, `hub`: whose they are, and what
      they follow.
    - `gatekeeper`: ends what they follow.
    - `soon(step)`: has a step called in the next turn of the loop.
    """

    def __init__(
        self, point: str, ready: Mapping[str, Session], hub: Hub, users: SessionsByUser, gatekeeper: Gatekeeper, soon: Soon
    ) -> None:
        self._point, self._ready, self._hub, self._users = point, ready, hub, users
        self._gatekeeper, self._soon = gatekeeper, soon
        self._done = Recent[str, bytes](REMEMBERED)

    def reply(self, call: Call, wall_s: float) -> Reply:
        """Returns the reply to a `call` with an order, which is obeyed now, at the Unix time `wall_s`."""
        try:
            if call.op != orders.ORDER_OP:
                raise Refused("unknown-op", f"there is no {call.op} here")
            return Reply(call.n, "", "", self.obey(call.body, wall_s))
        except Refused as refused:
            return Reply(call.n, refused.code.name, refused.reason, b"")

    def obey(self, body: bytes, wall_s: float) -> bytes:
        """Does what the order in `body` says, at the Unix time `wall_s`, and returns the answer. Raises `Refused` for what is none."""
        order = orders.read_order(body)
        if isinstance(order, orders.SessionsOrder):  # it changes nothing, and its answer may be long
            return orders.body_of(self._answer(order, wall_s))
        answer = self._done.take(order.id) or orders.body_of(self._answer(order, wall_s))
        self._done.add(order.id, answer)
        return answer

    def _answer(self, order: orders.Order, wall_s: float) -> orders.PointAnswer:
        match order:
            case orders.SessionsOrder(user=user):
                found = list(self._users.of(user))
                return orders.PointAnswer(self._point, len(found), [self._row(each) for each in found[: orders.SESSIONS_TOLD]])
            case orders.DisconnectOrder():
                return orders.PointAnswer(self._point, self._disconnect(order))
            case orders.UnsubscribeOrder():
                return orders.PointAnswer(self._point, self._unsubscribe(order))
            case orders.AnnounceOrder():
                return orders.PointAnswer(self._point, self._announce(order, wall_s))

    def _row(self, session: Session) -> orders.SessionRow:
        topics = [topic for topic in self._hub.held(session) if kind_of(topic) is not Kind.INBOX]
        site, _, node = self._point.partition("/")
        return orders.SessionRow(
            user=session.user,
            session=session.id,
            site=site,
            node=node,
            client=session.client,
            device="mobile" if session.mobile else "desktop",
            since_ms=int(session.since_s * 1000),
            token_id=session.token_id,
            topic_count=len(topics),
            topics=[format_topic(topic) for topic in topics[: orders.TOPICS_TOLD]],
            waiting_bytes=session.outbox.size_bytes if session.outbox is not None else 0,
        )

    def _disconnect(self, order: orders.DisconnectOrder) -> int:
        one = self._ready.get(order.session)
        found = list(self._users.of(order.user)) if order.user else [one] if one is not None else []
        for_every_one(partial(_send_away, session, order.may_return) for session in found)
        return len(found)

    def _unsubscribe(self, order: orders.UnsubscribeOrder) -> int:
        topic = parse_topic(order.topic)
        holding = [session for session in self._users.of(order.user) if self._hub.holds(session, topic)]
        refused = Refused("forbidden", "an operator has ended this subscription")
        ended = messages.ended([(order.topic, described(refused))])
        for session in holding:
            self._gatekeeper.unsubscribe(session, [topic])
            session.say(ended)
        return len(holding)

    def _announce(self, order: orders.AnnounceOrder, wall_s: float) -> int:
        message = messages.announcement(order.text, order.data, int(wall_s * 1000))
        everybody = list(self._ready.values())
        count = len(everybody)
        in_slices(everybody, SLICE, self._soon, partial(_say, message))
        return count


def _send_away(session: Session, may_return: bool) -> None:
    session.end(Refused("disconnected") if may_return else SentAway())


def _say(message: bytes, session: Session) -> None:
    if session.state is SessionState.READY:
        session.say(message)
