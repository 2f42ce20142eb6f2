"""The saver of a client's positions: writes them to their file while the application takes events, and at the end."""

import asyncio
import logging

from segue.sdk.kept_positions import KeptPositions
from segue.sdk.position_file import PositionFile

_LOG = logging.getLogger("segue.sdk.client")


class PositionSaver:
    """The saver of `kept` in `file`, once in `every_s` at most. Raises Misuse for a file that cannot be used."""

    def __init__(self, file: PositionFile, every_s: float) -> None:
        self._file, self._every_s = file, every_s
        self.kept = KeptPositions(*file.load())
        self._is_failing = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to save. It must be called within a running loop."""
        self._task = asyncio.create_task(self._keep_saved())

    async def close(self) -> None:
        """Saves for the last time. May be called twice."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
            self._save()

    async def _keep_saved(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            self._save()

    def _save(self) -> None:
        if not self.kept.user or not self.kept.is_changed:
            return
        try:
            self._file.save(self.kept.user, self.kept.positions)
        except OSError as error:
            if not self._is_failing:
                _LOG.warning("the positions could not be saved, which is tried again: %s", error)
            self._is_failing = True
        else:
            self.kept.is_changed = self._is_failing = False
