"""The answers of presence to calls: actions are published, questions about users are answered with what all nodes know."""

from collections.abc import Callable, Mapping
from functools import partial

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Reply
from infra.kernel.roles import ACCESSPOINT, NOTIFICATION, PLAYLIST, PRESENCE
from infra.runtime.link import Link

from . import questions
from .core import PresenceCore
from .leases import Leases
from .peers import PresencePeers

# Answers a call on its link, at once or later. Raises Refused.
PresenceAnswer = Callable[[Link, Call], None]


class PresenceAnswers:
    """The answers of one node.

    - `core`: knows the last event of each user.
    - `leases`: knows who is online at the access points of this node.
    - `brokers`: takes events.
    - `peers`: the other nodes, which are asked what they know.
    - `wall`: Unix time in seconds.
    - `now_s`: the time of the links.
    - `settled_s`: when on that clock every access point has had time to link to this node. Before that nobody can be called offline.

    A node that is asked by another one says what it knows itself. All others get what all nodes know.
    """

    def __init__(
        self,
        core: PresenceCore,
        leases: Leases,
        brokers: SiteClient,
        peers: PresencePeers,
        *,
        wall: Callable[[], float],
        now_s: Callable[[], float],
        settled_s: float,
    ) -> None:
        self.refused = self.published = self.asked = 0
        self._core, self._leases, self._brokers, self._peers = core, leases, brokers, peers
        self._wall, self._now_s, self._settled_s = wall, now_s, settled_s
        self.by_role: Mapping[str, Mapping[str, PresenceAnswer]] = {
            ACCESSPOINT: {"act": self._act, "last": self._last},
            NOTIFICATION: {"whereabouts": self._whereabouts},
            PLAYLIST: {"act": self._act},
            PRESENCE: {"last": self._own_last, "whereabouts": self._own_whereabouts},
        }
        """Role of the caller -> op -> what answers it."""

    def is_settled(self) -> bool:
        """Returns whether this node can know by now who is offline."""
        return self._now_s() >= self._settled_s

    def answer(self, link: Link, call: Call) -> None:
        """Answers a call, or says why not."""
        try:
            answer = self.by_role[link.peer.role].get(call.op)
            if answer is None:
                raise Refused("unknown-op", f"presence does not answer {call.op} to a {link.peer.role}")
            answer(link, call)
        except Refused as refused:
            self.refused += 1
            link.send(Reply(call.n, refused.code.name, refused.reason, b""))

    def _act(self, link: Link, call: Call) -> None:
        event = self._core.act(call.user, call.body, int(self._wall() * 1000))
        self._brokers.publish(event, partial(self._acted, link, call.n))

    def _acted(self, link: Link, n: int, ok: bool) -> None:
        """Answers when the owner has the event, or nobody knows: the user's last event is kept either way."""
        self.published += ok
        reason = "" if ok else "no broker took the event; friends may not see it"
        link.send(Reply(n, "" if ok else "unavailable", reason, b""))

    def _own_whereabouts(self, link: Link, call: Call) -> None:
        link.send(Reply(call.n, "", "", self._known_here(call)))

    def _whereabouts(self, link: Link, call: Call) -> None:
        own = self._known_here(call)

        def done(others: list[bytes]) -> None:
            link.send(Reply(call.n, "", "", questions.merge_whereabouts(own, others)))

        self._peers.ask("whereabouts", call.body, self._now_s(), done)

    def _known_here(self, call: Call) -> bytes:
        if not self.is_settled():
            raise Refused("unavailable", "this presence service has just started and does not know yet who is online")
        users = questions.decode_users(call.body)
        self.asked += len(users)
        return self._leases.whereabouts(users, self._now_s())

    def _own_last(self, link: Link, call: Call) -> None:
        tails = self._core.tails(questions.decode_users(call.body))
        link.send(Reply(call.n, "", "", questions.encode_tails(tails)))

    def _last(self, link: Link, call: Call) -> None:
        users, id_ = questions.read_last(call.user, call.body)

        def done(others: list[bytes]) -> None:
            tails = questions.merge_tails(self._core.tails(users), others)
            link.send(Reply(call.n, "", "", questions.answer_last(id_, tails)))

        self._peers.ask("last", questions.encode_users(users), self._now_s(), done)
