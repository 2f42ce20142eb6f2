"""What works on an open store, composed: from the log and the worker to the HTTP door."""

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from infra.kernel.events import Event
from infra.kernel.frames import Call
from infra.runtime.callers import Callers
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.http.web import Web
from infra.runtime.logs import Logger
from infra.runtime.node import Node
from infra.runtime.tokens import Identity, Service, ensure_secret, read_secret
from rule_engine.rules import RuleSet

from .agenda import Agenda
from .channels import Mail, Push
from .core import Decider
from .dispatch import Dispatch
from .door import Door
from .epoch import StoreEpoch
from .feed import Feed
from .intake import Intake, Record
from .log import Log
from .online import Online
from .options import NotificationOptions
from .ownership.holdings import Holdings
from .ownership.keeper import Keeper
from .ownership.life import Life
from .ownership.routes import Routes
from .people import People
from .push import Pusher
from .retelling import Retelling
from .store import Store
from .stores import open_store
from .teller import Publish, Then
from .vapid import Vapid
from .why import Why
from .worker import Worker

OPS: Final = ("pull", "seen", "read", "history")
SWEEP_S: Final = 60.0
SWEEP_ROWS: Final = 2000
AGAIN_S: Final = 0.1


class Tokens(Protocol):
    """Who is at the HTTP door; both raise Refused."""

    def client(self, token: str, now_s: float) -> Identity:
        """The user who shows `token`."""

    def service(self, token: str, now_s: float) -> Service:
        """The service that shows `token`."""


class Surroundings(NamedTuple):
    """What the parts need of their process. `tell` hands a live copy to the engine and tries for a while, `publish` tries once;
    `public_url()` is where users reach the HTTP door."""

    options: NotificationOptions
    rules: RuleSet
    links: Node
    online: Online
    tokens: Tokens
    tell: Callable[[Event, Then], None]
    publish: Publish
    public_url: Callable[[], str]
    wall: Callable[[], float]
    rng: random.Random
    logger: Logger
    record: Record | None


class Parts:
    """Everything of one node that lives as long as its store is open."""

    def __init__(self, process: Surroundings, store: Store, life: Life) -> None:
        """Raises ConfigError."""
        options, wall, logger = process.options, process.wall, process.logger
        self.swept = 0
        self.store, self._life = store, life
        self._epoch = StoreEpoch(store, options.path, is_beside=options.store == "sqlite", wall=wall, logger=logger)
        self._loops = process.links.loops
        shared: dict[str, Any] = {"wall": wall, "loops": self._loops, "logger": logger}
        self.keeper = Keeper(store, life, self._epoch, site=options.site, lease_s=options.lease_s, **shared)
        fence = self.keeper.fence
        self.log, self.agenda, people = Log(store, fence), Agenda(store, fence), People(store)
        decider = Decider(process.rules, options.patience, lambda: self._epoch.number)
        # Links in mails outlive this process, so what signs them is kept beside the store.
        secret = read_secret(ensure_secret(options.path))
        self.mail = Mail(options.email, secret, process.public_url, wall) if options.email else None
        vapid = Vapid.ensure(options.path) if options.push else None
        self.pusher = Pusher(options.push, vapid, wall) if options.push and vapid else None
        self.retelling = retelling = Retelling(
            store,
            self.agenda,
            decider,
            process.publish,
            lambda task: self.routes.schedule(task),
            epoch=lambda: self._epoch.number,
            wall=wall,
            loops=self._loops,
        )
        telling: dict[str, Any] = {
            "publish": lambda event: process.tell(event, partial(retelling.told, event)),
            "fence": fence,
            **shared,
        }
        self.worker = Worker(store, self.log, self.agenda, decider, process.online, people, **telling)
        push = Push(self.pusher) if self.pusher else None
        self.dispatch = Dispatch(store, self.agenda, decider, process.online, people, self.mail, push, retelling, rng=process.rng, **shared)
        self._holdings = Holdings(self.log, self.worker, people, self.agenda, self.dispatch, wall)
        self.routes = Routes(process.links, self.keeper, self.log, self.agenda, people, wall)
        self.intake = Intake(store, self.routes, wall, process.record)
        # What was read shows with the next answer, too.
        feed = Feed(store, lambda event: process.tell(event, lambda ok, attempts: None), wall, lambda: self._epoch.number)
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
            verify_user=process.tokens.client,
            verify_service=process.tokens.service,
            wall=wall,
            max_body_bytes=options.max_body_bytes,
            log=logger,
        )
        self._sweeper: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, process: Surroundings) -> "Parts":
        """Open the store. Raises ConfigError and Unavailable."""
        options = process.options
        life = Life(options.path, options.site, options.node)
        try:
            store = await open_store(options, process.wall)
        except BaseException:
            life.close()
            raise
        try:
            return cls(process, store, life)
        except BaseException:
            await end_all(store.close, life.close)
            raise

    async def start(self, address: str) -> None:
        """Join the other nodes as the one whose links are at `address`, and work. Raises Unavailable."""
        await self._epoch.open()
        await self.keeper.open(self._holdings, address)
        self.keeper.start()
        self.retelling.start()
        self._sweeper = self._loops.every(SWEEP_S, self._sweep, "sweeping what is past its time", at_once=True)

    async def close(self) -> None:
        """Stop working, and leave the shards to the other nodes."""
        await end_all(
            self.web.drain,
            self.web.close,
            self.callers.close,
            self.peers.close,
            partial(end_tasks, self._sweeper),
            self.retelling.close,
            self._holdings.close,
            self.keeper.close,
            self.mail.mailer.close if self.mail else None,
            self.pusher.close if self.pusher else None,
        )

    async def end(self) -> None:
        """Close the store, when the links are closed, too."""
        await end_all(self.store.close, self._life.close)

    def missing(self) -> str | None:
        """Why not everybody can be served now; None when all can."""
        return self.keeper.missing() or self.routes.missing()

    async def _sweep(self) -> float:
        """A little at a time, so that it is in nobody's way."""
        swept = await self.store.sweep(SWEEP_ROWS)
        self.swept += swept
        return AGAIN_S if swept >= SWEEP_ROWS else SWEEP_S

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        return {
            "notification_http_requests_total": self.web.requests,
            "notification_accepted_total": self.intake.accepted,
            "notification_duplicates_total": self.intake.duplicates,
            "notification_rows_total": self.intake.rows,
            "notification_backlog_parts": self.log.backlog,
            "notification_decided_total": self.worker.decided,
            "notification_live_total": self.worker.told,
            "notification_live_retold_total": self.retelling.retold,
            "notification_live_lost_total": self.retelling.lost,
            "notification_scheduled_total": self.worker.scheduled,
            "notification_sent_total": dict(self.dispatch.ended),
            "notification_calls_total": dict(self.callers.answered),
            "notification_calls_refused_total": self.callers.refused,
            "notification_mail_trouble": int(bool(self.mail and self.mail.mailer.trouble)),
            "notification_swept_total": self.swept,
        }


def _answerer(feed: Feed, op: str) -> Any:
    async def answer(call: Call) -> bytes:
        return await feed.answer(op, call.user, call.client, call.body)

    return answer
