"""A cluster whose wall clock is set by the test."""

import random
import time
from pathlib import Path
from typing import Any

from infra.runtime.tokens import Identity, Service, Verifier, issue
from segue.cluster.process import Parts

from .cluster import SECRET, Cluster
from .stored import configured


class Clock:
    """Unix time in seconds, `ahead_s` before the machine's."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


class _Doorkeeper:
    """Tokens go by the machine's clock, so that a clock that is set shuts nobody out."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def client(self, token: str, now_s: float) -> Identity:
        return self._verifier.client(token, time.time())

    def service(self, token: str, now_s: float) -> Service:
        return self._verifier.service(token, time.time())


class ClockedCluster(Cluster):
    """One site with a notification module that goes by `clock`; `options` are fields of the module's options."""

    def __init__(self, state: Path, **options: Any) -> None:
        super().__init__(sites=1, state=state, change=configured(**options))
        self.clock = Clock()

    async def start(self, name: str) -> None:
        """See `Cluster`."""
        doorkeeper: Any = _Doorkeeper(self._verifier)
        wall = self.clock if name == "sto/n1" else time.time
        role = Parts(self.network(name), doorkeeper, random.Random(self.rng.getrandbits(64)), wall).make(self.options[name])
        self.roles[name] = role
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
        endings: dict[str, int] = self.module._parts.dispatch.ended
        return endings

    async def ended(self, **counts: int) -> None:
        """Wait until so many mails and pushes have ended so, and none is under way."""
        running = self.module._parts.dispatch._running
        await self.until(lambda: counts.items() <= self.endings.items() and not running, lambda: str(self.endings))

    def operator(self) -> dict[str, str]:
        """The header of an operator."""
        return {"Authorization": f"Bearer {issue(SECRET, service='operator', ttl_s=600, now_s=time.time())}"}
