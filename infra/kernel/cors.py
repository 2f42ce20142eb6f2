"""CORS (Fetch standard, 3.2): what lets a page of another origin ask at a door over HTTP, and read the answer. Pure.

Whose pages may is the rule of `origins`, the same as for WebSockets. Credentials in the sense of CORS are never allowed: a token comes in
a header that the page sets itself, and a cookie means nothing at any door. So `"*"` lets nobody act in the name of somebody else.
"""

from collections.abc import Collection
from typing import Final

from .http_headers import Headers
from .origins import ANY, check_origin, may_connect

MAX_AGE_S: Final = 7200
PREFLIGHT_STATUS: Final = 200
_EXPOSED: Final = ("Access-Control-Expose-Headers", "Allow, Location, Retry-After")
_PREFLIGHT: Final[Headers] = (
    ("Access-Control-Allow-Methods", "DELETE, GET, PATCH, POST, PUT"),
    ("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID"),
    ("Access-Control-Max-Age", str(MAX_AGE_S)),
)


class Cors:
    """The rule of one door, where pages of the origins in `allowed` may ask beside those that always may (see `may_connect`)."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed

    def headers(self, origin: str, host: str) -> Headers:
        """Returns what the answer to a page of `origin` bears, who asked `host`; nothing if it may not read the answer."""
        if not may_connect(origin, host, self._allowed):
            return ()
        return (("Access-Control-Allow-Origin", ANY if ANY in self._allowed else origin), _EXPOSED)

    def preflight(self, origin: str, host: str) -> Headers:
        """Returns what the answer to a preflight bears beside `headers`. Raises `Refused("origin-refused")`.

        It names what doors take at all. What is at the path is said to the request itself, whose refusals the page can read.
        """
        check_origin(origin, host, self._allowed)
        return _PREFLIGHT
