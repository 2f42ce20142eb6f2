"""The access point as a process: sockets of clients around the pure core."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from infra.kernel.every_one import for_every_one
from infra.kernel.origins import check_origin
from infra.kernel.roles import ACCESSPOINT
from infra.kernel.shares import Shares
from infra.runtime.address import Address
from infra.runtime.context import Context
from infra.runtime.door_opener import OpenDoor
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.http.door import Head, HttpDoor, HttpLimits

from .authorization.hook_arbiter import HookArbiter
from .bearer import Verify
from .connection import Connection
from .core import AccessPointCore
from .event_stream import EventStream
from .hook_caller import HookCaller
from .options import AccessPointOptions
from .session import Session
from .stream_request import PATH as STREAM
from .stream_request import stream_request
from .timeouts import Timeouts
from .upstream import Upstream

TICK_S: Final = 0.25
# What it costs to forget a client, and each of its topics, beside a byte of a long message (see `Shares`).
LEAVE_COST: Final = 128
TOPIC_COST: Final = 4


class AccessPoint:
    """One access point. `start` opens its door, `drain` sends the clients away, `close` ends it.

    `verify(token, wall_s)` returns who shows a token, and raises `Refused` for whom it does not know. `leeway_s` is the skew of clocks
    that is forgiven where tokens expire. `verify_subscription` is the same as `verify` for tokens that are for following topics alone.
    """

    role = ACCESSPOINT

    def __init__(
        self,
        options: AccessPointOptions,
        context: Context,
        verify: Verify,
        leeway_s: float = 0.0,
        verify_subscription: Verify | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.options, self.site, self.node = options, options.site, options.node
        self.log, self.wall, self.now = context.log, context.wall, context.now
        self._verify = verify
        self._capture, self._doors = context.capture, context.doors
        self._caller: HookCaller | None
        self.hook: HookArbiter | None
        self._caller, self.hook = _hook_of(options, context)
        self.core = AccessPointCore(
            options,
            verify,
            context.rng,
            self._loop.call_soon,
            context.capture,
            leeway_s,
            hook=self.hook,
            verify_subscription=verify_subscription,
        )
        self.shares = Shares(self._loop.call_soon)
        self.timeouts: Timeouts[Connection] = Timeouts(options.hello_s, self.core.slow.check)
        self.upstream = Upstream(options, self.core, context)
        self.address = options.door
        self._loops = self.upstream.links.loops
        limits = HttpLimits(visitors=options.visitors)
        upgrades, origins = {"/v1/connect": self._upgrade}, options.allowed_origins
        self._http = HttpDoor(
            {}, upgrades, limits, streams={STREAM: self._stream}, loops=self._loops, shares=self.shares, allowed_origins=origins
        )
        self._server: OpenDoor | None = None
        self._is_leaving = False
        self._ticker: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Opens the door, then dials upstream. Nobody comes in before upstream has told whose tokens are revoked.

        Raises CannotListen if the address is taken.
        """
        self.core.arrivals.hold()
        bind = partial(_bound, options=self.options)
        self._server = await self._doors.open("accesspoint.door", self.options.door, self._http.entrance, bind=bind)
        self.address = str(Address(*self._server.sockets[0].getsockname()[:2]))
        self.upstream.start()
        self._ticker = self._loops.every(TICK_S, lambda: self.sweep(self.now()), "timeouts of clients")

    async def drain(self) -> None:
        """Says that nobody should be sent here, for `drain_wait_s`; then accepts nobody and sends all clients away, `drain_per_s` a second.

        Returns when they are gone, or `drain_s` after the last one has been sent away.
        """
        self._is_leaving = True
        await asyncio.sleep(self.options.drain_wait_s)
        self.core.draining = True
        if self._server is not None:
            self._server.close()
        batch, gone = max(1, int(self.options.drain_per_s * TICK_S)), asyncio.Event()
        send_away = partial(self._send_away, batch, gone)
        sending = self._loops.every(batch / self.options.drain_per_s, send_away, "sending clients away", at_once=True)
        try:
            async with asyncio.timeout(len(self.core.sessions) / self.options.drain_per_s + self.options.drain_s):
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
            self._caller.close if self._caller is not None else None,
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

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does; None where there is nothing to read again."""
        return self._caller.on_hang_up if self._caller is not None else None

    def ready(self) -> str | None:
        """Returns why clients should not be sent here; None when they can be."""
        if self._is_leaving:
            return "draining"
        if self.upstream.source.link is None:
            return "no link to an aggregator"
        return None if self.upstream.revocations.is_whole else "no broker has told yet whose tokens are revoked"

    # What connections tell (see `ConnectionOwner`).

    def _stream(self, head: Head) -> Connection:
        """Returns a client of Server-Sent Events. What is wrong with its request is refused, so that no browser asks again for ever."""
        self._check_page(head)
        request = stream_request(head.query, head.headers)
        self.core.subscriptions.check_count(request.topics)
        head.place.check_token(partial(self._verify, request.token, self.wall()), self.now())
        self.core.admit()
        return EventStream(self, request, head.place)

    def _upgrade(self, head: Head) -> Connection:
        self._check_page(head)
        self.core.admit()
        return Connection(self, head.place)

    def _check_page(self, head: Head) -> None:
        """Raises `Refused("origin-refused")` for a page of strangers."""
        origin, host = (head.headers[name].decode("latin-1") if name in head.headers else None for name in (b"origin", b"host"))
        check_origin(origin, host or "", self.options.allowed_origins)

    def joined(self, connection: Connection) -> None:
        """Takes in a client whose handshake was answered, and whose hello is due."""
        self.core.join(connection)
        self.timeouts.joined(connection, self.now())

    def stopped(self, connection: Connection) -> None:
        """Notes that a client does not read."""
        self.timeouts.stopped(connection)
        self.core.slow.stopped(connection)

    def resumed(self, connection: Connection) -> None:
        """Notes that a client reads again."""
        self.timeouts.resumed(connection)
        self.core.slow.resumed(connection)

    def lost(self, connection: Connection) -> None:
        """Forgets a connection that is gone; a share in each turn where very many go at once, as if the rest had gone later."""
        self.timeouts.lost(connection)
        self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        if not self.shares.take():
            self.shares.wait(partial(self._forget, connection))
            return
        self.shares.spend(LEAVE_COST + TOPIC_COST * self.core.hub.count(connection))
        self.core.leave(connection, "lost")
        connection.place.give_back()

    def rests(self, connection: Connection, rest_s: float) -> None:
        """Has a client that is too fast not be read for so long."""
        self.timeouts.rests(connection, self.now() + rest_s)

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
        friend_topics, beyond = core.friends.count()
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
            "accesspoint_skipped_total": core.slow.skipped + sum(outbox.skipped for outbox in outboxes),
            "accesspoint_shed_total": hub.shed,
            "accesspoint_evictions_total": core.slow.evictions,
            "accesspoint_outbox_bytes": sum(outbox.size_bytes for outbox in outboxes),
            "accesspoint_paused_connections": core.slow.paused,
            "accesspoint_rests_total": core.pace.rests,
            "accesspoint_unfinished_connections": len(core.arrivals.strangers),
            "accesspoint_messages_total": dict(core.said),
            "accesspoint_refused_total": dict(core.refusals + self._http.refusals + self._http.turned_away),
            "accesspoint_acts_total": core.said["act"],
            "accesspoint_acts_private_total": core.gatekeeper.private.dropped,
            "accesspoint_verdicts_asked_total": core.gatekeeper.authorizer.asked,
            "accesspoint_verdicts_cached": len(core.gatekeeper.authorizer.cache),
            "accesspoint_follows_waiting": len(core.gatekeeper.authorizer.questions),
            "accesspoint_rosters": len(core.friends.rosters),
            "accesspoint_friend_topics": friend_topics,
            "accesspoint_friend_topics_beyond": beyond,
            "accesspoint_rosters_asked_total": core.friends.rosters.asked,
            "accesspoint_rosters_refused_total": core.friends.rosters.refused,
            "accesspoint_follows_ended_total": core.gatekeeper.ended,
            "accesspoint_hook_asked_total": dict(self.hook.asked) if self.hook is not None else {},
            "accesspoint_hook_failed_total": dict(self.hook.failed) if self.hook is not None else {},
            "accesspoint_hook_from_cache_total": self.hook.from_cache if self.hook is not None else 0,
            "accesspoint_hook_cached": len(self.hook.cache) if self.hook is not None else 0,
            "accesspoint_hook_open": self._caller.open if self._caller is not None else 0,
            "accesspoint_catch_ups_total": core.inboxes.catch_up.pulls,
            "accesspoint_recoveries_total": dict(core.recoveries.results),
            "accesspoint_replayed_total": core.recoveries.replayed,
            "accesspoint_upstream_connected": int(source.link is not None),
            "accesspoint_upstream_failovers_total": source.failovers,
            "accesspoint_upstream_moves_total": dict(source.moves),
            "accesspoint_topics_offloaded": len(assigned.out),
            "accesspoint_assignment_epoch": assigned.epoch,
            "accesspoint_assignments_stale_total": assigned.stale,
            "accesspoint_offloaded_notices_total": core.offload_notices.told,
            "accesspoint_draining": int(self._is_leaving),
        }


def _hook_of(options: AccessPointOptions, context: Context) -> tuple[HookCaller, HookArbiter] | tuple[None, None]:
    """Returns who asks the hook, under the policy of that name. Raises ConfigError for files that cannot be used."""
    if options.effective_policy != "hook" or options.hook is None:
        return None, None
    caller = HookCaller(options.hook, context)
    return caller, HookArbiter(options.hook, options.site, options.node, caller)


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
