"""Options that every publisher service with a store has."""

from typing import ClassVar, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_numbers
from infra.kernel.origins import check_origins
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.http.web_limits import WebLimits


class ServiceOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options that all services with a store have in common.

    - `notification`: the URLs of notification intakes, such as "http://127.0.0.1:7720". They are tried in turn.
    - `path`: the folder of the SQLite file.
    - `web`: the limits of HTTP connections and requests.
    - `allowed_origins`: pages of which origins may ask over HTTP; see `may_connect`.
    - `node`: with `store` "cassandra" this name must outlive the process: what the node has promised to others is kept under it.
    """

    role: ClassVar[str]
    site: str
    node: str
    listen: str
    door: str
    admin: str
    notification: list[str]
    link: LinkTiming = LinkTiming()
    store: Literal["sqlite", "cassandra"] = "sqlite"
    path: str = "state"
    cassandra: CassandraOptions = CassandraOptions()
    max_body_bytes: int = 2 << 20
    web: WebLimits = WebLimits()
    allowed_origins: list[str] = []
    max_followed: int = 10_000

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.notification:
            raise ConfigError(f'{self.role}.notification is empty; name an intake, such as "http://127.0.0.1:7720"')
        check_numbers(self.role, self)
        self.link.check_in(self.role)
        self.web.check_in(f"{self.role}.web")
        check_origins(f"{self.role}.allowed_origins", self.allowed_origins)
