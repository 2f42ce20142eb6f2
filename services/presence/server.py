"""Presence as a process: access points call it and tell it who is there, it publishes through the brokers of its site."""

from functools import partial
from typing import Any, Final

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Call, Gone, Heartbeat, Hello, Here, Reply, View
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from . import questions
from .core import PresenceCore
from .leases import Leases
from .options import PresenceOptions
from .peers import Peers

ROLE: Final = "presence"
# Which peer may ask what.
OPS: Final = {
    "accesspoint": frozenset({"act", "last"}),
    "notification": frozenset({"whereabouts"}),
    "playlist": frozenset({"act"}),
    ROLE: frozenset({"last", "whereabouts"}),
}


class PresenceService:
    """One presence service. `start` opens its door, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: PresenceOptions,
        context: Context,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.listen
        self.refused = self.published = self.asked = 0
        self._wall = context.wall
        self.links = Node((ROLE, self.node, self.site), context, self, timing=options.link)
        self.core = PresenceCore(f"{self.links.incarnation:x}", options.max_payload_bytes, options.max_users)
        self.leases = Leases(options.grace_s, options.jitter_s, options.max_users)
        self._brokers = SiteClient(self.links, self.site, options.brokers)
        sites = {address: site for site, addresses in options.peers.items() for address in addresses if address != options.listen}
        self._sites = sites
        self._peers = Peers(sites, options.peer_s)
        # Before every access point has had time to link to us and to say who is there, we do not know who is offline.
        self._settled_s = options.link.redial_cap_s + options.link.heartbeat_s

    async def start(self) -> None:
        """Listens for access points, then dials brokers and peers. Raises CannotListen if the address is taken."""
        self.address = await self.links.listen(self.options.listen)
        self._brokers.start()
        for address, site in self._sites.items():
            self.links.dial(address, ROLE, site)

    async def close(self) -> None:
        """Close all links."""
        await self.links.close()

    def ready(self) -> str | None:
        """Why nothing can be published now; None when it can."""
        return self._brokers.ready()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points, the notification module and playlists of this site; presence of the sites that we ask too."""
        sites = {self.site, *self.options.peers} if hello.role == ROLE else {self.site}
        if hello.role not in OPS or hello.site not in sites:
            raise wrong_peer(hello, f"presence of {self.site}", f"{', '.join(sorted(OPS))} of its site")

    def link_up(self, link: Link) -> LinkHandler:
        """A broker or a peer answered, or somebody called."""
        if self._brokers.concerns(link):
            self._brokers.link_up(link)
        elif link.dialled is not None:
            self._peers.link_up(link.dialled, link)
        elif link.peer.role == "accesspoint":
            self.leases.link_up(link.peer.node)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone."""
        if self._brokers.concerns(link):
            self._brokers.link_down(link)
        elif link.dialled is not None:
            self._peers.link_down(link.dialled)
        elif link.peer.role == "accesspoint":
            self.leases.link_down(link.peer.node, self.links.now_s)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Calls, who has come and gone at access points, answers of peers, acknowledgements from brokers."""
        if self._brokers.concerns(link):
            self._brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call() if link.dialled is None:
                    self._call(link, frame)
                case Here() | Gone() if link.peer.role == "accesspoint":
                    self._note(link.peer.node, frame)
                case Reply() if link.dialled is not None:
                    self._peers.reply(link.dialled, frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense here")

    def _note(self, point: str, frame: Here | Gone) -> None:
        now_s = self.links.now_s
        if isinstance(frame, Here):
            for user, client, devices in zip(frame.users, frame.clients, frame.devices, strict=True):
                self.leases.grant(point, user, client, devices, now_s)
        else:
            for user, client in zip(frame.users, frame.clients, strict=True):
                self.leases.release(point, user, client, now_s)

    def _call(self, link: Link, call: Call) -> None:
        try:
            if call.op not in OPS[link.peer.role]:
                raise Refused("unknown-op", f"presence does not answer {call.op} to a {link.peer.role}")
            match call.op:
                case "act":
                    self._act(link, call)
                case "last":
                    self._last(link, call)
                case _:
                    self._whereabouts(link, call)
        except Refused as refused:
            self.refused += 1
            link.send(Reply(call.n, refused.code.name, refused.reason, b""))

    # Actions.

    def _act(self, link: Link, call: Call) -> None:
        event = self.core.act(call.user, call.body, int(self._wall() * 1000))
        self._brokers.publish(event, partial(self._done, link, call.n))

    def _done(self, link: Link, n: int, ok: bool) -> None:
        """The owner has the event, or nobody knows: the user's own last event is kept either way."""
        self.published += ok
        reason = "" if ok else "no broker took the event; friends may not see it"
        link.send(Reply(n, "" if ok else "unavailable", reason, b""))

    # Questions. A peer gets what we know; all others what our peers know as well.

    def _whereabouts(self, link: Link, call: Call) -> None:
        if self.links.now_s < self._settled_s:
            raise Refused("unavailable", "this presence service has just started and does not know yet who is online")
        users = questions.decode_users(call.body)
        self.asked += len(users)
        own = self.leases.whereabouts(users, self.links.now_s)
        if link.peer.role == ROLE:
            link.send(Reply(call.n, "", "", own))
            return

        def done(others: list[bytes]) -> None:
            link.send(Reply(call.n, "", "", questions.merge_whereabouts(own, others)))

        self._peers.ask("whereabouts", call.body, self.links.now_s, done)

    def _last(self, link: Link, call: Call) -> None:
        if link.peer.role == ROLE:
            link.send(Reply(call.n, "", "", questions.encode_tails(self.core.tails(questions.decode_users(call.body)))))
            return
        users, id_ = questions.read_last(call.user, call.body)

        def done(others: list[bytes]) -> None:
            tails = questions.merge_tails(self.core.tails(users), others)
            link.send(Reply(call.n, "", "", questions.answer_last(id_, tails)))

        self._peers.ask("last", questions.encode_users(users), self.links.now_s, done)

    def tick(self, now: float) -> None:
        """Heartbeat interval: peers that are late, leases that have ended."""
        self._peers.tick(now)
        self.leases.tick(now, self.options.link.heartbeat_s)

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        return self.links.loops.counters() | {
            "presence_users": len(self.core.last),
            "presence_online_users": len(self.leases),
            "presence_actions_total": dict(self.core.actions),
            "presence_refused_total": self.refused,
            "presence_published_total": self.published,
            "presence_links": len(self.links.links),
            "presence_leases_refused_total": self.leases.refused,
            "presence_whereabouts_total": self.asked,
            "presence_unanswered_total": self._peers.unanswered,
        }
