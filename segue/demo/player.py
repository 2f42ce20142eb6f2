"""The player: it has each user play at the right time, and tells the ledger."""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Final

from infra.kernel.errors import SegueError

from .crowd import Crowd
from .listening import Play
from .oracle import Ledger

# So many plays may wait for their answer. Beyond it the next one waits, too, so that a slow cluster is not buried.
MOST_UNANSWERED: Final = 256
# Plays that are late by at most so much at the end are still done, so that a short stall does not change what is played.
GRACE_S: Final = 5.0
RECENT: Final = 4


class Player:
    """The player. `recent` has the last plays, each with the number of its followers. `refused` counts the plays that the engine refused;
    `refusal` is the last reason."""

    def __init__(self, crowd: Crowd, ledger: Ledger, audience_of: Mapping[str, Sequence[str]]) -> None:
        self.recent: deque[tuple[Play, int]] = deque(maxlen=RECENT)
        self.refused = 0
        self.refusal = ""
        self._crowd = crowd
        self._ledger = ledger
        self._audience_of = audience_of
        self._unanswered: set[asyncio.Task[None]] = set()

    async def run(self, plays: Iterable[Play], most_s: float) -> float:
        """Plays until `plays` end, or `most_s` and the grace are over. Then it returns by how many seconds it is behind, else 0.

        Cancelling it leaves out the plays that are not yet due; see `answered` for those that are under way.
        """
        start_s = perf_counter()
        for number, play in enumerate(plays, 1):
            await asyncio.sleep(max(0.0, start_s + play.at_s - perf_counter()))
            if len(self._unanswered) >= MOST_UNANSWERED:
                await asyncio.wait(self._unanswered, return_when=asyncio.FIRST_COMPLETED)
            now_s = perf_counter()
            if now_s - start_s > most_s + GRACE_S:
                return now_s - start_s - play.at_s
            self._play(str(number), play, now_s)
        return 0.0

    async def answered(self) -> None:
        """Returns when every play has its answer."""
        while self._unanswered:
            await asyncio.wait(self._unanswered)

    def _play(self, mark: str, play: Play, now_s: float) -> None:
        self.recent.append((play, len(self._audience_of[play.user])))
        self._ledger.sent(mark, play.user, now_s)
        task = asyncio.create_task(self._act(mark, play), name=f"play {mark}")
        self._unanswered.add(task)
        task.add_done_callback(self._unanswered.discard)

    async def _act(self, mark: str, play: Play) -> None:
        try:
            await self._crowd.play(play.user, mark, artist=play.artist_name, track=f"Track {play.track_no}")
        except SegueError as error:
            self.refused += 1
            self.refusal = str(error)
            self._ledger.excuse_event(mark)
