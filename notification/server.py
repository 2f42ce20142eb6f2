"""The notification module as a process: intake and settings over HTTP, the feed over links, the rule worker behind both.

Any number of processes work on one store, and share the followers among them (`ownership`). Access points call any of them
for their clients; it asks presence who is online, and publishes live copies through the brokers of its site.
"""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any as Anything
from typing import Final, Protocol

from broker.client import SiteClient
from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.kernel.events import Event
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Call, Heartbeat, Hello, Reply, View
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from infra.runtime.node import Node
from infra.runtime.tokens import Identity, Service, ensure_secret, read_secret
from infra.runtime.web import Web
from infra.runtime.wire import Network
from rule_engine.load import default_text, load
from rule_engine.rules import RuleSet

from .agenda import Agenda
from .channels import Mail, Push
from .core import Decider
from .dispatch import Dispatch
from .door import Door
from .feed import Feed
from .intake import Intake
from .log import Log
from .online import Online
from .options import NotificationOptions
from .ownership_holdings import Holdings
from .ownership_keeper import Keeper
from .ownership_life import Life
from .ownership_routes import Routes
from .people import People
from .push import Pusher
from .store import Store
from .stores import open_store
from .vapid import Vapid
from .why import Why
from .worker import Worker

ROLE: Final = "notification"
OPS: Final = ("pull", "seen", "read", "history")
SWEEP_S: Final = 60.0
SWEEP_ROWS: Final = 2000


class Tokens(Protocol):
    """Who is at the HTTP door; both raise Refused."""

    def client(self, token: str, now_s: float) -> Identity:
        """The user who shows `token`."""

    def service(self, token: str, now_s: float) -> Service:
        """The service that shows `token`."""


class Notification:
    """One notification module. `start` opens its store and its doors, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: NotificationOptions,
        network: Network,
        tokens: Tokens,
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.door
        self.live_failed = self.swept = 0
        self._tokens, self._log, self._rng, self._wall = tokens, log, rng, wall
        self.links = Node((ROLE, self.node, self.site), network, self, timing=options.link, rng=rng, log=log, wall=wall)
        self._brokers = SiteClient(self.links, self.site, options.brokers)
        self.online = Online(len(options.presence))
        self._rules = _rules(options)
        self._parts: _Parts | None = None

    async def start(self) -> None:
        """Open the store, go on with what was left, then open the doors. Raises ConfigError, Unavailable and OSError."""
        life = Life(self.options.path, self.site, self.node)
        self._parts = parts = await _Parts.open(self, life)
        self._brokers.start()
        for address in self.options.presence:
            self.links.dial(address, "presence", self.site)
        listen = await self.links.listen(self.options.listen)
        await parts.start(self.options.advertise or listen)
        self.address = await parts.web.start(self.options.door)

    async def drain(self) -> None:
        """Take nothing new over HTTP."""
        if self._parts is not None:
            self._parts.web.drain()

    async def close(self) -> None:
        """Close the doors, stop working, close the store. May be called twice."""
        parts, self._parts = self._parts, None
        if parts is not None:
            await parts.close()
        await self.links.close()
        if parts is not None:
            await parts.end()

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        if self._parts is None:
            return "it is starting"
        if not self._brokers.view.slots:
            return "no broker has told the site's view yet"
        if self._parts.keeper.missing() or self._parts.routes.missing():
            return self._parts.keeper.missing() or self._parts.routes.missing()
        if missing := [slot for slot in self._brokers.view.slots if slot not in self._brokers.links]:
            return f"no link to {', '.join(missing)}"
        return self.online.missing()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points and other nodes of the module, of any site: one module may serve several."""
        if hello.role not in ("accesspoint", ROLE):
            raise Refused("wrong-peer", f"notification of {self.site} serves access points, not a {hello.role} of {hello.site}")

    def link_up(self, link: Link) -> None:
        """A broker, presence or another node answered, or one called."""
        if self._brokers.concerns(link):
            self._brokers.link_up(link)
        elif link.dialled is not None and link.peer.role == ROLE:
            if self._parts is not None:
                self._parts.routes.link_up(link)
        elif link.dialled is not None:
            self.online.link_up(link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone."""
        if self._brokers.concerns(link):
            self._brokers.link_down(link)
        elif link.dialled is not None and link.peer.role == ROLE:
            if self._parts is not None:
                self._parts.routes.link_down(link)
        elif link.dialled is not None:
            self.online.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Calls of clients and of other nodes, answers of those and of presence, acknowledgements of brokers."""
        if self._brokers.concerns(link):
            self._brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call() if link.dialled is None and self._parts is not None:
                    (self._parts.peers if link.peer.role == ROLE else self._parts.callers).take(link, frame)
                case Reply() if link.dialled is not None and link.peer.role != ROLE:
                    self.online.reply(frame)
                case Reply() if link.dialled is not None and self._parts is not None:
                    self._parts.routes.reply(frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} makes no sense to the notification module")

    def tick(self, now: float) -> None:
        """Nothing to decide on time here."""

    def publish(self, event: Event) -> None:
        """Hand a live copy to the engine. One that is lost shows as a gap, and the client pulls."""
        self._brokers.publish(event, self._published)

    def _published(self, ok: bool) -> None:
        self.live_failed += not ok

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`."""
        parts = self._parts
        figures: dict[str, Anything] = {
            "notification_links": len(self.links.links),
            "notification_live_failed_total": self.live_failed,
            "notification_presence_unanswered_total": self.online.unanswered,
            "notification_swept_total": self.swept,
        }
        return figures | parts.counters() if parts is not None else figures


class _Parts:
    """What works on an open store."""

    def __init__(self, role: Notification, store: Store, life: Life) -> None:
        options, wall, logger = role.options, role._wall, role._log
        self.store, self._life = store, life
        self.keeper = Keeper(store, life, site=role.site, lease_s=options.lease_s, wall=wall, logger=logger)
        fence = self.keeper.fence
        self.log, self.agenda = Log(store, fence), Agenda(store, fence)
        self.people = People(store)
        self.decider = Decider(role._rules, options.patience)
        # Links in mails outlive this process, so what signs them is kept beside the store.
        secret = read_secret(ensure_secret(options.path))
        self.mail = Mail(options.email, secret, lambda: options.public_url or f"http://{role.address}", wall) if options.email else None
        vapid = Vapid.ensure(options.path) if options.push else None
        self.pusher = Pusher(options.push, vapid, wall) if options.push and vapid else None
        shared: dict[str, Anything] = {"wall": wall, "logger": logger}
        self.worker = Worker(store, self.log, self.agenda, self.decider, role.online, self.people, publish=role.publish, fence=fence, **shared)
        push = Push(self.pusher) if self.pusher else None
        self.dispatch = Dispatch(store, self.agenda, self.decider, role.online, self.people, self.mail, push, rng=role._rng, **shared)
        self._holdings = Holdings(self.log, self.worker, self.people, self.agenda, self.dispatch, wall)
        self.routes = Routes(role.links, self.keeper, self.log, self.agenda, self.people, wall)
        self.intake = Intake(store, self.routes, wall)
        feed = Feed(store, role.publish, wall)
        door = Door(
            store,
            self.intake,
            feed,
            self.routes,
            Why(store, self.routes, wall),
            secret=secret,
            push_key=vapid.public_key if vapid else "",
            allow_loopback=bool(options.push and options.push.allow_loopback),
            wall=wall,
        )
        self.callers = Callers({op: _answerer(feed, op) for op in OPS}, logger)
        self.peers = Callers(self.routes.answers(), logger)
        self.web = Web(
            door.routes(),
            verify_user=role._tokens.client,
            verify_service=role._tokens.service,
            wall=wall,
            max_body_bytes=options.max_body_bytes,
            log=logger,
        )
        self._role = role
        self._sweeper: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, role: Notification, life: Life) -> "_Parts":
        try:
            store = await open_store(role.options, role._wall)
        except BaseException:
            life.close()
            raise
        try:
            return cls(role, store, life)
        except BaseException:
            life.close()
            await store.close()
            raise

    async def start(self, address: str) -> None:
        await self.keeper.open(self._holdings, address)
        self.keeper.start()
        self._sweeper = asyncio.create_task(self._sweep(), name="sweeping what is past its time")

    async def close(self) -> None:
        self.web.drain()
        await self.web.close()
        await self.callers.close()
        await self.peers.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.gather(self._sweeper, return_exceptions=True)
        await self._holdings.close()
        await self.keeper.close()
        for channel in (self.mail.mailer if self.mail else None, self.pusher):
            if channel is not None:
                await channel.close()

    async def end(self) -> None:
        """After the links are closed."""
        await self.store.close()
        self._life.close()

    async def _sweep(self) -> None:
        """A little at a time, so that it is in nobody's way."""
        while True:
            swept = 0
            with suppress(Unavailable):
                swept = await self.store.sweep(SWEEP_ROWS)
            self._role.swept += swept
            await asyncio.sleep(0.1 if swept >= SWEEP_ROWS else SWEEP_S)

    def counters(self) -> dict[str, Anything]:
        return {
            "notification_http_requests_total": self.web.requests,
            "notification_accepted_total": self.intake.accepted,
            "notification_duplicates_total": self.intake.duplicates,
            "notification_rows_total": self.intake.rows,
            "notification_backlog_parts": self.log.backlog,
            "notification_decided_total": self.worker.decided,
            "notification_live_total": self.worker.told,
            "notification_scheduled_total": self.worker.scheduled,
            "notification_sent_total": dict(self.dispatch.ended),
            "notification_calls_total": dict(self.callers.answered),
            "notification_calls_refused_total": self.callers.refused,
            "notification_mail_trouble": int(bool(self.mail and self.mail.mailer.trouble)),
        }


def _answerer(feed: Feed, op: str) -> Anything:
    async def answer(call: Call) -> bytes:
        return await feed.answer(op, call.user, call.client, call.body)

    return answer


def _rules(options: NotificationOptions) -> RuleSet:
    """Raises ConfigError."""
    if options.rules is None:
        return load(default_text(), "the default rules")
    try:
        return load(options.rules.read_text(encoding="utf-8"), str(options.rules))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"notification.rules: {options.rules} cannot be read: {error}") from None
