"""One end of a wire in the hands of a test: it remembers all that it is told, and checks what every wire promises."""

import asyncio
from collections.abc import Callable

from infra.kernel.frames import AnyFrame
from infra.runtime.wire.wire import Wire

from .news import News

DEADLINE_S = 20.0


class End:
    """One end of a wire, and what it was told."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.frames: list[AnyFrame] = []
        self.lost: list[str] = []
        self.react: Callable[[], object] = lambda: None
        self.is_started = self._is_busy = False
        self._news = News()

    def start(self) -> "End":
        self.is_started = True
        self.wire.trust()
        self.wire.start(self._on_frames, self._on_lost)
        return self

    def _on_frames(self, frames: list[AnyFrame]) -> None:
        assert frames, "a call without frames"
        assert not self.lost, "frames after the end"
        assert not self._is_busy, "called inside its own call"
        self.frames += frames
        self._is_busy = True
        self.react()
        self._is_busy = False
        self._news.tell()

    def _on_lost(self, reason: str) -> None:
        self.lost.append(reason)
        self._news.tell()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for a condition on what this end was told."""
        await self._news.until(condition)

    async def until_lost(self) -> str:
        """Returns why the wire was lost, when it is; and once only."""
        await self.until(lambda: bool(self.lost))
        for _ in range(3):
            await asyncio.sleep(0)
        assert len(self.lost) == 1
        return self.lost[0]

    async def until_told(self) -> bool:
        """Returns whether frames came before the wire was lost."""
        await self.until(lambda: bool(self.frames or self.lost))
        return bool(self.frames)

    async def until_heard(self, count: int) -> list[AnyFrame]:
        await self.until(lambda: len(self.frames) >= count)
        return self.frames
