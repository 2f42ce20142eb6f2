"""The decision service's assignments as a receiver knows them: which topics are out of real time (SB spec 10). Pure.

Epochs only rise: an assignment that is not newer than the current one changes nothing (SB-68). A change builds on the epoch before it.
One that builds on another epoch cannot be followed: its link ends, and the next link begins with the whole assignment. Only the topics
of users and playlists may leave, because what is stored is never offloaded (SB-67).
"""

from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

import msgspec

from .errors import Refused
from .frames import Assignment
from .topics import Kind, Topic, kind_of

OFFLOADABLE: Final = frozenset({Kind.USER, Kind.PLAYLIST})
# As many topics may be out, and in the parts of one assignment: about half a gigabyte.
MAX_TOPICS: Final = 1 << 22


def may_leave(topic: Topic) -> bool:
    """Returns whether `topic` may be out of real time at all."""
    return kind_of(topic) in OFFLOADABLE


class Switch(NamedTuple):
    """A new epoch: these topics have `left` real time, those `came` back. `terms` is its last frame without its topics."""

    left: AbstractSet[Topic]
    came: AbstractSet[Topic]
    terms: Assignment


class Assigned:
    """The assignment that holds here.

    - `epoch`: its number; 0 before any was heard of.
    - `every_ms`: one event in that time goes out of a topic that is out; 0: none.
    - `out`: the topics that are out.
    - `stale`: how many assignments were not newer.
    - `passed_over`: how many topics were to leave that never may.
    """

    def __init__(self, max_topics: int = MAX_TOPICS) -> None:
        self.epoch = 0
        self.every_ms = 0
        self.out: set[Topic] = set()
        self.stale = self.passed_over = 0
        self._max_topics = max_topics
        self._parts: _Parts | None = None

    def offer(self, frame: Assignment) -> Switch | None:
        """Takes one frame, and returns what changes if it is the last one of an assignment.

        A topic that is named both to leave and to come is served. Raises `Refused`, and everything is as before: bad-link-frame if
        `frame` builds on an epoch that does not hold here, overloaded if the assignment is about too many topics.
        """
        if frame.epoch <= self.epoch:
            self.stale += frame.last
            return None
        if frame.base not in (0, self.epoch):
            self._parts = None
            raise Refused(
                "bad-link-frame",
                f"assignment {frame.epoch} changes {frame.base}, but {self.epoch} holds here; link again and send the whole (base 0)",
            )
        parts = self._collect(frame)
        if not frame.last:
            return None
        self._parts = None
        return self._take(parts, frame)

    def cut(self) -> None:
        """Forgets what was said in part, because the link is gone. What holds goes on."""
        self._parts = None

    def _collect(self, frame: Assignment) -> "_Parts":
        parts = self._parts
        if parts is None or (parts.epoch, parts.base) != (frame.epoch, frame.base):
            parts = self._parts = _Parts(frame.epoch, frame.base)
        allowed = [topic for topic in map(Topic, frame.leave) if may_leave(topic)]
        self.passed_over += len(frame.leave) - len(allowed)
        parts.leave.update(allowed)
        parts.come.update(map(Topic, frame.come))
        if len(parts.leave) + len(parts.come) > self._max_topics:
            self._parts = None
            raise Refused("overloaded", f"assignment {frame.epoch} is about more than {self._max_topics} topics")
        return parts

    def _take(self, parts: "_Parts", last: Assignment) -> Switch:
        leave = parts.leave - parts.come
        # A change names what comes back; a whole assignment names what is out, so everything else comes back.
        came = self.out & parts.come if last.base else self.out - leave
        left = leave - self.out
        if len(self.out) + len(left) - len(came) > self._max_topics:
            raise Refused("overloaded", f"with assignment {last.epoch} more than {self._max_topics} topics would be out")
        self.out -= came
        self.out |= left
        self.epoch, self.every_ms = last.epoch, last.every_ms
        return Switch(left, came, msgspec.structs.replace(last, leave=[], come=[]))


class _Parts:
    """The topics that the frames of one epoch have named so far."""

    __slots__ = ("base", "come", "epoch", "leave")

    def __init__(self, epoch: int, base: int) -> None:
        self.epoch, self.base = epoch, base
        self.leave: set[Topic] = set()
        self.come: set[Topic] = set()
