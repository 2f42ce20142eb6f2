"""Options of a notification module."""

from pathlib import Path
from typing import Literal

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.origins import check_origins
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.http.web_limits import WebLimits

from .core import Patience
from .email import EmailOptions
from .push import PushOptions
from .webhook_caller import WebhookOptions


class NotificationOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one node of the notification module.

    - `brokers`: maps each slot of its site to a link address; `presence` lists the link addresses of presence nodes.
    - `listen`: the link address of this node; other nodes of the module reach it at `advertise` (empty: `listen`).
    - `lease_s`: a node that has not reached the store for so many seconds is dead to the others. It stops itself after half of that.
    - `door`: the address of the HTTP handlers. Browsers and mail programs reach them at `public_url`, since mails link to it;
      empty: at `door`.
    - `path`: the folder of the SQLite file and of the keys.
    - `retention_days`: how long what is stored can be pulled.
    - `webhook`: how many endpoints a user may name, and how they are called.
    - `web`: the limits of HTTP connections and requests.
    - `allowed_origins`: pages of which origins may ask over HTTP; see `may_connect`.
    - `rules`: a file of rules; without it the default set holds.
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
    webhook: WebhookOptions = WebhookOptions()
    public_url: str = ""
    max_body_bytes: int = 8 << 20
    web: WebLimits = WebLimits()
    allowed_origins: list[str] = []

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('notification.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
        check_numbers("notification", self)
        check_numbers("notification.patience", self.patience, ("email_s", "push_s"))
        self.link.check_in("notification")
        self.web.check_in("notification.web")
        check_origins("notification.allowed_origins", self.allowed_origins)
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
        """The time for which what is stored can be pulled, in seconds."""
        return self.retention_days * 86_400
