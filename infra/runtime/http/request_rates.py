"""How often a user, a service or an address may ask over HTTP."""

from typing import Final

from infra.kernel.rates import Buckets, Rate, RateRefused

from .web_limits import WebLimits

# Of so many users, services or addresses it is known how often they have asked.
MAX_KNOWN: Final = 10_000


class RequestRates:
    """The rates of one door. `refused` counts the requests of those who asked too often."""

    def __init__(self, limits: WebLimits) -> None:
        self.refused = 0
        self._user_rate, self._service_rate = limits.user_rate, limits.service_rate
        self._users: Buckets[tuple[str, str]] = Buckets(limits.user_rate, MAX_KNOWN)
        self._services: Buckets[str] = Buckets(limits.service_rate, MAX_KNOWN)

    def check(self, user: str, service: str, address: str, now_s: float) -> None:
        """Raises RateRefused if who asks at `now_s` does so too often.

        That is the `service`, or the `user`, whichever is not empty. If both are, it is everybody at `address`.
        """
        if service:
            self._check(self._services.allow(service, now_s), self._service_rate)
        else:
            self._check(self._users.allow((user, "" if user else address), now_s), self._user_rate)

    def _check(self, wait_s: float, rate: Rate) -> None:
        if wait_s:
            self.refused += 1
            said = f"more than {rate.per_s:g} requests a second, after {rate.burst:g} at once"
            raise RateRefused(wait_s, f"{said}; wait as long as Retry-After says")
