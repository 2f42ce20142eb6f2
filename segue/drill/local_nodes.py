"""The nodes of a drill in this process: links in memory, doors on loopback."""

import random
import secrets
import time
from contextlib import AsyncExitStack
from typing import Any, Self

import msgspec

from accesspoint.server import AccessPoint
from infra.runtime.ending import end_all
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from segue.cluster.factory import RoleFactory
from segue.cluster.roles import in_start_order
from segue.cluster.shape import Shape
from segue.demo.until import until

from .cut_links import CutLinks
from .nodes import READY_S, USUAL, DrillWindows, drill_options, name_of


class LocalNodes:
    """The nodes of a `shape`: `async with LocalNodes(rng, shape, windows) as nodes:`. Leaving closes what was started.

    - `rng`: their randomness. `windows`: what brokers keep.
    """

    def __init__(self, rng: random.Random, shape: Shape, windows: DrillWindows = USUAL) -> None:
        self.secret, self.windows = secrets.token_bytes(32), windows
        self.links = CutLinks(MemoryNetwork())
        self.roles: dict[str, Any] = {}
        self._options: dict[str, Any] = {name_of(each): each for each in in_start_order(drill_options(shape, windows))}
        self._rng, self._offsets_s = rng, dict.fromkeys(self._options, 0.0)

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.close)
            for name in self._options:
                await self.start(name)
            stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all nodes. Raises as `end_all`."""
        roles, self.roles = list(self.roles.values()), {}
        await end_all(*(role.close for role in reversed(roles)))

    def names(self) -> list[str]:
        """See `DrillNodes`."""
        return list(self.roles)

    def doors(self, role: str, site: str) -> list[str]:
        """See `DrillNodes`."""
        return [each.address for each in self.roles.values() if (each.role, each.site) == (role, site)]

    async def ready(self) -> None:
        """See `DrillNodes`."""
        if not await until(lambda: not any(role.ready() for role in self.roles.values()), READY_S):
            raise TimeoutError(f"not ready after {READY_S:g} s: {[name for name, role in self.roles.items() if role.ready()]}")

    async def figures(self, name: str) -> dict[str, Any]:
        """See `DrillNodes`."""
        figures: dict[str, Any] = self.roles[name].counters()
        return figures

    async def start(self, name: str) -> None:
        """See `DrillNodes`."""
        verifier = Verifier(AuthOptions(), Keys(secret=self.secret), lambda: None)
        rng = random.Random(self._rng.getrandbits(64))
        factory = RoleFactory(self.links.of(name), verifier, rng, wall=lambda: time.time() + self._offsets_s[name])
        role = factory.make(self._options[name])
        self.roles[name] = role
        await role.start()
        if hasattr(self._options[name], "door"):
            self._options[name] = msgspec.structs.replace(self._options[name], door=role.address)

    async def stop(self, name: str) -> None:
        """See `DrillNodes`."""
        await self.roles[name].drain()
        await self.roles.pop(name).close()

    async def kill(self, name: str) -> None:
        """See `DrillNodes`. Its links and clients lose it before anything of it can say a word."""
        role = self.roles.pop(name)
        self.links.abort(name)
        if isinstance(role, AccessPoint):
            for session in list(role.core.sessions):
                session.abort()  # type: ignore[attr-defined]
        await role.close()

    def cut(self, one: str, other: str) -> None:
        """See `DrillNodes`."""
        self.links.cuts.part(one, other)

    def heal(self) -> None:
        """See `DrillNodes`."""
        self.links.heal()

    def clock(self, name: str, seconds: float) -> None:
        """Sets the Unix time of a node so many seconds off."""
        self._offsets_s[name] = seconds
