"""Options of an access point."""

from typing import Final

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.roles import ARTIST, DECISION, NOTIFICATION, PLAYLIST, PRESENCE, SOCIAL

# The links of the decision service are not for calls of clients.
SERVICES: Final = (PRESENCE, NOTIFICATION, PLAYLIST, ARTIST, SOCIAL, DECISION)
# The first must be at least so many times the second, or what is said would happen.
CONTRADICTIONS: Final = (
    # Each client is looked at once in half a `ping_s`.
    ("silent_s", "ping_s", 2, "quiet clients would be cut off before they are asked, or could answer"),
    ("silent_s", "stalled_s", 1, "clients that do not read would be taken for silent before they are too slow"),
    ("max_calls_bytes", "max_message_bytes", 1, "some requests could never be relayed"),
)


class AccessPointOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one access point. Every default is here; units are in the names.

    - `aggregators`: link addresses; it uses one of them at a time.
    - `services`: the name of a service (`SERVICES`) -> its link addresses: presence of this site, the others of any. Without
      "notification" sessions have no inbox.
    """

    site: str
    node: str
    aggregators: list[str]
    services: dict[str, list[str]] = {}
    door: str = "127.0.0.1:7700"
    admin: str = "127.0.0.1:7790"
    link: LinkTiming = LinkTiming()
    capture: CaptureOptions = CaptureOptions()
    reuse_port: bool = False
    # How much may wait while it goes from one aggregator to another; beyond it that ends at once.
    move_bytes: int = 16 << 20
    # What a client may do.
    max_connections: int = 250_000
    max_message_bytes: int = 256 << 10
    max_topics_per_message: int = 2_000
    max_topics: int = 10_000
    max_messages_per_s: int = 200
    hello_s: float = 10.0
    # How long an answer may take before it says less: `partial`, or an error.
    install_s: float = 2.0
    call_s: float = 5.0
    max_calls: int = 10_000
    max_calls_bytes: int = 64 << 20
    # Catching up: in what time all sessions are pulled for after a break, and how many a second at most.
    catch_up_s: float = 12.0
    catch_up_per_s: float = 2_000.0
    # Silence: a ping after `ping_s`, the end after `silent_s`.
    ping_s: float = 30.0
    silent_s: float = 75.0
    # Slowness: kernel buffer, our buffer, what is kept beyond both, and for how long.
    send_buffer_bytes: int = 64 << 10
    write_buffer_bytes: int = 64 << 10
    outbox_bytes: int = 256 << 10
    stalled_s: float = 10.0
    # Draining: how many clients are sent away a second, and how long they are asked to wait at most.
    drain_per_s: float = 500.0
    drain_s: float = 30.0
    reconnect_within_ms: int = 5_000

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.aggregators:
            raise ConfigError('accesspoint.aggregators is empty; name at least one link address, such as ["127.0.0.1:7801"]')
        if len(self.aggregators) > MAX_LINKS:
            raise ConfigError(
                f"accesspoint.aggregators names {len(self.aggregators)}, but no broker takes more than {MAX_LINKS}: name fewer"
            )
        if strange := sorted(set(self.services) - set(SERVICES)):
            raise ConfigError(f"accesspoint.services names {strange[0]}; there are {', '.join(SERVICES)}")
        check_numbers("accesspoint", self, ("install_s", "move_bytes", "write_buffer_bytes", "reconnect_within_ms"))
        self.link.check_in("accesspoint")
        for key, other, times, why in CONTRADICTIONS:
            check_at_least(f"accesspoint.{key}", getattr(self, key), f"accesspoint.{other}", getattr(self, other), why, times)
        why = "clients would not be sent away in that time"
        check_at_least("accesspoint.drain_s", self.drain_s, "1 / accesspoint.drain_per_s", 1 / self.drain_per_s, why)
