"""Splits: two parts of a site that each went by a view without the other, and so both served the same topics (DPS-19).

Whoever takes over a view in which they are not, or that takes them in anew, though they have not left, has served topics while others did,
unless they had none under the view before. They tell those who follow here, and tell the other brokers under which view they did (`Apart`).
Each of these tells who follows there what it owned meanwhile.

Nobody knows what was published in the other part. So the broker that owns such topics begins an epoch, under which they go on from
nothing and all others from their last number. What was kept before serves no recovery of those topics.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from infra.kernel.frames import Apart, View
from infra.kernel.loss_reasons import LossReason
from infra.kernel.steps import was_left_out
from infra.kernel.topics import Topic
from infra.runtime.link import Link

from .core import BrokerCore
from .options import SLOT_BITS
from .tenure import Tenure

MOST_KNOWN: Final = 64


class Splits:
    """The splits that the broker `me` has seen.

    - `core`, `tenure`: its topics, and since when they have been its own.
    - `links`: slot -> link, to brokers of this site.
    - `tell(concerns, reason)`: tells who follows topics here that are concerned that something of them may be missing.
    - `learned()`: is called when this broker has learned that some of its topics were served twice.
    """

    def __init__(
        self,
        me: str,
        core: BrokerCore,
        tenure: Tenure,
        links: Mapping[str, Link],
        tell: Callable[[Callable[[Topic], bool], LossReason], None],
        learned: Callable[[], None] = lambda: None,
    ) -> None:
        self._me, self._core, self._tenure, self._links, self._tell, self._learned = me, core, tenure, links, tell, learned
        self._view = View(0, ())
        # The view under which we were apart, those who have not been told of it, and the processes that have: what was on its way when a
        # link broke is told again.
        self._apart = View(0, ())
        self._untold: set[str] = set()
        self._told: dict[str, int] = {}
        self._known: deque[View] = deque(maxlen=MOST_KNOWN)

    def follow(self, view: View, *, has_served: bool) -> None:
        """Takes over `view`. `has_served`: this broker has gone by the one before, and has not said that it leaves: then it may be out."""
        before, self._view = self._view, view
        if was_left_out(self._me, before, view) and has_served and before.share_of[self._me]:
            self._apart, self._untold, self._told = before, set(view.slots), {}
            for slot in list(self._links):
                self.link_up(slot)
            mine = before.ring
            self._tell(lambda topic: mine.owner(topic) == self._me, LossReason.SPLIT)

    def link_up(self, slot: str) -> None:
        """Tells a broker to which there is a link under which view this one was apart. Nobody takes that for news who knows it."""
        link = self._links.get(slot)
        if link is None or not (slot in self._untold or self._told.get(slot) == link.peer.incarnation):
            return
        self._untold.discard(slot)
        self._told[slot] = link.peer.incarnation
        if link.knows(Apart):
            link.send(Apart(self._apart))

    def take(self, frame: Apart) -> None:
        """Learns under which view another broker was apart: what it gave to others, and is ours, was served twice."""
        if frame.view.is_sound and frame.view not in self._known:
            self._known.append(frame.view)
            window, here, there = self._core.window, self._view.ring, frame.view.ring
            self._tenure.split(frame.view, window.stamp if window is not None else 0)

            def is_both(topic: Topic) -> bool:
                return here.owner(topic) == self._me != there.owner(topic)

            # As if this broker had been started a millisecond later than it was.
            self._core.numbers.begin_epoch(self._core.numbers.epoch + (1 << SLOT_BITS), is_both)
            self._learned()
            self._tell(is_both, LossReason.SPLIT)
