"""The access point as a process: sockets of clients around the pure core."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from infra.kernel.every_one import for_every_one
from infra.kernel.roles import ACCESSPOINT
from infra.runtime.address import Address
from infra.runtime.context import Context
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.http.door import Head, HttpDoor
from infra.runtime.listening import listening

from .connection import Connection
from .core import AccessPointCore, Verify
from .options import AccessPointOptions
from .session import Session
from .timeouts import Timeouts
from .upstream import Upstream

TICK_S: Final = 0.25
BACKLOG: Final = 4096


class AccessPoint:
    """One access point. `start` opens its door, `drain` sends the clients away, `close` ends it.

    `verify(token, wall_s)` returns who shows a token, and raises `Refused` for whom it does not know.
    """

    role = ACCESSPOINT

    def __init__(
        self,
        options: AccessPointOptions,
        context: Context,
        verify: Verify,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.options, self.site, self.node = options, options.site, options.node
        self.log, self.wall, self.now = context.log, context.wall, context.now
        self._capture = context.capture
        self.core = AccessPointCore(options, verify, context.rng, self._loop.call_soon, context.capture)
        self.timeouts: Timeouts[Connection] = Timeouts(options.hello_s, self.core.check_slow)
        self.upstream = Upstream(options, self.core, context)
        self.address = options.door
        self._loops = self.upstream.links.loops
        self._http = HttpDoor(routes={}, upgrades={"/v1/connect": self._upgrade}, loops=self._loops)
        self._server: asyncio.Server | None = None
        self._ticker: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Opens the door, then dials upstream. Raises CannotListen if the address is taken."""
        with listening("accesspoint.door", self.options.door):
            sock = _bound(Address.parse(self.options.door), self.options)
            self._server = await self._loop.create_server(self._http.protocol_factory, sock=sock, backlog=BACKLOG)
        self.address = str(Address(*sock.getsockname()[:2]))
        self.upstream.start()
        self._ticker = self._loops.every(TICK_S, lambda: self.sweep(self.now()), "timeouts of clients")

    async def drain(self) -> None:
        """Accepts nobody any more and sends all clients away, `drain_per_s` a second; returns when they are gone or after `drain_s`."""
        self.core.draining = True
        if self._server is not None:
            self._server.close()
        batch, gone = max(1, int(self.options.drain_per_s * TICK_S)), asyncio.Event()
        send_away = partial(self._send_away, batch, gone)
        sending = self._loops.every(batch / self.options.drain_per_s, send_away, "sending clients away", at_once=True)
        try:
            async with asyncio.timeout(self.options.drain_s):
                await gone.wait()
        except TimeoutError:
            self.log.warning("clients left behind", clients=len(self.core.sessions) + len(self.timeouts.leaving))
        finally:
            await end_tasks(sending)

    def _send_away(self, batch: int, gone: asyncio.Event) -> None:
        if not self.core.sessions and not self.timeouts.leaving:
            gone.set()
        for_every_one(partial(self.core.farewell, session) for session in list(islice(self.core.sessions, batch)))

    async def close(self) -> None:
        """Closes the door, all connections and all links. May be called twice."""
        await end_all(
            self._server.close if self._server is not None else None,
            partial(end_tasks, self._ticker),
            self._http.close,
            self._cut_all,
            self.upstream.links.close,
            self._capture.close if self._capture is not None else None,
        )

    def _cut_all(self) -> None:
        for_every_one(partial(self._cut, session) for session in list(self.core.sessions))
        for_every_one(connection.abort for connection in self.timeouts.leaving)

    def _cut(self, session: Session) -> None:
        assert isinstance(session, Connection)
        session.abort()
        self.core.leave(session, "lost")

    def ready(self) -> str | None:
        """Returns why clients should not be sent here; None when they can be."""
        if self.core.draining:
            return "draining"
        return None if self.upstream.source.link is not None else "no link to an aggregator"

    # What connections tell (see `ConnectionOwner`).

    def _upgrade(self, head: Head) -> Connection:
        self.core.admit()
        return Connection(self)

    def joined(self, connection: Connection) -> None:
        """Takes in a client whose handshake was answered, and whose hello is due."""
        self.core.join(connection)
        self.timeouts.joined(connection, self.now())

    def stopped(self, connection: Connection) -> None:
        """Notes that a client does not read."""
        self.timeouts.stopped(connection)
        self.core.stopped(connection)

    def resumed(self, connection: Connection) -> None:
        """Notes that a client reads again."""
        self.timeouts.resumed(connection)
        self.core.resumed(connection)

    def lost(self, connection: Connection) -> None:
        """Forgets a connection that is gone."""
        self.timeouts.lost(connection)
        self.core.leave(connection, "lost")

    def watch(self, connection: Connection) -> None:
        """Gives a client `GOODBYE_S` to read the goodbye that was said."""
        self.timeouts.left(connection, self.now())

    def sweep(self, now: float) -> None:
        """Ends what is due at `now`: hellos that never came, goodbyes that nobody read, slow clients, silent ones.

        Raises what went wrong with some of them when all had their turn.
        """
        for_every_one(self._due(now))

    def _due(self, now: float) -> Iterator[Callable[[], None]]:
        yield from self.timeouts.due(now)
        yield partial(self.core.tick, now, TICK_S)

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        core, hub, source = self.core, self.core.hub, self.upstream.source
        outboxes = [session.outbox for session in self.timeouts.slow if session.outbox is not None]
        captured: dict[str, Any] = self._capture.counters() if self._capture is not None else {}
        others = captured | self._loops.counters()
        assigned = core.offload_notices.assigned
        return others | {
            "accesspoint_connections": len(core.sessions),
            "accesspoint_connects_total": core.connects,
            "accesspoint_disconnects_total": dict(core.disconnects),
            "accesspoint_topics": len(hub.topics),
            "accesspoint_subscriptions": hub.subscriptions,
            "accesspoint_calls_bytes": core.calls.open_bytes,
            "accesspoint_links_slow_total": self.upstream.links.slow,
            "accesspoint_events_received_total": hub.received,
            "accesspoint_events_stale_total": hub.stale,
            "accesspoint_deliveries_total": hub.deliveries,
            "accesspoint_delivered_bytes_total": hub.delivered_bytes,
            "accesspoint_skipped_total": core.skipped + sum(outbox.skipped for outbox in outboxes),
            "accesspoint_shed_total": hub.shed,
            "accesspoint_evictions_total": core.evictions,
            "accesspoint_outbox_bytes": sum(outbox.size_bytes for outbox in outboxes),
            "accesspoint_paused_connections": core.paused,
            "accesspoint_messages_total": dict(core.said),
            "accesspoint_refused_total": dict(core.refusals),
            "accesspoint_acts_total": core.said["act"],
            "accesspoint_catch_ups_total": core.catch_up.pulls,
            "accesspoint_upstream_connected": int(source.link is not None),
            "accesspoint_upstream_failovers_total": source.failovers,
            "accesspoint_upstream_moves_total": dict(source.moves),
            "accesspoint_topics_offloaded": len(assigned.out),
            "accesspoint_assignment_epoch": assigned.epoch,
            "accesspoint_assignments_stale_total": assigned.stale,
            "accesspoint_offloaded_notices_total": core.offload_notices.told,
            "accesspoint_draining": int(core.draining),
        }


def _bound(address: Address, options: AccessPointOptions) -> socket.socket:
    """Returns a socket whose connections inherit a small send buffer.

    What a client does not read should wait where the newest can replace the older, not in the kernel.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if options.reuse_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.send_buffer_bytes)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.bind(address)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock
