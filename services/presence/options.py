"""Options of a presence service."""

import msgspec

from infra.kernel.errors import ConfigError
from infra.runtime.node import LinkTiming


class PresenceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One presence service. `brokers` maps each slot of its site to a link address."""

    site: str
    node: str
    brokers: dict[str, str]
    listen: str = "127.0.0.1:7821"
    admin: str = "127.0.0.1:7793"
    link: LinkTiming = LinkTiming()
    max_payload_bytes: int = 16 << 10
    max_users: int = 5_000_000

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('presence.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
