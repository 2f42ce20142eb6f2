"""Options of a broker. Every default is here; units are in the names."""

from operator import attrgetter
from pathlib import Path
from typing import Final

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.kernel.link_timing import LinkTiming
from infra.kernel.membership import Timing
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.origins import check_origins
from infra.kernel.places import VisitorLimits
from infra.kernel.ring import POINTS
from infra.kernel.topics import Kind
from infra.runtime.link import MAX_BYTES, MAX_QUEUED_BYTES, check_bounds

from .forwarder import MAX_WAITING_BYTES
from .handover import MAX_HELD_BYTES
from .overload_options import OverloadOptions
from .window_bounds import DEFAULT_WINDOWS, WindowBounds, check_windows

# An epoch is a time in ms and, in its last bits, a slot. More bits would soon make numbers that JavaScript cannot hold (2^53).
SLOT_BITS: Final = 8
MAX_SLOTS: Final = 1 << SLOT_BITS
# So much more memory than text the smallest events take while they wait.
WAITING_SHARE: Final = 8
# The first must be at least so many times the second, or what is said would happen.
CONTRADICTIONS: Final = (
    ("max_forward_bytes", "max_body_bytes", WAITING_SHARE, "some requests could never pass"),
    ("max_handover_bytes", "max_body_bytes", WAITING_SHARE, "some requests could never pass"),
    ("max_body_bytes", "max_payload_bytes", 1, "a payload that is small enough would come in a request that is too large"),
    ("membership.dead_s", "membership.suspect_s", 1, "a broker would be dead before it is suspected"),
    ("membership.suspect_s", "link.heartbeat_s", 2, "one heartbeat that is late would cost a broker its topics"),
    ("membership.grace_s", "link.redial_cap_s", 1.25, "a broker that comes back would own topics before all others have found it"),
    ("drain_s", "handover_s", 1, "a broker that is stopped would be gone while its successor still holds events back"),
)


class BrokerOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one broker.

    - `sites`: names every broker there is: site -> slot -> link address, the same in each broker's file.
    - `state`: the folder where it keeps revocations and bans. Without it, they are forgotten when all brokers have been restarted.
    - `longest_token_s`: no token lives longer. A revocation is kept for so long unless it says something else.
    - `announcements_per_minute`: how often operators may tell everybody something by this broker.
    - `overload`: what is done when a link to another site has more to do than it can.
    - `window`: the kinds of topics whose last events are kept, and within which bounds. A file that has one such table has them all.
    """

    site: str
    slot: str
    sites: dict[str, dict[str, str]]
    door: str = "127.0.0.1:7710"
    admin: str = "127.0.0.1:7791"
    state: Path | None = None
    longest_token_s: float = 30 * 86_400.0
    announcements_per_minute: float = 6.0
    link: LinkTiming = LinkTiming()
    capture: CaptureOptions = CaptureOptions()
    membership: Timing = Timing()
    max_payload_bytes: int = 16 << 10
    max_body_bytes: int = 1 << 20
    max_events_per_request: int = 1_000
    # What one service may publish over HTTP here, and what all may publish on one topic; after a pause twice as much at once.
    max_events_per_s: float = 20_000.0
    max_topic_events_per_s: float = 2_000.0
    max_connections: int = 10_000
    visitors: VisitorLimits = VisitorLimits()
    # Pages of which origins may ask over HTTP; see `may_connect`.
    allowed_origins: list[str] = []
    max_link_queue_bytes: int = MAX_QUEUED_BYTES
    max_link_bytes: int = MAX_BYTES
    max_forward_bytes: int = MAX_WAITING_BYTES
    max_handover_bytes: int = MAX_HELD_BYTES
    handover_s: float = 1.0
    # In how many steps a broker that comes to the ring, or leaves it, gets its part or gives it up; in up to 32 where topics are many and
    # nobody is asked to stop (docs/ring.md). With 1 that is done at once; with 0, who comes has no part before it is in a plan.
    join_steps: int = 8
    drain_s: float = 5.0
    window_bytes: int = 64 << 20
    window: dict[Kind, WindowBounds] = msgspec.field(default_factory=DEFAULT_WINDOWS.copy)
    overload: OverloadOptions = OverloadOptions()

    @property
    def node(self) -> str:
        """The name of this broker: its slot."""
        return self.slot

    @property
    def listen(self) -> str:
        """The address at which this broker takes links."""
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
        self._check_how_many()
        check_numbers("broker", self, ("handover_s", "drain_s", "join_steps"))
        if self.join_steps > POINTS:
            raise ConfigError(
                f"broker.join_steps is {self.join_steps}, but a share of the ring has {POINTS} points: write {POINTS} or less"
            )
        check_numbers("broker.membership", self.membership)
        self.link.check_in("broker")
        self.visitors.check_in("broker")
        check_origins("broker.allowed_origins", self.allowed_origins)
        check_bounds("broker", self.max_link_queue_bytes, self.max_link_bytes)
        for key, other, times, why in CONTRADICTIONS:
            value, least = attrgetter(key)(self), attrgetter(other)(self)
            check_at_least(f"broker.{key}", value, f"broker.{other}", least, why, times)
        self.overload.check_in_broker(self.max_link_queue_bytes, self.max_payload_bytes)
        check_windows("broker", self.window, self.window_bytes, self.max_payload_bytes, len(self.sites[self.site]))

    def _check_how_many(self) -> None:
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
