"""The nodes of a drill as real processes on TCP. They are killed and stopped by signals."""

import signal
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import aiohttp

from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.link_files import make_link_authority
from segue.cluster.shape import Shape
from segue.demo.until import until

from .link_proxy import LinkProxy
from .nodes import READY_S, USUAL, DrillWindows, drill_options, name_of


class ProcessNodes:
    """The nodes of a `shape`: `async with ProcessNodes(shape) as nodes:`. Leaving stops what was started, also what hangs.

    Their links pass a proxy. `windows`: what brokers keep. `has_tls`: links are encrypted.
    """

    def __init__(self, shape: Shape, windows: DrillWindows = USUAL, *, has_tls: bool = False) -> None:
        self.secret, self.windows = b"", windows
        self._options, self._has_tls = drill_options(shape, windows), has_tls
        self._stack = AsyncExitStack()
        self._down: dict[str, Child] = {}
        self._hung: set[str] = set()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="segue-drill-")))
            secret_file = ensure_secret(folder)
            self.secret = read_secret(secret_file)
            self._http = await stack.enter_async_context(aiohttp.ClientSession())
            self._proxy = await stack.enter_async_context(LinkProxy())
            if self._has_tls:
                make_link_authority(folder)
            fleet = Fleet(self._options, secret_file, folder, way=self._proxy.way)
            self._fleet = await stack.enter_async_context(fleet)
            stack.callback(self._go_on_all)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def names(self) -> list[str]:
        """See `DrillNodes`."""
        return [name for name in map(_name, self._fleet.children) if name not in self._down]

    def doors(self, role: str, site: str) -> list[str]:
        """See `DrillNodes`."""
        return [child.door for child in self._fleet.of(role, site) if _name(child) not in self._down]

    async def ready(self) -> None:
        """See `DrillNodes`."""

        async def all_are() -> bool:
            return not await self.unready()

        if not await until(all_are, READY_S):
            raise TimeoutError(f"not ready after {READY_S:g} s: {await self.unready()}")

    async def unready(self) -> list[str]:
        """Returns the nodes that run and say that they are not ready, or nothing."""
        running = [child for child in self._fleet.children if _name(child) not in self._down]
        return [_name(child) for child in running if not await self._is_ready(child)]

    async def _is_ready(self, child: Child) -> bool:
        try:
            async with self._http.get(f"{child.admin}/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def figures(self, name: str) -> dict[str, Any]:
        """See `DrillNodes`."""
        async with self._http.get(f"{self._child(name).admin}/v1/stats") as answer:
            (role,) = (await answer.json())["roles"]
            figures: dict[str, Any] = role["counters"]
            return figures

    async def start(self, name: str) -> None:
        """See `DrillNodes`."""
        await self._fleet.start_again(self._down.pop(name))

    async def stop(self, name: str) -> None:
        """See `DrillNodes`."""
        child = self._down[name] = self._child(name)
        child.process.terminate()
        await child.process.wait()

    async def kill(self, name: str) -> None:
        """See `DrillNodes`."""
        child = self._down[name] = self._child(name)
        child.process.kill()
        await child.process.wait()

    def hang(self, name: str) -> None:
        """Lets a node do nothing until `go_on`."""
        self._hung.add(name)
        self._child(name).process.send_signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """Lets a node that hangs go on."""
        self._hung.discard(name)
        self._child(name).process.send_signal(signal.SIGCONT)

    def _go_on_all(self) -> None:
        for name in list(self._hung):
            self.go_on(name)

    def cut(self, one: str, other: str) -> None:
        """See `DrillNodes`."""
        self._proxy.cut(one, other)

    def heal(self) -> None:
        """See `DrillNodes`."""
        self._proxy.heal()

    def _child(self, name: str) -> Child:
        return next(child for child in self._fleet.children if _name(child) == name)


def _name(child: Child) -> str:
    return name_of(child.options)
