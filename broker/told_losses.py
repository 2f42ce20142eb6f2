"""Told losses: what those who follow here are told may be missing, again where a link broke before they had heard of it.

A link comes back where it was, and nothing that came over it shows that a word was lost with the one before. So what was told stays known,
with the stamp behind which everybody has heard it who has stamps from behind it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from infra.kernel.frames import Lost
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Topic, kind_of
from infra.runtime.link import Link
from infra.runtime.turns import in_turns

from .core import BrokerCore

# So many topics are looked at in one turn.
AT_ONCE: Final = 1024
MOST_TOLD: Final = 64


class _ToldLoss:
    """A loss of the topics that it `concerns`.

    `tellings`: how many times it is being told now. `until`: the stamp by which all of it had been told where it is not.
    """

    def __init__(self, concerns: Callable[[Topic], bool], reason: LossReason) -> None:
        self.concerns, self.reason = concerns, reason
        self.tellings = self.until = 0


class ToldLosses:
    """The losses that aggregators of this site were told of lately. `followers()`: the links of those that there are, each with its bit."""

    def __init__(self, core: BrokerCore, followers: Callable[[], Iterable[tuple[int, Link]]]) -> None:
        self._core, self._followers = core, followers
        self._told: deque[_ToldLoss] = deque(maxlen=MOST_TOLD)
        # Up to where those have got everything whose links have come back and who have not said yet what they want.
        self._resuming: dict[int, int] = {}

    def tell(self, concerns: Callable[[Topic], bool], reason: LossReason) -> None:
        """Tells aggregators which topics may lack something, as far as they want them and events of theirs are kept."""
        if self._core.window is None:
            return
        told = _ToldLoss(concerns, reason)
        self._told.append(told)
        in_turns(self._tell_all(told, self._followers))

    def _tell_all(self, told: _ToldLoss, followers: Callable[[], Iterable[tuple[int, Link]]]) -> Iterator[float]:
        told.tellings += 1
        yield from self._tell(told, followers)
        assert self._core.window is not None
        told.tellings, told.until = told.tellings - 1, self._core.window.stamp

    def _tell(self, told: _ToldLoss, followers: Callable[[], Iterable[tuple[int, Link]]]) -> Iterator[float]:
        masks, rows, window = self._core.interest.masks, self._core.interest.rows, self._core.window
        assert window is not None
        topics = list(rows)
        for start in range(0, len(topics), AT_ONCE):
            known = [
                (topic, rows[topic])
                for topic in topics[start : start + AT_ONCE]
                if topic in rows and kind_of(topic) in window.bounds and told.concerns(topic)
            ]
            for bit, link in followers() if known else ():
                mine: list[bytes] = [topic for topic, row in known if masks[row] & 1 << bit]
                if mine and link.knows(Lost):
                    link.send(Lost(mine, told.reason))
            yield 0.0

    def resume(self, bit: int, stamp: int) -> None:
        """Notes that the link `bit` is that of somebody who has come back, and has got everything up to `stamp`."""
        self._resuming[bit] = stamp

    def announced(self, bit: int) -> None:
        """Tells one who has come back, and has said what they want, what they may not have heard."""
        if (stamp := self._resuming.pop(bit, None)) is not None:
            for told in self._told:
                if told.tellings or stamp <= told.until:
                    in_turns(self._tell_all(told, lambda: [each for each in self._followers() if each[0] == bit]))

    def forget(self, bit: int) -> None:
        """Forgets the link `bit`, which is gone."""
        self._resuming.pop(bit, None)
