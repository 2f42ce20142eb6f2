"""The HTTP door for publishing services: `POST /v1/events` on every broker (design 4.2).

One event, a JSON array, or NDJSON in a stream of any length. The answer says how many were accepted and which were
not, by position. An accepted event is in its owner's memory and queued to every interested link; it is not stored.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from infra.kernel.bearer import bearer_token
from infra.kernel.codes import Code
from infra.kernel.errors import Refused
from infra.kernel.events import Event, Submission, accept
from infra.kernel.http_error import rejection
from infra.kernel.nesting import check_nesting
from infra.kernel.topics import Kind, kind_of
from infra.runtime.address import Address
from infra.runtime.ending import end_all
from infra.runtime.http.door import Answer, BufferedExchange, Exchange, Head, HttpDoor, HttpLimits, Response, json_error
from infra.runtime.listening import listening

from .client import ROLE
from .publisher import SERVICE_KINDS, not_yours
from .server import Broker
from .submissions import decode_array, decode_lines, decode_one

NDJSON: Final = b"application/x-ndjson"
JSON: Final = b"application/json"
ROOM_FOR_FIELDS: Final = 1024
# With more events rejected than this a request is refused as a whole: its answer must not outgrow it a hundred times.
MAX_REJECTED: Final = 1000
GRANT_S: Final = 1.0
MAX_GRANTS: Final = 1024

_ENCODE: Final = msgspec.json.Encoder().encode

# `verify(token, wall_s)` gives who may publish; raises `Refused`.
Verify = Callable[[str, float], Any]


class Door:
    """A broker with its publishing door: what a process runs. `wall` is Unix time in seconds."""

    role = ROLE

    def __init__(self, broker: Broker, verify: Verify, wall: Callable[[], float]) -> None:
        self.node, self.site = broker.node, broker.site
        self.accepted = 0
        self.requests = 0
        self.rejected: Counter[str] = Counter()
        self.broker, self.wall = broker, wall
        self.max_payload_bytes = broker.options.max_payload_bytes
        self.max_body_bytes = broker.options.max_body_bytes
        self.address = broker.options.door
        self._verify = verify
        self._grants: dict[tuple[bytes | None, ...], _Grant] = {}
        self._numbers = count(1)
        self._prefix = f"{broker.links.incarnation:x}"
        limits = HttpLimits(max_connections=broker.options.max_connections)
        self._http = HttpDoor(routes={("POST", "/v1/events"): self._exchange}, limits=limits, loops=broker.links.loops)
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start the broker and open the door. Raises CannotListen if an address is taken."""
        await self.broker.start()
        host, port = Address.parse(self.broker.options.door)
        loop = asyncio.get_running_loop()
        with listening("broker.door", self.broker.options.door):
            self._server = await loop.create_server(self._http.protocol_factory, host, port, backlog=4096)
        self.address = str(Address(*self._server.sockets[0].getsockname()[:2]))

    async def drain(self) -> None:
        """Take nothing new, leave the ring, answer what was asked."""
        await end_all(self.broker.drain, self._http.drain, self._drained)

    async def _drained(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._http.drained(), self.broker.options.drain_s)

    async def close(self) -> None:
        """Close the door, its connections and all links. May be called twice."""
        await end_all(self._server.close if self._server is not None else None, self._http.close, self.broker.close)

    def ready(self) -> str | None:
        """See `Broker.ready`."""
        return self.broker.ready()

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        mine = {
            "broker_http_requests_total": self.requests,
            "broker_events_accepted_total": self.accepted,
            "broker_events_rejected_total": dict(self.rejected),
        }
        return mine | self.broker.counters()

    def _exchange(self, head: Head) -> Exchange:
        self.requests += 1
        headers = head.headers
        key = (headers.get(b"authorization"), headers.get(b"content-type"), headers.get(b"content-encoding"))
        try:
            grant = self._grants.get(key)
            if grant is None or grant.until_s < self.wall():
                grant = self._grant(*key)
            if self.broker.mesh.draining:
                raise Refused("draining")
            if (why := self.broker.ready()) is not None:
                raise Refused("unavailable", why)
        except Refused as refused:
            self.rejected[refused.code.name] += 1
            raise
        if grant.is_lines:
            return _Lines(self, grant.kinds)
        return BufferedExchange(head, _Document(self, grant.kinds).answer_to, self.max_body_bytes)

    def _grant(self, authorization: bytes | None, content_type: bytes | None, encoding: bytes | None) -> "_Grant":
        """What a head with these fields may do; remembered for a second, since a service sends them with every request."""
        now_s = self.wall()
        service = self._verify(bearer_token((authorization or b"").decode("latin-1")), now_s).name
        if service not in SERVICE_KINDS:
            raise Refused("forbidden", f"service {service!r} may not publish; only {', '.join(sorted(SERVICE_KINDS))} may")
        if (encoding or b"identity").lower() != b"identity":
            raise Refused("bad-content-type", "send the body as it is; no Content-Encoding is understood here")
        kind = (content_type or JSON).partition(b";")[0].strip().lower()
        if kind not in (JSON, NDJSON):
            raise Refused("bad-content-type", f"the body must be {JSON.decode()} or {NDJSON.decode()}")
        if len(self._grants) >= MAX_GRANTS:
            self._grants.clear()
        grant = self._grants[authorization, content_type, encoding] = _Grant(SERVICE_KINDS[service], kind == NDJSON, now_s + GRANT_S)
        return grant

    def check(self, submission: Submission, kinds: frozenset[Kind], ts_ms: int) -> Event:
        """The event, ready to be numbered. Raises `Refused`."""
        check_nesting(bytes(submission.payload))
        event = accept(submission, ts_ms, f"{self._prefix}-{next(self._numbers)}", self.max_payload_bytes)
        if (kind := kind_of(event.topic)) not in kinds:
            raise not_yours(kinds, kind)
        return event


class _Grant(NamedTuple):
    """What a service may publish, in which form, and until when that need not be looked at again."""

    kinds: frozenset[Kind]
    is_lines: bool
    until_s: float


class _Rejection(NamedTuple):
    """Its own words, not the exception, which would keep the whole part of the request alive."""

    position: int
    code: Code
    reason: str

    def refused(self) -> Refused:
        return Refused(self.code.name, self.reason)


class _Tally:
    """One request: which of its events were accepted, by position, across all its parts."""

    def __init__(self, door: Door, kinds: frozenset[Kind]) -> None:
        self._door = door
        self._kinds = kinds
        self._total = 0
        self._rejected: list[_Rejection] = []
        self._open = 0
        self._answer: asyncio.Future[Response] | None = None

    def take(self, items: Iterable[Submission | Refused]) -> None:
        """Publish what is right, note what is not. Raises `Refused` when too much is wrong."""
        self._check_rejected()
        door = self._door
        events: list[Event] = []
        positions: list[int] = []
        ts_ms = int(door.wall() * 1000)
        for item in items:
            try:
                if isinstance(item, Refused):
                    raise item
                events.append(door.check(item, self._kinds, ts_ms))
                positions.append(self._total)
            except Refused as refused:
                self._reject(self._total, refused)
                self._check_rejected()
            self._total += 1
        if events:
            self._open += 1
            door.broker.submit(events, 0, lambda failed: self._published(positions, failed))

    def _reject(self, position: int, refused: Refused) -> None:
        self._rejected.append(_Rejection(position, refused.code, refused.reason))
        self._door.rejected[refused.code.name] += 1

    def _check_rejected(self) -> None:
        if len(self._rejected) > MAX_REJECTED:
            first = self._rejected[0]
            raise Refused(first.code.name, f"over {MAX_REJECTED} events were rejected, the first at {first.position}: {first.reason}")

    def _published(self, positions: list[int], failed: list[int]) -> None:
        self._open -= 1
        self._door.accepted += len(positions) - len(failed)
        for index in failed:
            refused = Refused("unavailable", "the owner of this topic cannot be reached; repeating it with the same id is safe")
            self._reject(positions[index], refused)
        if not self._open and self._answer is not None and not self._answer.done():
            self._answer.set_result(self._response())

    def answer(self) -> Answer:
        """The answer, now or when the owners of forwarded events have them."""
        if not self._open:
            return self._response()
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def _response(self) -> Response:
        accepted = self._total - len(self._rejected)
        if not self._rejected:
            return Response(202, b'{"accepted":%d,"rejected":[]}' % accepted)
        rejected = [rejection(each.position, each.refused()) for each in sorted(self._rejected)]
        return Response(202, _ENCODE({"accepted": accepted, "rejected": rejected}))


class _Document(_Tally):
    """A body that is one JSON event or an array of them. A single event that is rejected is the whole: the status says it."""

    _is_array = False

    def answer_to(self, head: Head, body: bytes) -> Answer:
        """See `BufferedExchange`."""
        self._is_array = body.lstrip()[:1] == b"["
        self.take(decode_array(body) if self._is_array else [decode_one(body)])
        return self.answer()

    def _response(self) -> Response:
        if self._rejected and not self._is_array:
            return json_error(self._rejected[0].refused())
        return super()._response()


class _Lines(_Tally):
    """NDJSON: each line is published as soon as it is whole; only an unfinished line is kept.

    A line that is too long is rejected by its position, like any other event that is wrong; its rest is passed over,
    unless it is longer than any body may be.
    """

    def __init__(self, door: Door, kinds: frozenset[Kind]) -> None:
        super().__init__(door, kinds)
        self._rest = b""
        self._passing_over = False
        self._passed_bytes = 0
        self._longest = door.max_payload_bytes + ROOM_FOR_FIELDS

    def chunk(self, data: bytes) -> None:
        """See `Exchange`."""
        if self._passing_over:
            data = self._pass_over(data)
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            whole, self._rest = self._rest + whole, rest
            self.take(decode_lines(whole))
        else:
            self._rest += data
        if len(self._rest) > self._longest:
            self._rest, self._passing_over, self._passed_bytes = b"", True, len(self._rest)
            self.take([Refused("too-large", f"a line is longer than {self._longest} bytes")])

    def _pass_over(self, data: bytes) -> bytes:
        passed, newline, rest = data.partition(b"\n")
        self._passing_over = not newline
        self._passed_bytes += len(passed)
        if self._passed_bytes > self._door.max_body_bytes:
            raise Refused("too-large", f"a line is longer than {self._door.max_body_bytes} bytes")
        return rest

    def end(self) -> Answer:
        """See `Exchange`."""
        if self._rest.strip():
            self.take(decode_lines(self._rest))
        return self.answer()
