"""The nodes of a drill as real processes on TCP. They are killed and stopped by signals."""

import random
import signal
import tempfile
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Self

import aiohttp

from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import Shape
from segue.demo.until import until

from .nodes import READY_S, SHAPE, name_of


class ProcessNodes:
    """The nodes of a `shape`: `async with ProcessNodes(rng) as nodes:`. Leaving stops what was started, also what hangs."""

    def __init__(self, rng: random.Random, shape: Shape = SHAPE) -> None:
        self.secret = b""
        self._options = list(shape.options())
        self._stack = AsyncExitStack()
        self._down: dict[str, Child] = {}
        self._hung: set[str] = set()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="segue-drill-")))
            secret_file = ensure_secret(folder)
            self.secret = read_secret(secret_file)
            self._http = await stack.enter_async_context(aiohttp.ClientSession())
            self._fleet = await stack.enter_async_context(Fleet(self._options, secret_file, folder))
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
        return [child.door for child in self._fleet.of(role, site)]

    async def ready(self) -> None:
        """See `DrillNodes`."""
        for child in self._fleet.children:
            if _name(child) not in self._down and not await until(partial(self._is_ready, child), READY_S):
                raise TimeoutError(f"not ready after {READY_S:g} s: {_name(child)}")

    async def _is_ready(self, child: Child) -> bool:
        try:
            async with self._http.get(f"{child.admin}/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

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
        """See `DrillNodes`."""
        self._hung.add(name)
        self._child(name).process.send_signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """See `DrillNodes`."""
        self._hung.discard(name)
        self._child(name).process.send_signal(signal.SIGCONT)

    def _go_on_all(self) -> None:
        for name in list(self._hung):
            self.go_on(name)

    def cut(self, one: str, other: str) -> None:
        """Raises NotImplementedError: the links of real processes pass no proxy that could cut them."""
        raise NotImplementedError("links are cut only where all nodes share a process: without --processes")

    def heal(self) -> None:
        """Does nothing, since nothing is cut."""

    def clock(self, name: str, seconds: float) -> None:
        """Raises NotImplementedError: real processes share the clock of the machine."""
        raise NotImplementedError("clocks differ only where all nodes share a process: without --processes")

    def _child(self, name: str) -> Child:
        return next(child for child in self._fleet.children if _name(child) == name)


def _name(child: Child) -> str:
    return name_of(child.options)
