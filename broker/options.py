"""Options of a broker. Every default is here; units are in the names."""

from typing import Final

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.kernel.membership import Timing
from infra.runtime.capture_options import CaptureOptions
from infra.runtime.link import MAX_BYTES, MAX_QUEUED_BYTES, check_bounds
from infra.runtime.node import LinkTiming

from .forwarder import MAX_WAITING_BYTES
from .handover import MAX_HELD_BYTES

# An epoch is a time in ms and, in its last bits, a slot. More bits would soon make numbers that JavaScript cannot hold (2^53).
SLOT_BITS: Final = 8
MAX_SLOTS: Final = 1 << SLOT_BITS
# So much more memory than text the smallest events take while they wait.
WAITING_SHARE: Final = 8


class BrokerOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One broker. `sites` names every broker there is: site -> slot -> link address, the same in each broker's file."""

    site: str
    slot: str
    sites: dict[str, dict[str, str]]
    door: str = "127.0.0.1:7710"
    admin: str = "127.0.0.1:7791"
    link: LinkTiming = LinkTiming()
    capture: CaptureOptions = CaptureOptions()
    membership: Timing = Timing()
    max_payload_bytes: int = 16 << 10
    max_body_bytes: int = 1 << 20
    max_connections: int = 10_000
    max_link_queue_bytes: int = MAX_QUEUED_BYTES
    max_link_bytes: int = MAX_BYTES
    max_forward_bytes: int = MAX_WAITING_BYTES
    max_handover_bytes: int = MAX_HELD_BYTES
    handover_s: float = 1.0
    drain_s: float = 5.0

    @property
    def listen(self) -> str:
        """Where this broker takes links."""
        return self.sites[self.site][self.slot]

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if self.site not in self.sites:
            raise ConfigError(f"broker.site is {self.site!r}, but broker.sites names {', '.join(sorted(self.sites)) or 'none'}")
        if self.slot not in self.sites[self.site]:
            raise ConfigError(f"broker.slot is {self.slot!r}, but broker.sites.{self.site} has {', '.join(sorted(self.sites[self.site]))}")
        slots = {site: sorted(brokers) for site, brokers in self.sites.items()}
        odd = [site for site in slots if slots[site] != slots[self.site]]
        if odd:
            same = ", ".join(slots[self.site])
            raise ConfigError(f"the ring is the same at every site: broker.sites.{odd[0]} must have the slots {same}")
        self._check_numbers()
        check_bounds("broker", self.max_link_queue_bytes, self.max_link_bytes)
        for name in ("max_forward_bytes", "max_handover_bytes"):
            if getattr(self, name) < WAITING_SHARE * self.max_body_bytes:
                raise ConfigError(f"broker.{name} must be at least {WAITING_SHARE} times max_body_bytes, or some requests can never pass")
        if not self.membership.suspect_s <= self.membership.dead_s:
            raise ConfigError("broker.membership.suspect_s must not be over dead_s")
        if self.link.redial_cap_s >= self.membership.grace_s:
            raise ConfigError("broker.membership.grace_s must be over link.redial_cap_s, or a broker that comes back owns topics too early")
        if self.link.heartbeat_s * 2 > self.membership.suspect_s:
            raise ConfigError("broker.membership.suspect_s must be at least two heartbeats (broker.link.heartbeat_s)")

    def _check_numbers(self) -> None:
        """Raises ConfigError when there are more brokers than can be told apart, or than can subscribe here."""
        slots = len(self.sites[self.site])
        if slots > MAX_SLOTS:
            raise ConfigError(f"broker.sites.{self.site} has {slots} slots, a site can have {MAX_SLOTS}: name fewer, larger brokers")
        far = slots * (len(self.sites) - 1)
        if far >= MAX_LINKS:
            raise ConfigError(
                f"broker.sites names {far} brokers of other sites, and each of them subscribes here; a broker takes at most {MAX_LINKS} "
                "subscribing links, those of its own aggregators among them: name fewer slots"
            )
