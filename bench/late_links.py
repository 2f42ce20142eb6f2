"""Links between the nodes of one process that take time from site to site, and keep order."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from infra.runtime.wire.wire import Network
from segue.drill.cut_links import CutLinks, F


class LateLinks(CutLinks):
    """The links of all nodes over a `network`. What goes to another site takes `one_way_s`.

    `frames` counts what was sent on all links, by the name of the frame.
    """

    def __init__(self, network: Network, one_way_s: float) -> None:
        super().__init__(network)
        self.frames: Counter[str] = Counter()
        self._one_way_s = one_way_s
        self._ways: dict[tuple[str, str], deque[tuple[float, Callable[[], None]]]] = {}

    def carry(self, source: str, target: str, frames: list[F], go: Callable[[list[F]], None]) -> None:
        """Calls `go` with what `source` sends to `target`: now, or when it has crossed to the other site."""
        self.frames.update(type(frame).__name__ for frame in frames)
        if source.partition("/")[0] == target.partition("/")[0]:
            super().carry(source, target, frames, go)
            return
        way = self._ways.setdefault((source, target), deque())
        way.append((asyncio.get_running_loop().time() + self._one_way_s, lambda: CutLinks.carry(self, source, target, frames, go)))
        if len(way) == 1:
            self._later(way)

    def _later(self, way: deque[tuple[float, Callable[[], None]]]) -> None:
        asyncio.get_running_loop().call_at(way[0][0], self._arrive, way)

    def _arrive(self, way: deque[Any]) -> None:
        now_s = asyncio.get_running_loop().time()
        while way and way[0][0] <= now_s:
            way[0][1]()
            way.popleft()  # only now, so that what is sent meanwhile begins no second timer
        if way:
            self._later(way)
