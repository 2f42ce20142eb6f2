"""The access point as a process: sockets of clients around the pure core."""

import asyncio
import random
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any as Anything
from typing import Final, cast

from infra.kernel.errors import Refused
from infra.kernel.websocket import CLOSE, PING, TEXT, close_frame, ping_frame, pong_frame
from infra.kernel.websocket_reader import FrameReader
from infra.runtime.http import Head, HttpDoor
from infra.runtime.wire import Network

from . import messages
from .core import AccessPointCore, Verify
from .options import AccessPointOptions
from .outbox import Outbox
from .session import Session, State
from .upstream import ROLE, Upstream

TICK_S: Final = 0.25
# How long a client that is sent away has to read why.
GOODBYE_S: Final = 2.0
BACKLOG: Final = 4096


class Connection(Session, asyncio.Protocol):
    """A session with its socket. `AccessPoint` makes one for each accepted handshake."""

    __slots__ = ("_door", "_reader", "_transport")

    def __init__(self, door: "AccessPoint") -> None:
        Session.__init__(self, door.now())
        self._door = door
        self._reader = FrameReader(door.options.max_message_bytes)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the handshake has been answered."""
        transport = cast(asyncio.Transport, transport)  # uvloop has transports of its own
        self._transport = transport
        transport.set_write_buffer_limits(high=self._door.options.write_buffer_bytes)
        self._door.joined(self)

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes from the client."""
        now = self.heard_s = self._door.now()
        self.pinged = False
        for opcode, payload in self._reader.feed(data):
            if self.state is State.ENDED:
                return
            if opcode == TEXT:
                self._take(payload, now)
            elif opcode == PING:
                self.write(pong_frame(payload))
            elif opcode == CLOSE:
                self._close(payload[:2] or (1000).to_bytes(2))
                return
        if self._reader.error is not None:
            self._door.core.refusals[self._reader.error.code.name] += 1
            self.end(self._reader.error)

    def _take(self, text: bytes, now: float) -> None:
        try:
            self._door.core.receive(self, text, now, self._door.wall())
        except Refused as refused:
            self.end(refused)
        except Exception:
            self._door.log.exception("a message could not be handled", session=self.id)
            self.end(Refused("internal-error"))

    def write(self, data: bytes) -> None:
        """Give bytes to the socket."""
        if self._transport is not None:
            self._transport.write(data)

    def ping(self) -> None:
        """Ask for a sign of life, once per silence."""
        if not self.pinged:
            self.pinged = True
            self.write(ping_frame())

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Tell the client why, and close."""
        if self.state is not State.ENDED:
            self.say(messages.error(refused, reconnect_in_ms=reconnect_in_ms))
            self.write(close_frame(refused.code.number, refused.reason))
            self._shut(refused.code.name)

    def _close(self, number: bytes) -> None:
        if self.state is not State.ENDED:
            self.write(close_frame(int.from_bytes(number), ""))
            self._shut("closed")

    def _shut(self, why: str) -> None:
        self._door.core.leave(self, why)
        if self._transport is not None:
            self._transport.close()
            self._door.watch(self)

    def abort(self) -> None:
        """The time to read the goodbye is over."""
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        """asyncio: the buffers are full. Stop listening to this client too, so that it cannot make us buffer answers."""
        if self.state is not State.ENDED and self._transport is not None:
            self.chunks, self.outbox = None, Outbox(self._door.now())
            self._transport.pause_reading()
            self._door.stopped(self)

    def resume_writing(self) -> None:
        """asyncio: the client reads again."""
        outbox = self.outbox
        if outbox is not None and self._transport is not None and self.state is not State.ENDED:
            self.chunks = []
            self._door.resumed(self)
            self._transport.resume_reading()
            self.write(outbox.drain())

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio: the connection is gone."""
        self._door.lost(self)
        self._transport = None


class AccessPoint:
    """One access point. `start` opens its door, `drain` sends the clients away, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: AccessPointOptions,
        network: Network,
        verify: Verify,
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.options, self.site, self.node, self.log, self.wall = options, options.site, options.node, log, wall
        self.now = self._loop.time
        self.core = AccessPointCore(options, verify, rng)
        self.upstream = Upstream(options, self.core, network, self.now, log=log, rng=rng, wall=wall)
        self.address = options.door
        self._http = HttpDoor(routes={}, upgrades={"/v1/connect": self._upgrade})
        self._server: asyncio.Server | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._young: deque[tuple[float, Connection]] = deque()
        self._leaving: deque[tuple[float, Connection]] = deque()
        self._slow: dict[Session, None] = {}

    async def start(self) -> None:
        """Dial upstream and open the door. Raises OSError if the address is taken."""
        self.upstream.start()
        host, _, port = self.options.door.rpartition(":")
        self._server = await self._loop.create_server(
            self._http.protocol_factory, sock=_listening(host, int(port), self.options), backlog=BACKLOG
        )
        bound = self._server.sockets[0].getsockname()
        self.address = f"{bound[0]}:{bound[1]}"
        self._ticker = self._loop.create_task(self._tick(), name=f"ticks of {self.node}")

    async def drain(self) -> None:
        """Stop accepting and send all clients away, `drain_per_s` a second; returns when they are gone or after `drain_s`."""
        self.core.draining = True
        if self._server is not None:
            self._server.close()
        try:
            async with asyncio.timeout(self.options.drain_s):
                while self.core.sessions:
                    batch = max(1, int(self.options.drain_per_s * TICK_S))
                    for session in list(self.core.sessions)[:batch]:
                        self.core.farewell(session)
                    await asyncio.sleep(TICK_S if self.core.sessions else 0)
        except TimeoutError:
            self.log.warning("clients left behind", clients=len(self.core.sessions))

    async def close(self) -> None:
        """Close the door, all connections and all links. May be called twice."""
        if self._server is not None:
            self._server.close()
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)
        self._http.close()
        for session in list(self.core.sessions):
            assert isinstance(session, Connection)
            session.abort()
        for _, connection in self._leaving:
            connection.abort()
        await self.upstream.links.close()

    def ready(self) -> str | None:
        """Why clients should not be sent here; None when they can be."""
        if self.core.draining:
            return "draining"
        return None if self.upstream.link is not None else "no link to an aggregator"

    # What connections tell.

    def _upgrade(self, head: Head) -> Connection:
        self.core.admit()
        return Connection(self)

    def joined(self, connection: Connection) -> None:
        """A handshake was answered; hello is due."""
        self.core.join(connection)
        self._young.append((self.now() + self.options.hello_s, connection))

    def stopped(self, connection: Connection) -> None:
        """A client does not read."""
        self._slow[connection] = None
        self.core.stopped(connection)

    def resumed(self, connection: Connection) -> None:
        """A client reads again."""
        self._slow.pop(connection, None)
        self.core.resumed(connection)

    def lost(self, connection: Connection) -> None:
        """A connection is gone."""
        self._slow.pop(connection, None)
        self.core.leave(connection, "lost")

    def watch(self, connection: Connection) -> None:
        """A goodbye was said; it may take `GOODBYE_S` to be read."""
        self._slow.pop(connection, None)
        self._leaving.append((self.now() + GOODBYE_S, connection))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.sweep(self.now())

    def sweep(self, now: float) -> None:
        """What is due at `now`: hellos that never came, goodbyes that nobody read, slow clients, silent ones."""
        while self._young and self._young[0][0] <= now:
            _, connection = self._young.popleft()
            if connection.state is State.NEW:
                connection.end(Refused("hello-timeout", f"no hello within {self.options.hello_s:g} s"))
        while self._leaving and self._leaving[0][0] <= now:
            self._leaving.popleft()[1].abort()
        for session in list(self._slow):
            self.core.check_slow(session, now)
        self.core.tick(now, TICK_S)

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`."""
        core, hub = self.core, self.core.hub
        outboxes = [session.outbox for session in self._slow if session.outbox is not None]
        return {
            "accesspoint_connections": len(core.sessions),
            "accesspoint_connects_total": core.connects,
            "accesspoint_disconnects_total": dict(core.disconnects),
            "accesspoint_topics": len(hub.topics),
            "accesspoint_subscriptions": hub.subscriptions,
            "accesspoint_events_received_total": hub.received,
            "accesspoint_deliveries_total": hub.deliveries,
            "accesspoint_delivered_bytes_total": hub.delivered_bytes,
            "accesspoint_skipped_total": core.skipped + sum(outbox.skipped for outbox in outboxes),
            "accesspoint_evictions_total": core.evictions,
            "accesspoint_outbox_bytes": sum(outbox.size_bytes for outbox in outboxes),
            "accesspoint_paused_connections": core.paused,
            "accesspoint_messages_total": dict(core.said),
            "accesspoint_refused_total": dict(core.refusals),
            "accesspoint_acts_total": core.said["act"],
            "accesspoint_upstream_connected": int(self.upstream.link is not None),
            "accesspoint_upstream_failovers_total": self.upstream.failovers,
            "accesspoint_draining": int(core.draining),
        }


def _listening(host: str, port: int, options: AccessPointOptions) -> socket.socket:
    """A socket whose connections inherit a small send buffer: what a client does not read should wait where the newest
    can replace the older, not in the kernel."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if options.reuse_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.send_buffer_bytes)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind((host, port))
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock
