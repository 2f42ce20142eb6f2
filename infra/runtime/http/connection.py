"""One HTTP/1.1 connection: order and bounds between a transport and its `RequestReader`.

- Answers leave in the order of their requests, all that are known in one write.
- While `max_unanswered` requests wait for their answers, or the client does not read, nothing is parsed and the socket is not read.
- What one connection has sent is parsed in shares, one for each turn of the loop, so that others have their turns.
- The reader is dropped (`_reader is None`) as soon as no further request will be taken. What still arrives is thrown away, and when the
  last answer is written the connection ends.
- There is no timer here: `HttpDoor` calls `sweep`.
"""

from asyncio import BaseTransport, Event, Future, Protocol, Transport
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, cast

from infra.kernel.cors import Cors
from infra.kernel.errors import Refused
from infra.kernel.places import HeldPlace
from infra.kernel.shares import Shares

from .answers import Owed, outcome, take_known
from .half_close import half_close
from .limits import HttpLimits
from .message import Response, json_error
from .request import RequestReader
from .route_table import RouteTable

# The parser cannot be stopped inside of what it was given, so it gets no more than this at once. It bounds how far the number of
# unanswered requests can overshoot.
_PORTION_BYTES: Final = 8192
# What a request costs beside its bytes: as much as so many bytes of a long body.
_REQUEST_COST: Final = 1024


@dataclass(slots=True, kw_only=True)
class Shared:
    """The state that the connections of one listener share.

    - `now`: the time of the last sweep: exact enough for timeouts.
    - `shares`: of the turns of the loop.
    - `cors`: which pages may read the answers.
    - `refusals`: how many requests were answered with an error, by code.
    """

    routes: RouteTable
    limits: HttpLimits
    shares: Shares
    cors: Cors
    now: float = 0.0
    draining: bool = False
    open: set["HttpConnection"] = field(default_factory=set)
    empty: Event = field(default_factory=Event)
    refusals: Counter[str] = field(default_factory=Counter)


class _RequestEnding:
    """The way to end a request (see `Head.refuse`), which heads keep. A connection that is gone is not kept alive by it."""

    __slots__ = ("connection",)

    def __init__(self, connection: "HttpConnection") -> None:
        self.connection: HttpConnection | None = connection

    def __call__(self, refused: Refused) -> None:
        if self.connection is not None:
            self.connection.refuse(refused)


class HttpConnection(Protocol):
    """The asyncio protocol of one connection, until it ends or a WebSocket takes it over."""

    __slots__ = (
        "_body_deadline",
        "_body_number",
        "_client_done",
        "_deadline",
        "_ending",
        "_finished",
        "_held",
        "_owed",
        "_place",
        "_reader",
        "_reading_paused",
        "_shared",
        "_transport",
        "_waits",
        "_writing_paused",
    )

    def __init__(self, shared: Shared, place: HeldPlace) -> None:
        self._shared, self._place = shared, place
        self._transport: Transport | None = None
        self._reader: RequestReader | None = None
        self._owed: list[Owed] = []
        self._held = b""  # received but not to be parsed yet
        self._reading_paused = self._writing_paused = self._waits = False
        self._deadline = self._body_deadline = 0.0
        self._body_number = -1  # whose end `_body_deadline` is
        self._ending = _RequestEnding(self)
        self._client_done = self._finished = False

    # asyncio

    def connection_made(self, transport: BaseTransport) -> None:
        """Takes the connection, which stands (see `asyncio.Protocol`)."""
        transport = cast(Transport, transport)  # uvloop has transports of its own
        shared, limits = self._shared, self._shared.limits
        self._transport = transport
        self._reader = RequestReader(
            shared.routes,
            limits.max_head_bytes,
            self._owed,
            self._answered,
            cors=shared.cors,
            place=self._place,
            refuse=self._ending,
        )
        self._reader.last = shared.draining
        self._deadline = shared.now + limits.head_timeout_s
        shared.open.add(self)
        shared.empty.clear()

    def data_received(self, data: bytes) -> None:
        """Takes bytes from the client."""
        if self._reading_paused:
            self._held += data  # had left the socket already
            return
        self._read(data)
        self._flush()

    def eof_received(self) -> bool:
        """Notes that the client will send nothing more. It may still wait for answers."""
        self._client_done = True
        self._stop_reading()
        return bool(self._owed)

    def pause_writing(self) -> None:
        """Notes that the client does not read its answers."""
        self._writing_paused = True

    def resume_writing(self) -> None:
        """Goes on, because the client reads again."""
        self._writing_paused = False
        self._resume()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notes that the connection is gone. Answers that are still being worked on are not cancelled, only thrown away."""
        self._let_go()
        self._place.give_back()

    def _let_go(self) -> None:
        self._stop_reading()
        self._transport = None
        self._held = b""
        self._ending.connection = None
        self._shared.open.discard(self)
        if not self._shared.open:
            self._shared.empty.set()

    # what `HttpDoor` calls

    def sweep(self, now: float) -> None:
        """Ends the connection if the client has kept us waiting for too long; it may wait for our answers as it likes."""
        if self._transport is None or (now < self._deadline and not self._is_body_late(now)):
            return
        if self._finished or self._writing_paused:
            self._transport.abort()
        elif self._reading_paused:
            return  # it is we who keep the client waiting
        elif self._reader is not None and self._reader.in_request:
            self._fail(Refused("hello-timeout", "the request did not arrive in time"))
            self._flush()
        elif not self._owed:
            self._transport.close()

    def _is_body_late(self, now: float) -> bool:
        """Returns whether a body comes, but too slowly. Its time begins with the first sweep, and stands while it is we who do not read."""
        reader, limits = self._reader, self._shared.limits
        if reader is None or not reader.in_body:
            return False
        if reader.requests != self._body_number:
            self._body_number, self._body_deadline = reader.requests, now + limits.body_timeout_s
        elif self._reading_paused:
            self._body_deadline += limits.sweep_interval_s
        return now >= self._body_deadline

    def drain(self) -> None:
        """Closes the connection if it is idle, else ends it after the request that is being read or the answers owed."""
        reader = self._reader
        if reader is None or self._transport is None:
            return
        reader.last = True
        if reader.in_request or self._held:
            return
        self._stop_reading()
        if not self._owed:
            self._transport.close()

    def abort(self) -> None:
        """Ends the connection now; what was not sent is lost."""
        if self._transport is not None:
            self._transport.abort()

    def refuse(self, refused: Refused) -> None:
        """Ends the request that is being read, if there is one, with a refusal, and the connection with it."""
        if self._reader is not None and self._reader.in_request:
            self._fail(refused)
            self._flush()

    # reading

    def _read(self, data: bytes) -> None:
        """Parses `data` as far as the bounds allow, and holds the rest. It is called when nothing is in the way."""
        reader, start, shares = self._reader, 0, self._shared.shares
        if reader is not None and not reader.barren_bytes:
            self._deadline = self._shared.now + self._shared.limits.head_timeout_s
        left = shares.take()
        while reader is not None:
            if left <= 0:
                self._waits, self._held = True, data[start:]
                shares.wait(self._has_turn)
                return
            requests = reader.requests
            used = self._read_portion(reader, data[start : start + _PORTION_BYTES])
            cost = used + (reader.requests - requests) * _REQUEST_COST
            left -= cost
            shares.spend(cost)
            start += used
            if reader.takeover is not None:
                self._hand_over(*reader.takeover, data[start:])
            if start >= len(data):
                return
            if self._is_blocked():
                self._flush()
                if self._is_blocked():
                    self._held = data[start:]
                    return
            reader = self._reader

    def _has_turn(self) -> None:
        self._waits = False
        if self._transport is not None:
            self._resume()

    def _read_portion(self, reader: RequestReader, portion: bytes) -> int:
        """Returns how many bytes the reader took. What cannot be read is answered, as the last thing on this connection."""
        try:
            used = reader.read(portion)
        except Refused as refused:
            used = len(portion)
            if not reader.ended:
                self._fail(refused)
        if reader.ended:
            self._stop_reading()
        return used

    def _is_blocked(self) -> bool:
        return self._waits or self._writing_paused or len(self._owed) >= self._shared.limits.max_unanswered

    def _stop_reading(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _fail(self, refused: Refused) -> None:
        """Refuses what is being read, and all that may follow."""
        cors = self._reader.answer_headers if self._reader is not None else ()
        self._stop_reading()
        self._owed.append((json_error(refused), True, cors))

    def _hand_over(self, protocol: Protocol, response: bytes, rest: bytes) -> None:
        """Lets go of the connection, so that nothing of HTTP stays in memory beside a WebSocket."""
        transport = self._transport
        assert transport is not None
        answers = take_known(self._owed, self._shared.refusals, closing=False)
        self._let_go()
        self._place.hand_over()  # the protocol, which has it from the head, gives it back
        if self._reading_paused:  # the handshake has waited for its turn; the protocol takes the connection as one that is read
            self._turn_reading(transport)
        transport.write(answers + response)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if rest:
            protocol.data_received(rest)

    # answering

    def _answered(self, answer: Future[Response]) -> None:
        """Goes on with an answer that became known after its request was complete."""
        if self._transport is None:
            outcome(answer)  # nobody is left to be told, but a defect is logged
        else:
            self._resume()

    def _resume(self) -> None:
        """Writes what can be written, then parses what was held: something is out of the way."""
        self._flush()
        if self._held and not self._is_blocked():
            held, self._held = self._held, b""
            self._read(held)
            self._flush()

    def _flush(self) -> None:
        """Writes the answers that are known, then reads on, waits, or ends the connection."""
        transport, reader = self._transport, self._reader
        if transport is None or transport.is_closing():
            return
        data = take_known(self._owed, self._shared.refusals, closing=reader is None)
        if data:
            transport.write(data)
            self._await_next_request()
        if reader is None:
            if not self._owed:
                self._finish(transport)
        elif self._reading_paused != (bool(self._held) or self._is_blocked()):
            self._turn_reading(transport)

    def _await_next_request(self) -> None:
        if self._reader is not None and not self._reader.in_request:
            self._deadline = self._shared.now + self._shared.limits.idle_timeout_s

    def _turn_reading(self, transport: Transport) -> None:
        self._reading_paused = not self._reading_paused
        if self._reading_paused:
            transport.pause_reading()
        else:
            self._deadline = self._shared.now + self._shared.limits.head_timeout_s
            transport.resume_reading()

    def _finish(self, transport: Transport) -> None:
        """Closes our half. The rest follows when the client closes, too, or with the sweep.

        A client that is still sending would be reset by a full close and could lose the answer (RFC 9112 9.6).
        """
        if self._finished:
            return
        self._finished = True
        self._deadline = self._shared.now + self._shared.limits.head_timeout_s
        if self._reading_paused:
            self._turn_reading(transport)
        if self._client_done:
            transport.close()
        else:
            half_close(transport)
