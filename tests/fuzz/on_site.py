"""Targets that are a whole site."""

import asyncio
import tempfile
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from segue.cluster.shape import STORING, Shape


class OnSite(ABC):
    """A target that has a site of each role, on a loop of its own. What `_start` enters on `_stack` is left at the end."""

    def __enter__(self) -> Self:
        self._runner, self._stack = asyncio.Runner(), AsyncExitStack()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "catalogue.jsonl").touch()
        shape = Shape(notification=1, services=tuple(STORING), state=folder / "store", catalogue=str(folder / "catalogue.jsonl"))
        self._runner.run(self._start(shape))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    @abstractmethod
    async def _start(self, shape: Shape) -> None:
        """Starts the roles of `shape` that are needed."""
