"""A cluster whose notification module goes by a clock, and on stores, that the test gives it."""

import random
import time
from pathlib import Path
from typing import Any

from infra.kernel.roles import NOTIFICATION
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import Identity, Service, Verifier, issue
from notification.options import NotificationOptions
from notification.server import NotificationModule
from notification.stores import OpenStore, open_store

from .cluster import SECRET, Cluster
from .manual_clock import ManualClock
from .stored import configured


class _Doorkeeper:
    """Tokens go by the machine's clock, so that a clock that is set shuts nobody out."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def client(self, token: str, now_s: float) -> Identity:
        return self._verifier.client(token, time.time())

    def service(self, token: str, now_s: float) -> Service:
        return self._verifier.service(token, time.time())

    def operator(self, token: str, now_s: float) -> Service:
        return self._verifier.operator(token, time.time())


class ClockedCluster(Cluster):
    """One site with notification nodes that go by `clock`. `open_store` opens their stores; `options` are fields of their options."""

    def __init__(self, state: Path, *, notifications: int = 1, open_store: OpenStore = open_store, **options: Any) -> None:
        super().__init__(sites=1, state=state, notifications=notifications, change=configured(**options))
        self.clock = ManualClock()
        self._open_store = open_store

    async def start(self, name: str) -> None:
        """See `Cluster`."""
        options = self.options[name]
        if not isinstance(options, NotificationOptions):
            await super().start(name)
            return
        context = Context(
            network=self.network(name),
            log=get_logger(NOTIFICATION, options.node, options.site),
            rng=random.Random(self.rng.getrandbits(64)),
            wall=self.clock,
        )
        self.roles[name] = role = NotificationModule(options, context, _Doorkeeper(self._verifier), self._open_store)
        self.down.discard(name)
        await role.start()

    restart = start

    @property
    def module(self) -> Any:
        """The notification module."""
        (module,) = self.of("notification")
        return module

    @property
    def endings(self) -> dict[str, int]:
        """How many mails and pushes have ended how."""
        endings: dict[str, int] = self.module.stored.dispatch.ended
        return endings

    async def ended(self, **counts: int) -> None:
        """Waits until so many mails and pushes have ended so, and none is under way."""
        running = self.module.stored.dispatch._running
        await self.until(lambda: counts.items() <= self.endings.items() and not running, lambda: str(self.endings))

    def operator(self) -> dict[str, str]:
        """Returns the header of an operator."""
        return {"Authorization": f"Bearer {issue(SECRET, service='operator', ttl_s=600, now_s=time.time())}"}
