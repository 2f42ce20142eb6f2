"""Gate: which events of topics that are out of real time are delivered all the same. Pure.

After a topic has left it is served for one overlap, so that nobody misses an event while the other side begins. From then on
nothing of it goes to anybody, no other site either (SB-64), or one event in `every_ms`, if the assignment says so.
"""

from collections.abc import Collection

from infra.kernel.assignment import Switch
from infra.kernel.topics import Topic


class Gate:
    """The overlaps and pauses of the topics in `out`, the set of those that are out, which somebody else changes.

    Time, in seconds, is as coarse as the calls of `tick`: an overlap and a pause may last one of them longer, never shorter.
    """

    def __init__(self, out: Collection[Topic]) -> None:
        self._out = out
        # Until when a topic that has left is served; `_overlaps_end_s` is the latest of these times.
        self._now_s = self._overlaps_end_s = 0.0
        self._every_s = 0.0
        self._overlaps: dict[Topic, float] = {}
        # Until when nothing more of a topic goes out after the last event that did.
        self._due: dict[Topic, float] = {}

    def switch(self, switch: Switch) -> None:
        """Takes a change of `out`: begins the overlap of what has left, forgets what came back."""
        for topic in switch.came:
            self._overlaps.pop(topic, None)
            self._due.pop(topic, None)
        self._every_s = switch.terms.every_ms / 1000
        if overlap_s := switch.terms.overlap_ms / 1000:
            end_s = self._now_s + overlap_s
            self._overlaps.update(dict.fromkeys(switch.left, end_s))
            self._overlaps_end_s = max(self._overlaps_end_s, end_s)

    def tick(self, now_s: float) -> None:
        """Takes `now_s` for the time, and ends overlaps when all of them are over."""
        self._now_s = now_s
        # All at once: a look at each of them would cost every tick as much as there are topics out.
        if self._overlaps and now_s > self._overlaps_end_s:
            self._overlaps.clear()

    def passes(self, topic: Topic) -> bool:
        """Tells whether an event that is published now on `topic` is delivered."""
        # `<=`: the time known here is up to a tick old, and with `<` an overlap or a pause could end that much too early.
        if topic not in self._out or self._now_s <= self._overlaps.get(topic, -1.0):
            return True
        if not self._every_s or self._now_s <= self._due.get(topic, -1.0):
            return False
        self._due[topic] = self._now_s + self._every_s
        return True
