"""The HTTP handlers of a broker: `POST /v1/events`, for publishing services (design 4.2).

The body is one event, a JSON array, or NDJSON in a stream of any length; or a CloudEvent, or a batch of them. The answer says how many
were accepted and which were not, by position. An accepted event is in its owner's memory and queued to every interested link; it is not
stored.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple
from weakref import WeakSet

import msgspec

from infra.kernel.codes import Code
from infra.kernel.errors import Refused
from infra.kernel.events import Event, Submission, accept
from infra.kernel.every_one import for_every_one
from infra.kernel.http_error import rejection
from infra.kernel.revocations import Entry, Revocation
from infra.kernel.topics import Kind, kind_of
from infra.runtime.http.door import Answer, BufferedExchange, Exchange, Head, Response, json_error

from .cloud_events import decode_cloud_batch, decode_cloud_event
from .grants import CLOUD_BATCH, CLOUD_EVENT, NDJSON, Grant, PublishingGrants
from .options import BrokerOptions
from .publishing import Submit, not_yours
from .quota import PublishingQuota
from .submissions import decode_array, decode_lines, decode_one

PATH: Final = "/v1/events"
ROOM_FOR_FIELDS: Final = 1024
# With more events rejected than this a request is refused as a whole: its answer must not outgrow it a hundred times.
MAX_REJECTED: Final = 1000

_ENCODE: Final = msgspec.json.Encoder().encode


class EventHandlers:
    """The handlers, and what they count.

    - `grants`: what each head allows.
    - `wall`: Unix time in seconds; `now`: time that never goes back.
    - `prefix`: is in front of the ids of events that come without one, so that no two processes give the same.
    - `submit`: takes the events that are right.
    - `check_open`: raises `Refused` while nothing can be published here.
    """

    def __init__(
        self,
        options: BrokerOptions,
        grants: PublishingGrants,
        wall: Callable[[], float],
        *,
        now: Callable[[], float],
        prefix: str,
        submit: Submit,
        check_open: Callable[[], None],
    ) -> None:
        self.requests = self.accepted = 0
        self.rejected: Counter[str] = Counter()
        self.max_payload_bytes, self.max_body_bytes = options.max_payload_bytes, options.max_body_bytes
        self.max_events = options.max_events_per_request
        self.wall, self.now, self.submit = wall, now, submit
        self.quota = PublishingQuota(options.max_events_per_s, options.max_topic_events_per_s)
        self._grants, self._prefix, self._check_open = grants, prefix, check_open
        self._numbers = count(1)
        # The requests whose bodies come line by line. One whose client has left is gone from here by itself.
        self._streams: WeakSet[_Lines] = WeakSet()

    def exchange(self, head: Head) -> Exchange:
        """Returns what takes the body of a request with this `head`. Raises `Refused` before any of it is read."""
        self.requests += 1
        try:
            grant = self._grants.of(head)
            self._check_open()
        except Refused as refused:
            self.rejected[refused.code.name] += 1
            raise
        if grant.form == NDJSON:
            stream = _Lines(self, grant, head)
            self._streams.add(stream)
            return stream
        return BufferedExchange(head, _Document(self, grant).answer_to, self.max_body_bytes)

    def heard(self, news: Collection[Entry]) -> None:
        """Ends the streams of services whose tokens have been revoked, if the `news` are about that, and forgets whom it has let in."""
        if any(isinstance(entry, Revocation) and entry.kind != "user" for entry in news):
            self._grants.forget()
            for_every_one(stream.end_if_refused for stream in list(self._streams))

    def check_still(self, head: Head) -> None:
        """Raises `Refused` if the service of a stream may not publish any more: a token ends also while it is in use."""
        self._grants.of(head)

    def ended(self, stream: "_Lines") -> None:
        """Notes that a stream has come to its end."""
        self._streams.discard(stream)

    def check(self, submission: Submission, kinds: frozenset[Kind], ts_ms: int) -> Event:
        """Returns the event that `submission` is, taken in at `ts_ms`, ready to be numbered.

        Raises `Refused` if something is wrong with it, or if its topic is of none of the `kinds`.
        """
        event = accept(submission, ts_ms, f"{self._prefix}-{next(self._numbers)}", self.max_payload_bytes)
        if (kind := kind_of(event.topic)) not in kinds:
            raise not_yours(kinds, kind)
        return event

    def counters(self) -> dict[str, Any]:
        """Returns the figures of HTTP for `metrics.METRICS`."""
        return {
            "broker_http_requests_total": self.requests,
            "broker_events_accepted_total": self.accepted,
            "broker_events_rejected_total": dict(self.rejected),
        }


class _Rejection(NamedTuple):
    """Why an event was rejected, in words: the exception would keep the whole part of the request alive."""

    position: int
    code: Code
    reason: str

    def refused(self) -> Refused:
        return Refused(self.code.name, self.reason)


class _Request:
    """One request: which of its events were accepted, by position, across all its parts."""

    def __init__(self, handlers: EventHandlers, grant: Grant) -> None:
        self._handlers = handlers
        self._service, self._kinds, self._form = grant.service, grant.kinds, grant.form
        self._total = 0
        self._rejected: list[_Rejection] = []
        self._open = 0
        self._answer: asyncio.Future[Response] | None = None

    def take(self, items: Iterable[Submission | Refused]) -> None:
        """Publishes what is right, and notes what is not. Raises `Refused` when too much is wrong."""
        self._check_rejected()
        handlers = self._handlers
        events: list[Event] = []
        positions: list[int] = []
        ts_ms = int(handlers.wall() * 1000)
        for item in items:
            try:
                if isinstance(item, Refused):
                    raise item
                events.append(handlers.check(item, self._kinds, ts_ms))
                positions.append(self._total)
            except Refused as refused:
                self._reject(self._total, refused)
                self._check_rejected()
            self._total += 1
        if events:
            self._publish(events, positions)

    def _publish(self, events: list[Event], positions: list[int]) -> None:
        """Publishes as many of `events` as the quota allows. `positions` are theirs in the request. Raises `Refused` as `take` does."""
        handlers = self._handlers
        late = handlers.quota.check(self._service, [event.topic for event in events], handlers.now())
        if late:
            for index, refused in late.items():
                self._reject(positions[index], refused)
            self._check_rejected()
            events = [event for index, event in enumerate(events) if index not in late]
            positions = [position for index, position in enumerate(positions) if index not in late]
        if events:
            self._open += 1
            handlers.submit(events, 0, lambda failed: self._published(positions, failed))

    def _reject(self, position: int, refused: Refused) -> None:
        self._rejected.append(_Rejection(position, refused.code, refused.reason))
        self._handlers.rejected[refused.code.name] += 1

    def _check_rejected(self) -> None:
        if len(self._rejected) > MAX_REJECTED:
            first = self._rejected[0]
            raise Refused(first.code.name, f"over {MAX_REJECTED} events were rejected, the first at {first.position}: {first.reason}")

    def _published(self, positions: list[int], failed: list[int]) -> None:
        self._open -= 1
        self._handlers.accepted += len(positions) - len(failed)
        for index in failed:
            refused = Refused("unavailable", "the owner of this topic cannot be reached; repeating it with the same id is safe")
            self._reject(positions[index], refused)
        if not self._open and self._answer is not None and not self._answer.done():
            self._answer.set_result(self._response())

    def answer(self) -> Answer:
        """Returns the answer, or the future of it while the owners of forwarded events do not have them yet."""
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


class _Document(_Request):
    """A body that is one event or an array of them, of our own form or CloudEvents. Where a single event is rejected the status says it."""

    _is_array = False

    def answer_to(self, head: Head, body: bytes) -> Answer:
        """Takes the whole body; see `BufferedExchange`."""
        self.take(self._decoded(body))
        return self.answer()

    def _decoded(self, body: bytes) -> Iterable[Submission | Refused]:
        """Raises `Refused` for a body of which nothing can be taken."""
        if self._form == CLOUD_EVENT:
            return [decode_cloud_event(body)]
        self._is_array = self._form == CLOUD_BATCH or body.lstrip()[:1] == b"["
        if self._form == CLOUD_BATCH:
            return decode_cloud_batch(body, self._handlers.max_events)
        return decode_array(body, self._handlers.max_events) if self._is_array else [decode_one(body)]

    def _response(self) -> Response:
        if self._rejected and not self._is_array:
            return json_error(self._rejected[0].refused())
        return super()._response()


class _Lines(_Request):
    """NDJSON: each line is published as soon as it is whole; only an unfinished line is kept.

    A line that is too long is rejected by its position, like any other event that is wrong; its rest is passed over,
    unless it is longer than any body may be.
    """

    is_stream: ClassVar[bool] = True

    def __init__(self, handlers: EventHandlers, grant: Grant, head: Head) -> None:
        super().__init__(handlers, grant)
        self._head = head
        self._rest = b""
        self._passing_over = False
        self._passed_bytes = 0
        self._longest = handlers.max_payload_bytes + ROOM_FOR_FIELDS

    def chunk(self, data: bytes) -> None:
        """Takes some bytes of the body; see `Exchange`. Raises `Refused` also when the service may not publish any more."""
        self._handlers.check_still(self._head)
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
        if self._passed_bytes > self._handlers.max_body_bytes:
            raise Refused("too-large", f"a line is longer than {self._handlers.max_body_bytes} bytes")
        return rest

    def end(self) -> Answer:
        """Takes the last line, which has no line end; see `Exchange`."""
        self._handlers.ended(self)
        self._handlers.check_still(self._head)
        if self._rest.strip():
            self.take(decode_lines(self._rest))
        return self.answer()

    def end_if_refused(self) -> None:
        """Ends the request at once if the service may not publish any more."""
        try:
            self._handlers.check_still(self._head)
        except Refused as refused:
            self._head.refuse(refused)
