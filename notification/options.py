"""Options of a notification module."""

from pathlib import Path
from typing import Literal

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.runtime.cassandra.options import CassandraOptions

from .core import Patience
from .email import EmailOptions
from .push import PushOptions


class NotificationOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One notification module. `brokers` maps each slot of its site to a link address, `presence` lists those of its site.

    `path` is the folder of the SQLite file and of the key for pushes. `rules` is a file of rules; without it the default set
    holds. `public_url` is where browsers and mail programs reach the HTTP door, since mails link to it; empty: the door itself.

    `advertise` is the link address at which other nodes of the module reach this one; empty: `listen`. A node that has not reached
    the store for `lease_s` seconds is dead to the others; it has stopped itself after half of that.
    """

    site: str
    node: str
    brokers: dict[str, str]
    presence: list[str] = []
    listen: str = "127.0.0.1:7822"
    advertise: str = ""
    lease_s: float = 5.0
    door: str = "127.0.0.1:7720"
    admin: str = "127.0.0.1:7794"
    link: LinkTiming = LinkTiming()
    capture: CaptureOptions = CaptureOptions()
    store: Literal["sqlite", "cassandra"] = "sqlite"
    path: Path = Path("state")
    cassandra: CassandraOptions = CassandraOptions()
    retention_days: float = 90.0
    rules: Path | None = None
    patience: Patience = Patience()
    email: EmailOptions | None = None
    push: PushOptions | None = None
    public_url: str = ""
    max_body_bytes: int = 8 << 20

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('notification.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
        check_numbers("notification", self)
        check_numbers("notification.patience", self.patience, ("email_s", "push_s"))
        self.link.check_in("notification")
        for name in ("email_s", "push_s"):
            wait_days, key = getattr(self.patience, name) / 86_400, f"notification.patience.{name} / 86400"
            check_at_least("notification.retention_days", self.retention_days, key, wait_days, "what is to be sent would have expired")
        if not 0 < self.retention_days <= 7300:
            raise ConfigError("notification.retention_days must be over 0 and at most 7300 (20 years)")
        if not 0.2 <= self.lease_s <= 300:
            raise ConfigError("notification.lease_s must be 0.2 to 300 seconds; what a dead node owned waits for so long")
        if self.public_url and not self.public_url.startswith(("http://", "https://")):
            raise ConfigError("notification.public_url must be a URL such as https://notify.example.org")

    @property
    def retention_s(self) -> float:
        """How long what is stored can be pulled."""
        return self.retention_days * 86_400
