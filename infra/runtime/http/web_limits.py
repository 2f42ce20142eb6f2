"""Limits of an HTTP server on aiohttp."""

from typing import Final

import msgspec

from infra.kernel.http_patience import HttpPatience
from infra.kernel.option_checks import check_numbers
from infra.kernel.places import VisitorLimits
from infra.kernel.rates import Rate

END_S: Final = 10.0


class WebVisitorLimits(VisitorLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of `VisitorLimits` for clients that ask now and then."""

    per_address: int = 256


class WebLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of one HTTP server: how many may connect, how long they may keep us waiting, and how often they may ask.

    - `max_connections`: connections in all; fewer if the process may not have so many files open.
    - `visitors`: how many may come from where.
    - `head_timeout_s`: for the head of a request.
    - `body_timeout_s`: between two pieces of a body; and for all of it, unless it is a stream.
    - `idle_timeout_s`: between two requests.
    - `reading_timeout_s`: for a client that does not read its answer.
    - `user_requests_per_s`, `user_burst`: of one user, and without a token of one address.
    - `service_requests_per_s`, `service_burst`: of one service.
    """

    max_connections: int = 2_000
    visitors: WebVisitorLimits = WebVisitorLimits()
    head_timeout_s: float = 10.0
    body_timeout_s: float = 60.0
    idle_timeout_s: float = 75.0
    reading_timeout_s: float = 30.0
    user_requests_per_s: float = 20.0
    user_burst: float = 100.0
    service_requests_per_s: float = 1_000.0
    service_burst: float = 2_000.0

    def check_in(self, table: str) -> None:
        """Raises ConfigError for a number that makes no sense; it names the `table` that these limits stand in."""
        check_numbers(table, self)
        self.visitors.check_in(table)

    @property
    def patience(self) -> HttpPatience:
        """How long a connection may keep us waiting."""
        return HttpPatience(
            head_s=self.head_timeout_s,
            body_s=self.body_timeout_s,
            reading_s=self.reading_timeout_s,
            next_s=self.idle_timeout_s,
            end_s=END_S,
        )

    @property
    def user_rate(self) -> Rate:
        """How often a user may ask."""
        return Rate(self.user_requests_per_s, self.user_burst)

    @property
    def service_rate(self) -> Rate:
        """How often a service may ask."""
        return Rate(self.service_requests_per_s, self.service_burst)
