"""What the head of a publishing request allows: who sends it, on which kinds of topic they may publish, and in which form."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused
from infra.kernel.link_rights import SERVICE_KINDS
from infra.kernel.places import HeldPlace
from infra.kernel.topics import Kind
from infra.runtime.http.door import Head

NDJSON: Final = b"application/x-ndjson"
JSON: Final = b"application/json"
CLOUD_EVENT: Final = b"application/cloudevents+json"
CLOUD_BATCH: Final = b"application/cloudevents-batch+json"
FORMS: Final = (JSON, NDJSON, CLOUD_EVENT, CLOUD_BATCH)
GRANT_S: Final = 1.0
MAX_GRANTS: Final = 1024

# `verify(token, wall_s)` returns who may publish; raises `Refused`.
Verify = Callable[[str, float], Any]


class Grant(NamedTuple):
    """A service, the kinds of topic that it may publish on, the form of its body, and until when that is not looked at again."""

    service: str
    kinds: frozenset[Kind]
    form: bytes
    until_s: float


class PublishingGrants:
    """The grants of heads, each remembered for `GRANT_S` or until `forget`: a service sends the same fields with every request.

    `verify(token, wall_s)` tells who shows a token; `wall` is Unix time in seconds, `now` time that never goes back.
    """

    def __init__(self, verify: Verify, wall: Callable[[], float], now: Callable[[], float]) -> None:
        self._verify, self._wall, self._now = verify, wall, now
        self._grants: dict[tuple[bytes | None, ...], Grant] = {}

    def forget(self) -> None:
        """Looks at every token again, since some may have been revoked."""
        self._grants.clear()

    def of(self, head: Head) -> Grant:
        """Returns what `head` allows. Raises `Refused` if that is nothing."""
        headers = head.headers
        key = headers.get(b"authorization"), headers.get(b"content-type"), headers.get(b"content-encoding")
        grant = self._grants.get(key)
        if grant is None or grant.until_s < self._now():
            grant = self._judge(head.place, *key)
            if len(self._grants) >= MAX_GRANTS:  # here only: who shows bad tokens cannot empty the table
                self._grants.clear()
            self._grants[key] = grant
        return grant

    def _judge(self, place: HeldPlace, authorization: bytes | None, content_type: bytes | None, encoding: bytes | None) -> Grant:
        token = bearer_token((authorization or b"").decode("latin-1"))
        service = place.check_token(lambda: self._verify(token, self._wall()), self._now()).name
        if service not in SERVICE_KINDS:
            raise Refused("forbidden", f"service {service!r} may not publish; only {', '.join(sorted(SERVICE_KINDS))} may")
        if (encoding or b"identity").lower() != b"identity":
            raise Refused("bad-content-type", "send the body as it is; no Content-Encoding is understood here")
        form = (content_type or JSON).partition(b";")[0].strip().lower()
        if form not in FORMS:
            raise Refused("bad-content-type", f"the body must be {', '.join(each.decode() for each in FORMS[:-1])} or {FORMS[-1].decode()}")
        return Grant(service, SERVICE_KINDS[service], form, self._now() + GRANT_S)
