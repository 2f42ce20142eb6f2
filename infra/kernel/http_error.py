"""The one form in which every HTTP handler says no: a status, headers and a JSON body, all from the code table. Pure."""

from collections.abc import Iterable
from math import ceil
from typing import Final, NamedTuple

import msgspec

from .errors import Refused
from .http_headers import Headers
from .rates import RateRefused

JSON: Final = "application/json"
RETRY_AFTER_S: Final = 1

# What RFC 9110 (15.5.2, 10.2.3) and RFC 6455 (4.4) want beside the status.
_RETRY_AFTER: Final = ("Retry-After", str(RETRY_AFTER_S))
_HEADERS_BY_STATUS: Final[dict[int, Headers]] = {401: (("WWW-Authenticate", "Bearer"),), 429: (_RETRY_AFTER,), 503: (_RETRY_AFTER,)}
_HEADERS_BY_NAME: Final[dict[str, Headers]] = {"bad-handshake": (("Sec-WebSocket-Version", "13"),)}


class HttpError(NamedTuple):
    """An answer that says no. The body is `{"code", "number", "reason"}` in JSON."""

    status: int
    headers: Headers
    body: bytes


class MethodRefused(Refused):
    """A `bad-method` that names the methods that the path takes (RFC 9110 15.5.6 wants them in the answer)."""

    def __init__(self, method: str, path: str, allowed: Iterable[str]) -> None:
        methods = sorted(allowed)
        super().__init__("bad-method", f"{path} takes {' or '.join(methods)}, not {method}")
        self.headers: Headers = (("Allow", ", ".join(methods)),)


def http_error(refused: Refused) -> HttpError:
    """Returns the answer to what was `refused`: the status of its code, and the headers that this status asks for."""
    code = refused.code
    headers = _retry_after(refused) or _HEADERS_BY_STATUS.get(code.http, ()) + _HEADERS_BY_NAME.get(code.name, ())
    own = refused.headers if isinstance(refused, MethodRefused) else ()
    return HttpError(code.http, headers + own, msgspec.json.encode(described(refused)))


def _retry_after(refused: Refused) -> Headers:
    """Returns the header that says how long to wait, if `refused` knows it; in whole seconds, at least one."""
    return (("Retry-After", str(max(1, ceil(refused.wait_s)))),) if isinstance(refused, RateRefused) else ()


def described(refused: Refused) -> dict[str, object]:
    """Returns `refused` as a body says it."""
    return {"code": refused.code.name, "number": refused.code.number, "reason": refused.reason}


def rejection(index: int, refused: Refused) -> dict[str, object]:
    """Returns the row of `rejected` for what stood at `index` of a request."""
    return {"index": index, **described(refused)}
