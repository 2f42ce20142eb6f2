"""The answers of the HTTP doors of brokers, notification modules and services (design 4.2). Pure."""

from collections.abc import Collection
from typing import Final, TypeVar

import msgspec

from infra.kernel.codes import BY_NAME, Code
from segue.sdk.errors import ConnectionLost, ProtocolError, Refused, code_of
from segue.sdk.publication import Result

T = TypeVar("T")

# An answer whose body is none of ours comes from a proxy in between; then the status is all there is.
_NAMES: Final = {401: "bad-token", 403: "forbidden", 404: "not-found", 405: "bad-method", 413: "too-large", 415: "bad-content-type"}
_TRY_AGAIN_LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class _Refusal(msgspec.Struct):
    code: str
    reason: str = ""


def read_answer(url: str, status: int, body: bytes, retry_after: str | None) -> Result:
    """Returns what became of published events. Takes `url`, `status`, `body`, `retry_after`, and raises, as `read_as`."""
    return read_as(Result, url, status, body, retry_after)


def read_as(kind: type[T], url: str, status: int, body: bytes, retry_after: str | None, accepts: Collection[int] = (202,)) -> T:
    """Returns the body of an answer that accepts, read as `kind`.

    - `url`: where the answer came from, for errors.
    - `status`, `body`: the HTTP status and body.
    - `retry_after`: the header of that name, None if there is none.
    - `accepts`: the statuses of an answer that accepts.

    Raises Refused when trying again cannot help, ConnectionLost when it can, and ProtocolError for an answer that no broker gives.
    """
    if status in accepts:
        return _accepted(kind, url, status, body)
    if not 400 <= status < 600:
        raise ProtocolError(f"{url} answered HTTP {status}, which no broker does; is there something else at this address?")
    code, reason = _refusal(status, body)
    if status in _TRY_AGAIN_LATER or code.reconnect:
        raise ConnectionLost(f"{url} answered HTTP {status}: {reason}", code, seconds_of(retry_after))
    raise Refused(code.name, f"{reason} (HTTP {status} from {url})")


def _accepted(kind: type[T], url: str, status: int, body: bytes) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ProtocolError(f"{url} answered {status} with a body that no broker sends: {error}") from error


def _refusal(status: int, body: bytes) -> tuple[Code, str]:
    try:
        said = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeError):
        said = _Refusal(_NAMES.get(status, "bad-request" if status < 500 else "unavailable"))
    code = code_of(said.code) or BY_NAME["bad-request" if status < 500 else "unavailable"]
    return code, said.reason or code.text


def seconds_of(retry_after: str | None) -> float | None:
    """Returns how many seconds `retry_after`, a header, says; None where it says none."""
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else None
