"""Places: how many connections there may be at one door or link port, from where, how often new ones come, and how many bad tokens they
may show. Pure.

An IPv4 address is one visitor, and so is a network of 2^64 IPv6 addresses (/64), which is what one customer gets. Whoever takes all that
one address may have takes nobody else's.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from .errors import ConfigError, Refused
from .forwarded import caller_behind
from .option_checks import check_numbers
from .public_address import IPNetwork, network_of, parse_address, parse_network
from .rates import Bucket, Buckets, Rate, RateRefused

# So many visitors are remembered who have come lately.
REMEMBERED: Final = 65_536
# Of an answer to a token that cost the verifying of a signature. Others, such as `unavailable`, say nothing about the token.
_BAD: Final = (401, 403)

T = TypeVar("T")


class CallerLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds for those who connect to one door or link port, from where they come.

    - `per_address`: how many connections one address may have open.
    - `new_per_s`, `new_per_address_per_s`: how many new ones may come a second, from everywhere and from one address; after a pause twice
      as many at once.
    - `proxies`: addresses and networks (`"10.0.0.0/8"`) that many clients share, such as those of a load balancer. What is said of one
      address does not hold for them.
    """

    per_address: int = 1_000
    new_per_s: float = 1_000.0
    new_per_address_per_s: float = 200.0
    proxies: list[str] = []

    def check_in(self, table: str) -> None:
        """Raises ConfigError for what makes no sense; `table` is where it is written."""
        check_numbers(f"{table}.visitors", self)
        for proxy in self.proxies:
            parse_network(f"{table}.visitors.proxies", proxy)


class VisitorLimits(CallerLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of `CallerLimits` for a door, where callers show tokens.

    - `bad_tokens_per_s`: how many tokens of one address may be refused a second, after a pause twice as many at once. Each costs the
      verifying of a signature, so those that come later are not looked at.
    - `forwarded_for`: whether the `proxies` append the address that has called them to the header `X-Forwarded-For`, whatever stood there.
      Then bad tokens are counted against that address. A proxy that passes the header on as it came would let anybody name another one.
    """

    bad_tokens_per_s: float = 50.0
    forwarded_for: bool = False

    def check_in(self, table: str) -> None:
        """See `CallerLimits`."""
        super().check_in(table)
        if self.forwarded_for and not self.proxies:
            raise ConfigError(f"{table}.visitors.forwarded_for = true needs {table}.visitors.proxies: whose word about others counts")


class HeldPlace:
    """The place of one connection, which comes from the address `host`; "" where it comes from nowhere, and is not counted."""

    __slots__ = ("_forger", "_is_whole", "_places", "_visitor", "host", "is_forwarded")

    def __init__(self, host: str = "", visitor: str = "", places: "Places | None" = None, *, is_forwarded: bool = False) -> None:
        """Begins the place of a connection, for `Places`. `is_forwarded`: whether each request says whom it is for (`speak_for`)."""
        self.host, self.is_forwarded = host, is_forwarded
        self._visitor, self._places = visitor, places
        self._forger = visitor  # against whom bad tokens count
        self._is_whole = True

    def speak_for(self, forwarded: str) -> None:
        """Notes whom the next tokens on a connection that `is_forwarded` are of: `forwarded` is the proxy's `X-Forwarded-For`."""
        if self._places is not None:
            self._forger = self._places.caller_behind(forwarded)

    def check_token(self, verify: Callable[[], T], now_s: float) -> T:
        """Returns what `verify` does, which verifies a token that was shown on this connection at `now_s`.

        Raises what it raises, and counts a refusal against the address. Raises RateRefused, without a look at the token, where the
        address has shown too many bad ones.
        """
        places = self._places
        if places is None or not self._forger:
            return verify()
        places.check_tokens(self._forger, now_s)
        try:
            return verify()
        except Refused as refused:
            if refused.code.http in _BAD:
                places.note_bad_token(self._forger, now_s)
            raise

    def hand_over(self) -> None:
        """Leaves the size of the door to others: whoever has the connection now counts it themselves. It still counts for its address."""
        if self._places is not None and self._is_whole:
            self._is_whole = False
            self._places.taken -= 1

    def give_back(self) -> None:
        """Ends it. May be called twice."""
        self.hand_over()
        if self._places is not None:
            self._places.forget(self._visitor)
            self._places = None


NOWHERE: Final = HeldPlace()


class Places:
    """The places at one door.

    - `size`: how many there are.
    - `limits`: how many of them one visitor may have, and how fast they are taken.
    - `taken`: how many are taken now.
    - `refused` counts those who got none, by the bound that was met: "door", "address", "rate" or "address_rate".
    - `unread_tokens` counts the tokens that were not looked at.
    """

    def __init__(self, size: int, limits: CallerLimits) -> None:
        self.size, self._limits = size, limits
        self.taken = 0
        self.refused: Counter[str] = Counter()
        self.unread_tokens = 0
        self._of_visitor: Counter[str] = Counter()
        self._all = Bucket(Rate.of(limits.new_per_s))
        self._each: Buckets[str] = Buckets(Rate.of(limits.new_per_address_per_s), REMEMBERED)
        # At a link port nobody shows tokens, and the number does not matter.
        self._bad_per_s = limits.bad_tokens_per_s if isinstance(limits, VisitorLimits) else 1.0
        self._bad_tokens: Buckets[str] = Buckets(Rate.of(self._bad_per_s), REMEMBERED)
        self._proxies = [parse_network("proxies", proxy) for proxy in limits.proxies]
        self._is_forwarded = isinstance(limits, VisitorLimits) and limits.forwarded_for

    @property
    def visitors(self) -> int:
        """The number of visitors who have places."""
        return len(self._of_visitor)

    def take(self, host: str, now_s: float) -> HeldPlace:
        """Returns a place for a new connection from `host`, an address, at `now_s`.

        Raises `Refused("overloaded")`, and counts that, if there is none; where it helps to come again later, it says when.
        """
        is_proxy = bool(self._proxies) and _is_in(host, self._proxies)
        visitor = "" if is_proxy else visitor_of(host)
        self._check(visitor, now_s)
        self.taken += 1
        if visitor:
            self._of_visitor[visitor] += 1
        return HeldPlace(host, visitor, self, is_forwarded=is_proxy and self._is_forwarded)

    def forget(self, visitor: str) -> None:
        """Forgets one connection of `visitor`. It is for `HeldPlace`."""
        if visitor:
            self._of_visitor[visitor] -= 1
            if not self._of_visitor[visitor]:
                del self._of_visitor[visitor]  # so that nobody is remembered for longer than their connections

    def caller_behind(self, forwarded: str) -> str:
        """Returns whom one of our proxies speaks for. It is for `HeldPlace`."""
        return caller_behind(forwarded, self._proxies)

    def check_tokens(self, visitor: str, now_s: float) -> None:
        """Raises RateRefused if `visitor` has shown too many bad tokens. It is for `HeldPlace`."""
        if wait_s := self._bad_tokens.wait_s(visitor, now_s):
            self.unread_tokens += 1
            raise RateRefused(
                wait_s, f"over {self._bad_per_s:g} tokens a second from this address were refused; wait before you show another one"
            )

    def note_bad_token(self, visitor: str, now_s: float) -> None:
        """Counts a token of `visitor` that was refused. It is for `HeldPlace`."""
        self._bad_tokens.allow(visitor, now_s)

    def _check(self, visitor: str, now_s: float) -> None:
        """Raises `Refused` if there is no place for `visitor`."""
        limits = self._limits
        if visitor and self._of_visitor.get(visitor, 0) >= limits.per_address:
            self.refused["address"] += 1
            raise Refused("overloaded", f"this address has {limits.per_address} connections, and may not have more; close one first")
        if self.taken >= self.size:
            self.refused["door"] += 1
            raise Refused("overloaded", f"{self.size} connections are open, and there is no room for more; try again later")
        # Behind the others, which take nothing. An address that comes too often takes nothing of what all others have together.
        if visitor and (wait_s := self._each.allow(visitor, now_s)):
            self.refused["address_rate"] += 1
            raise RateRefused(wait_s, f"over {limits.new_per_address_per_s:g} new connections a second from this address", "overloaded")
        if wait_s := self._all.allow(now_s):
            self.refused["rate"] += 1
            raise RateRefused(wait_s, f"over {limits.new_per_s:g} new connections a second", "overloaded")


def visitor_of(host: str) -> str:
    """Returns the visitor whose address is `host`; "" where there is no address."""
    return host if ":" not in host else _of_six(host)


@lru_cache(maxsize=4096)
def _of_six(host: str) -> str:
    return network_of(host)


def _is_in(host: str, proxies: Sequence[IPNetwork]) -> bool:
    address = parse_address(host)
    return address is not None and any(address in network for network in proxies)
