"""Options of a presence service."""

from typing import Final

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_numbers
from infra.kernel.roles import PRESENCE

# An answer to `last` with 500 events of this size still fits into a frame of a link.
LARGEST_PAYLOAD_BYTES: Final = 16 << 10


class PresenceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one presence service.

    - `brokers`: slot -> link address of each broker of its site.
    - `peers`: site -> link addresses of all presence services there. Its own address among them is ignored.
    """

    site: str
    node: str
    brokers: dict[str, str]
    peers: dict[str, list[str]] = {}
    listen: str = "127.0.0.1:7821"
    admin: str = "127.0.0.1:7793"
    link: LinkTiming = LinkTiming()
    max_payload_bytes: int = LARGEST_PAYLOAD_BYTES
    max_users: int = 5_000_000
    # How long a user stays online after their last connection; with up to `jitter_s` more if a whole access point was lost.
    grace_s: float = 5.0
    jitter_s: float = 5.0
    # How long peers may take to answer before they count as knowing nobody.
    peer_s: float = 1.0

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('presence.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
        if not 0 < self.max_payload_bytes <= LARGEST_PAYLOAD_BYTES:
            raise ConfigError(f"presence.max_payload_bytes must be from 1 to {LARGEST_PAYLOAD_BYTES}, or answers to last do not fit")
        check_numbers(PRESENCE, self, ("grace_s", "jitter_s"))
        self.link.check_in(PRESENCE)
