"""Pace: the pauses in what a planned change of the ring has a process do. Pure.

Where many topics move, everybody who announces, takes and gives them up is busy at the same moment, and events wait for all of them. So
who works through many topics pauses behind each part. Few topics cost no pause. All pauses of one piece of work together are bounded, too.
What nobody has planned has no pace, nor has a broker that is stopped: it has not much time.
"""

from typing import Final

from .ring import Ring
from .steps import FINEST

# A shorter pause is none: it would end in the same millisecond.
LEAST_S: Final = 0.001
# So long the pauses of one piece of work take at most, while topics wait for it, and where they do not.
AWAITED_S: Final = 0.16
UNAWAITED_S: Final = 0.5


class MovePace:
    """The pauses of one piece of work: `topic_s` for each topic, `most_s` in all."""

    __slots__ = ("_left_s", "_topic_s")

    def __init__(self, topic_s: float, most_s: float) -> None:
        self._topic_s, self._left_s = topic_s, most_s

    def after(self, topics: int) -> float:
        """Returns how many seconds to pause behind a part with so many topics."""
        pause_s = min(topics * self._topic_s, self._left_s)
        if pause_s < LEAST_S:
            return 0.0
        self._left_s -= pause_s
        return pause_s


def has_time(before: Ring, after: Ring) -> bool:
    """Returns whether a step from one ring to another may take longer.

    Who is stopped gives up more points in a step than where topics are many and there is time for fine steps (`steps`).
    """
    shares = after.share_of
    return all(share - shares.get(slot, 0) <= FINEST for slot, share in before.share_of.items())
