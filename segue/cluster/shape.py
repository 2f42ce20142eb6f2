"""Shapes: how many of each role a cluster of sites has, and the options that follow from it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from accesspoint.authorization.arbiter import Policy
from accesspoint.options import AccessPointOptions
from aggregator.options import AggregatorOptions
from analytics.offloading.plan import PlanOptions
from broker.options import BrokerOptions
from infra.kernel.capture_options import CaptureOptions
from infra.kernel.link_timing import LinkTiming
from infra.kernel.membership import Timing
from infra.kernel.places import VisitorLimits
from infra.kernel.roles import SOCIAL
from infra.runtime.address import Address
from infra.runtime.cassandra.options import CassandraOptions
from notification.core import Patience
from notification.email import EmailOptions
from notification.options import NotificationOptions
from services.artist.options import ArtistOptions
from services.decision.options import DecisionOptions
from services.playlist.options import PlaylistOptions
from services.presence.options import PresenceOptions
from services.social.options import SocialOptions

from .role_spec import RoleOptions
from .roles import ROLES, role_of

SITES: Final = ("sto", "lon", "ash")
# The ports of doors, counted from `port_base` (design 9). The sites of one shape lie a hundred ports apart.
CLIENTS: Final = 0
SERVICES: Final = 10
NOTIFICATION: Final = 20
MAIL: Final = 25
STORING: Final = {"playlist": 30, "social": 31, "artist": 32}
PAGE: Final = 80
ADMIN: Final = 90
DECISION_NODE: Final = "decision1"
PER_SITE: Final = 100
# All who connect to a laptop are on it, so their address tells nobody apart.
LAPTOP: Final = VisitorLimits(new_per_s=10_000.0, proxies=["127.0.0.0/8", "::1"])


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of a cluster.

    - `sites`: its sites.
    - `brokers`, `aggregators`, `accesspoints`, `presence`: how many of them every site has.
    - `decision`: what the decision service at the first site decides on. None: there is no such service.
    - `policy`: who may see what. None: the social service says it if there is one, else everybody sees everything.
    - `notification`: how many notification modules there are. They are dealt to the sites in turn, and serve clients of every site.
    - `services`: some of `STORING`. Each runs once, at the first site, and serves clients of every site.
    - `state`: the folder where they keep what they store.
    - `broker_state`: the folder where brokers keep what was revoked. None: in memory.
    - `store`, `cassandra`: where they store, and where the Cassandra server is.
    - `catalogue`: the file that the artist service reads.
    - `capture`: where roles that capture write the workload; the same for all.
    - `email`, `patience`: how notification modules send mails, and how long mails and pushes wait.
    - `link`, `membership`: the times of links and views.
    - `host`, `port_base`: where doors are. With `port_base` 0 every door takes a free port.
    """

    sites: tuple[str, ...] = SITES[:1]
    brokers: int = 1
    aggregators: int = 1
    accesspoints: int = 1
    presence: int = 1
    decision: PlanOptions | None = None
    policy: Policy | None = None
    notification: int = 0
    services: tuple[str, ...] = ()
    state: Path = Path("state")
    broker_state: Path | None = None
    store: Literal["sqlite", "cassandra"] = "sqlite"
    cassandra: CassandraOptions = CassandraOptions()
    catalogue: str = "catalogue.jsonl"
    capture: CaptureOptions = CaptureOptions()
    email: EmailOptions | None = None
    patience: Patience = Patience()
    link: LinkTiming = LinkTiming()
    membership: Timing = Timing()
    host: str = "127.0.0.1"
    port_base: int = 0

    def options(self) -> Iterator[RoleOptions]:
        """Yields the options of every role. Link addresses are names such as "sto/b1", for a network that knows names."""
        options: Any
        for options in self._roles():
            yield msgspec.structs.replace(options, capture=self.capture) if ROLES[role_of(options)].captures else options

    def _roles(self) -> Iterator[RoleOptions]:
        for index, site in enumerate(self.sites):
            yield from self._engine(index, site)
            yield from self._stored(index, site)
        for service in self.services:
            yield self._service(service)
        if self.decision is not None:
            yield DecisionOptions(
                site=self.sites[0],
                node=DECISION_NODE,
                sites=self._all_brokers(),
                plan=self.decision,
                listen=self._address(DECISION_NODE),
                link=self.link,
            )

    def _engine(self, index: int, site: str) -> Iterator[RoleOptions]:
        aggregators, presence = _names(site, "a", self.aggregators), _names(site, "p", self.presence)
        for n, slot in enumerate(self._brokers(site)):
            door = self._door(index, SERVICES + n)
            yield BrokerOptions(
                site=site,
                slot=slot,
                sites=self._all_brokers(),
                door=door,
                state=self.broker_state,
                allowed_origins=self._allowed_origins,
                link=self.link,
                membership=self.membership,
                visitors=LAPTOP,
            )
        for node, address in aggregators.items():
            yield AggregatorOptions(site=site, node=node, brokers=self._brokers(site), listen=address, link=self.link)
        for node, address in presence.items():
            others = {each: list(_names(each, "p", self.presence).values()) for each in self.sites}
            peers = {each: [other for other in nodes if other != address] for each, nodes in others.items()}
            peers = {each: nodes for each, nodes in peers.items() if nodes}
            yield PresenceOptions(site=site, node=node, brokers=self._brokers(site), listen=address, link=self.link, peers=peers)
        for n, node in enumerate(_names(site, "ap", self.accesspoints)):
            yield AccessPointOptions(
                site=site,
                node=node,
                aggregators=list(aggregators.values()),
                services=self._serving(site),
                door=self._door(index, CLIENTS + n),
                link=self.link,
                policy=self.effective_policy,
                visitors=LAPTOP,
                allowed_origins=self._allowed_origins,
            )

    @property
    def _allowed_origins(self) -> list[str]:
        """Of what browsers open as a file, such as examples/follow.html, they say that its origin is "null"."""
        return ["null"] if Address(self.host, 0).is_loopback else []

    @property
    def effective_policy(self) -> Policy:
        """What decides who may see what."""
        return self.policy or ("social" if SOCIAL in self.services else "open")

    def _serving(self, site: str) -> dict[str, list[str]]:
        """Returns who answers the calls of a site's clients: service -> addresses."""
        presence, notification = list(_names(site, "p", self.presence).values()), [name for _, name in self._notification()]
        decision = [self._address(DECISION_NODE)] if self.decision is not None else []
        storing = {each: [self._address(f"{each}1")] for each in self.services}
        serving = {"presence": presence, "notification": notification, **storing, "decision": decision}
        return {name: addresses for name, addresses in serving.items() if addresses}

    def _notification(self) -> list[tuple[str, str]]:
        """Returns the site and the name of each notification node."""
        dealt = [(self.sites[n % len(self.sites)], 1 + n // len(self.sites)) for n in range(self.notification)]
        return [(site, f"{site}/n{number}") for site, number in dealt]

    def _stored(self, index: int, site: str) -> Iterator[RoleOptions]:
        mine = [address for where, address in self._notification() if where == site]
        for n, address in enumerate(mine):
            yield NotificationOptions(
                site=site,
                node=address.partition("/")[2],
                brokers=self._brokers(site),
                presence=list(_names(site, "p", self.presence).values()),
                listen=address,
                door=self._door(index, NOTIFICATION + n),
                link=self.link,
                allowed_origins=self._allowed_origins,
                store=self.store,
                cassandra=self.cassandra,
                path=self.state,
                email=self.email,
                patience=self.patience,
            )

    def _service(self, service: str) -> RoleOptions:
        site = self.sites[0]
        shared: dict[str, Any] = {
            "site": site,
            "node": f"{service}1",
            "listen": self._address(f"{service}1"),
            "door": self._door(0, STORING[service]),
            "notification": [address for _, address in self._notification()],
            "link": self.link,
            "allowed_origins": self._allowed_origins,
            "store": self.store,
            "cassandra": self.cassandra,
            "path": str(self.state),
        }
        peers = {each: [self._address(f"{each}1")] for each in self.services}
        match service:
            case "playlist":
                presence = list(_names(site, "p", self.presence).values())
                return PlaylistOptions(brokers=self._brokers(site), presence=presence, social=peers.get("social", []), **shared)
            case "social":
                return SocialOptions(brokers=self._brokers(site), playlist=peers.get("playlist", []), **shared)
            case _:
                return ArtistOptions(brokers=self._brokers(site), catalogue=self.catalogue, **shared)

    def _address(self, node: str) -> str:
        return f"{self.sites[0]}/{node}"

    def _all_brokers(self) -> dict[str, dict[str, str]]:
        return {site: self._brokers(site) for site in self.sites}

    def _brokers(self, site: str) -> dict[str, str]:
        return _names(site, "b", self.brokers)

    def _door(self, site: int, offset: int) -> str:
        return f"{self.host}:{self.port_base + PER_SITE * site + offset if self.port_base else 0}"

    @property
    def admin_port(self) -> int:
        """The port of the admin door of the whole process."""
        return self._port(ADMIN)

    @property
    def page_port(self) -> int:
        """The port of the first page."""
        return self._port(PAGE)

    @property
    def mail_port(self) -> int:
        """The port of the mail server that keeps all mails, where there is one."""
        return self._port(MAIL)

    def _port(self, offset: int) -> int:
        return self.port_base + offset if self.port_base else 0


def _names(site: str, prefix: str, number: int) -> dict[str, str]:
    return {f"{prefix}{n + 1}": f"{site}/{prefix}{n + 1}" for n in range(number)}
