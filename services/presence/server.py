"""Presence as a process: access points call it and report who is there; it publishes through the brokers of its site."""

from functools import partial
from typing import Any

from broker.client import SiteClient
from infra.kernel.frames import Hello, View
from infra.kernel.roles import ACCESSPOINT, PRESENCE
from infra.runtime.call_links import AskedLink, AskingLink
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from .answers import PresenceAnswers
from .core import PresenceCore
from .leases import Leases
from .options import PresenceOptions
from .peers import PresencePeers
from .reporter_link import PresenceReporter


class PresenceService:
    """One presence service. `start` listens, `close` ends it."""

    role = PRESENCE

    def __init__(self, options: PresenceOptions, context: Context) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.listen
        self.links = Node((PRESENCE, self.node, self.site), context, self, timing=options.link)
        self.core = PresenceCore(f"{self.links.incarnation:x}", options.max_payload_bytes, options.max_users)
        self.leases = Leases(options.grace_s, options.jitter_s, options.max_users)
        self._brokers = SiteClient(self.links, self.site, options.brokers)
        self._sites = {address: site for site, addresses in options.peers.items() for address in addresses if address != options.listen}
        self._peers = PresencePeers(self._sites, options.peer_s)
        self.answers = PresenceAnswers(
            self.core,
            self.leases,
            self._brokers,
            self._peers,
            wall=context.wall,
            now_s=self._now_s,
            # After a silence of one redial every access point has linked to us, and a heartbeat later it has said who is there.
            settled_s=options.link.redial_cap_s + options.link.heartbeat_s,
        )

    async def start(self) -> None:
        """Listens for access points, then dials brokers and the other nodes. Raises CannotListen if the address is taken."""
        self.address = await self.links.listen(self.options.listen)
        self._brokers.start()
        for address, site in self._sites.items():
            self.links.dial(address, PRESENCE, site)

    async def close(self) -> None:
        """Closes all links. May be called twice."""
        await self.links.close()

    def ready(self) -> str | None:
        """Returns why nothing can be published now; None when it can."""
        return self._brokers.ready()

    def _now_s(self) -> float:
        return self.links.now_s

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns the newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for all but callers of this site, and presence of the sites that we ask too."""
        roles = self.answers.by_role
        sites = {self.site, *self.options.peers} if hello.role == PRESENCE else {self.site}
        if hello.role not in roles or hello.site not in sites:
            raise wrong_peer(hello, f"presence of {self.site}", f"{', '.join(sorted(roles))} of its site")

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a link to a broker or a node that answered, or to somebody who called."""
        if self._brokers.concerns(link):
            return self._brokers.link_up(link)
        if link.dialled is not None:
            peers, address = self._peers, link.dialled
            peers.link_up(address, link)
            return AskedLink(link, partial(peers.reply, address), partial(peers.link_down, address))
        if link.peer.role == ACCESSPOINT:
            return PresenceReporter(link, self.answers, self.leases, self._now_s)
        return AskingLink(link, self.answers.answer)

    def tick(self, now: float) -> None:
        """Goes on without peers that are late, and sweeps leases that have ended."""
        self._peers.tick(now)
        self.leases.tick(now, self.options.link.heartbeat_s)

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        return self.links.loops.counters() | {
            "presence_users": len(self.core.last),
            "presence_online_users": len(self.leases),
            "presence_actions_total": dict(self.core.actions),
            "presence_refused_total": self.answers.refused,
            "presence_published_total": self.answers.published,
            "presence_links": len(self.links.links),
            "presence_leases_refused_total": self.leases.refused,
            "presence_whereabouts_total": self.answers.asked,
            "presence_unanswered_total": self._peers.unanswered,
        }
