"""The stored path: what works on an open store, composed, from the log and the rule worker to the HTTP handlers."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from broker.client import SiteClient
from infra.kernel.events import Event
from infra.kernel.frames import Call
from infra.kernel.roles import NOTIFICATION
from infra.runtime.callers import Answerer, Callers
from infra.runtime.context import Context
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.http.web import Web
from infra.runtime.metrics import Value
from infra.runtime.node import Node
from infra.runtime.private_folder import warn_of_others
from infra.runtime.tokens import Tokens, ensure_secret, read_secret
from rule_engine.rules import RuleSet

from .agenda import Agenda
from .attempt import Attempts
from .channels import Mail, Push
from .core import Decider
from .dispatch import Dispatch
from .epoch import StoreEpoch
from .feed import Feed
from .handlers import NotificationHandlers
from .intake import Intake
from .log import Log
from .module_context import ModuleContext
from .online import Online
from .options import NotificationOptions
from .owned import Owned
from .ownership.core import FencingToken
from .ownership.holdings import Holdings
from .ownership.keeper import Keeper
from .ownership.life import Life
from .ownership.routes import Routes
from .people import People
from .push import Pusher
from .retelling import Retelling
from .store import Store
from .stores import OpenStore
from .teller import Teller
from .vapid import Vapid
from .webhook_caller import WebhookCaller
from .webhook_handlers import WebhookHandlers
from .why import Why
from .worker import Worker

OPS: Final = ("pull", "list", "seen", "read", "change", "history")
SWEEP_S: Final = 60.0
SWEEP_ROWS: Final = 2000
AGAIN_S: Final = 0.1


class Surroundings(NamedTuple):
    """The surroundings of the stored path: what it needs of its process.

    - `options`, `context`: of the role.
    - `rules`: what decides.
    - `links`: dials other nodes.
    - `brokers`: publishes live copies.
    - `online`: asks presence.
    - `tokens`: says who is at the HTTP handlers.
    - `public_url`: returns where users reach the HTTP handlers.
    - `open_store`: opens the store that the options ask for.
    """

    options: NotificationOptions
    context: Context
    rules: RuleSet
    links: Node
    brokers: SiteClient
    online: Online
    tokens: Tokens
    public_url: Callable[[], str]
    open_store: OpenStore


class StoredPath:
    """Everything of one node that lives as long as its store is open."""

    def __init__(self, process: Surroundings, store: Store, life: Life) -> None:
        """Raises ConfigError."""
        options, context = process.options, process.context
        module = ModuleContext(store=store, context=context, loops=process.links.loops)
        self.swept = 0
        self.store, self._life, self._loops = store, life, module.loops
        self._log, self._wall, self._doubts_clock = context.log, context.wall, False
        self.epoch = StoreEpoch(module, options.path, is_beside=options.store == "sqlite")
        self.owned = Owned(log=Log(store, self._fence), agenda=Agenda(store, self._fence), people=People(store), fence=self._fence)
        decider = Decider(process.rules, options.patience, lambda: self.epoch.number)
        # Links in mails outlive this process, so what signs them is kept beside the store.
        secret = read_secret(ensure_secret(options.path))
        self.mail = Mail(options.email, secret, process.public_url, context) if options.email else None
        self.pusher = Pusher(options.push, Vapid.ensure(options.path), context.wall, context.outgoing) if options.push else None
        push = Push(self.pusher) if self.pusher else None
        self.teller = Teller(process.brokers.publish, asyncio.get_running_loop().time)
        self.retelling = Retelling(module, self.owned.agenda, decider, process.brokers.publish, lambda task: self.routes.schedule(task))
        self.worker = Worker(module, self.owned, decider, process.online, self._tell)
        self.caller = WebhookCaller(options.webhook, context.wall, context.outgoing)
        webhooks = self.caller if options.webhook.per_user else None
        attempts = Attempts(module, self.owned, decider, process.online, self.mail, push, webhooks, self.retelling)
        self.dispatch = Dispatch(module, self.owned, attempts)
        self._holdings = Holdings(module, self.owned, self.worker, self.dispatch)
        # What is owned bears the keeper's fence, and the keeper tells the routes what has changed: each needs the other, so
        # `_fence`, `schedule` and `on_change` find theirs when they are called, not now.
        self.keeper = Keeper(module, options, life, self.epoch, self._holdings, on_change=lambda: self.routes.follow_members())
        self.routes = Routes(process.links, self.keeper, self.owned, module)
        self.intake = Intake(module, self.routes)
        # What was read shows with the next answer, too, so nobody asks what came of this copy.
        feed = Feed(store, lambda event: self.teller.tell(event, lambda ok, attempts: None), context.wall, lambda: self.epoch.number)
        handlers = NotificationHandlers(module, self.intake, feed, Why(module, self.routes), self.routes, secret, self.pusher)
        webhook_handlers = WebhookHandlers(module, self.caller, options.webhook.per_user, self.routes.refresh)
        self.callers = Callers({op: _answerer(feed, op) for op in OPS}, context.log)
        self.peers = Callers(self.routes.answers(), context.log)
        self.web = Web(
            [*handlers.routes(), *webhook_handlers.routes()],
            tokens=process.tokens,
            wall=context.wall,
            doors=context.doors,
            max_body_bytes=options.max_body_bytes,
            limits=options.web,
            name=NOTIFICATION,
            log=context.log,
            audit=context.audit,
            allowed_origins=options.allowed_origins,
        )
        self._sweeper: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, process: Surroundings) -> "StoredPath":
        """Opens the store and returns what works on it. Raises ConfigError and Unavailable."""
        options = process.options
        life = Life(options.path, options.site, options.node)
        try:
            warn_of_others(options.path, process.context.log)
            store = await process.open_store(options, process.context.wall)
        except BaseException:
            life.close()
            raise
        try:
            return cls(process, store, life)
        except BaseException:
            await end_all(store.close, life.close)
            raise

    async def start(self, address: str) -> None:
        """Joins the other nodes as the one whose links are at `address`, and begins to work. Raises Unavailable."""
        await self.epoch.open()
        await self.keeper.open(address)
        self.keeper.start()
        self.retelling.start()
        self._sweeper = self._loops.every(SWEEP_S, self._sweep, "sweeping what is past its time", at_once=True)

    async def close(self) -> None:
        """Stops working, and hands the shards over to the other nodes."""
        await end_all(
            self.teller.end,
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
            self.caller.close,
        )

    async def end(self) -> None:
        """Closes the store. The links are closed before."""
        await end_all(self.store.close, self._life.close)

    def missing(self) -> str | None:
        """Returns why not everybody can be served now; None when all can."""
        return self.keeper.missing() or self.routes.missing()

    def counters(self) -> dict[str, Value]:
        """Returns figures for `metrics.METRICS`."""
        return {
            **self.web.counters(),
            "notification_accepted_total": self.intake.accepted,
            "notification_duplicates_total": self.intake.duplicates,
            "notification_rows_total": self.intake.rows,
            "notification_backlog_parts": self.owned.log.backlog,
            "notification_decided_total": self.worker.decided,
            "notification_live_total": self.worker.told,
            "notification_live_failed_total": self.teller.failed,
            "notification_live_retold_total": self.retelling.retold,
            "notification_live_lost_total": self.retelling.lost,
            "notification_scheduled_total": self.worker.scheduled,
            "notification_sent_total": dict(self.dispatch.ended),
            "notification_webhook_attempts_total": dict(self.caller.outcomes),
            "notification_calls_total": dict(self.callers.answered),
            "notification_calls_refused_total": self.callers.refused,
            "notification_mail_trouble": int(bool(self.mail and self.mail.mailer.trouble)),
            "notification_swept_total": self.swept,
            "notification_clock_doubted": int(self._doubts_clock),
        }

    def _fence(self) -> FencingToken:
        return self.keeper.fence()

    def _tell(self, event: Event) -> None:
        self.teller.tell(event, partial(self.retelling.told, event))

    async def _sweep(self) -> float:
        """Deletes a little at a time, so that it is in nobody's way; returns when to go on, in seconds."""
        swept, doubted = await self.store.sweep(SWEEP_ROWS), self.store.doubts_clock
        self.swept += swept
        if doubted != self._doubts_clock:
            self._doubts_clock = doubted
            if doubted:
                self._log.warning("the clock has leapt ahead: nothing expires until it has gone on for days", clock_s=self._wall())
            else:
                self._log.info("what is past its time expires again")
        return AGAIN_S if swept >= SWEEP_ROWS else SWEEP_S


def _answerer(feed: Feed, op: str) -> Answerer:
    async def answer(call: Call) -> bytes:
        return await feed.answer(op, call.user, call.client, call.body)

    return answer
