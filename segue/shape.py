"""Shapes: the options of a whole cluster of sites, from how many of each role there shall be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from accesspoint.options import AccessPointOptions
from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from infra.kernel.membership import Timing
from infra.runtime.node import LinkTiming
from notification.options import NotificationOptions
from services.presence.options import PresenceOptions

from .process import RoleOptions

SITES: Final = ("sto", "lon", "ash")
# Where doors are, counted from `port_base` (design 9); the sites of one shape lie a hundred ports apart.
CLIENTS: Final = 0
SERVICES: Final = 10
NOTIFICATION: Final = 20
ADMIN: Final = 90
PER_SITE: Final = 100


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Sites, and how many of each role every site has. With `port_base` 0 every door takes a free port.

    There is one notification module, at the first site, and it keeps what it stores in `state`.
    """

    sites: tuple[str, ...] = SITES[:1]
    brokers: int = 1
    aggregators: int = 1
    accesspoints: int = 1
    presence: int = 1
    notification: bool = False
    state: Path = Path("state")
    link: LinkTiming = LinkTiming()
    membership: Timing = Timing()
    host: str = "127.0.0.1"
    port_base: int = 0

    def options(self) -> Iterator[RoleOptions]:
        """The options of every role. Link addresses are names such as "sto/b1", for a network that knows names."""
        rings = {site: _names(site, "b", self.brokers) for site in self.sites}
        for index, site in enumerate(self.sites):
            aggregators, presence = _names(site, "a", self.aggregators), _names(site, "p", self.presence)
            stored = _names(site, "n", int(self.notification and index == 0))
            services = {"presence": list(presence.values()), "notification": list(stored.values())}
            services = {name: addresses for name, addresses in services.items() if addresses}
            for n, slot in enumerate(rings[site]):
                door = self._door(index, SERVICES + n)
                yield BrokerOptions(site=site, slot=slot, sites=rings, door=door, link=self.link, membership=self.membership)
            for node, address in aggregators.items():
                yield AggregatorOptions(site=site, node=node, brokers=rings[site], listen=address, link=self.link)
            for node, address in presence.items():
                yield PresenceOptions(site=site, node=node, brokers=rings[site], listen=address, link=self.link)
            for node, address in stored.items():
                yield NotificationOptions(
                    site=site,
                    node=node,
                    brokers=rings[site],
                    presence=list(presence.values()),
                    listen=address,
                    door=self._door(index, NOTIFICATION),
                    link=self.link,
                    path=self.state,
                )
            for n, node in enumerate(_names(site, "ap", self.accesspoints)):
                yield AccessPointOptions(
                    site=site,
                    node=node,
                    aggregators=list(aggregators.values()),
                    services=services,
                    door=self._door(index, CLIENTS + n),
                    link=self.link,
                )

    def _door(self, site: int, offset: int) -> str:
        return f"{self.host}:{self.port_base + PER_SITE * site + offset if self.port_base else 0}"

    @property
    def admin_port(self) -> int:
        """Where the admin door of the whole process goes."""
        return self.port_base + ADMIN if self.port_base else 0


def _names(site: str, prefix: str, number: int) -> dict[str, str]:
    return {f"{prefix}{n + 1}": f"{site}/{prefix}{n + 1}" for n in range(number)}
