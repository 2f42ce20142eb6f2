"""The stream of events to one heir: what has been sent, what the heir has, and what waits for that (`heirs`). Pure.

In a stream events have numbers, and the heir says up to which number it has everything. So answers are as few as batches. A stream lives
as long as the link.

A stream is in one of these states:

==========  ======================================  =================================================
state       events of its topics                    the copy
==========  ======================================  =================================================
AWAY        wait: the heir cannot be reached        nobody knows what the heir has
TELLING     are let out when the heir has them      the heir has a part, and claims nothing if we die
WHOLE       are let out when the heir has them      the heir has everything, and was told so
UNABLE      are let out at once                     there is none: the heir is of an older version
==========  ======================================  =================================================
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from infra.kernel.events import Event
from infra.kernel.frames import Copies, KeptEvents, Moved, Past
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

from .core import NumberedEvent
from .inheritance import FRAME_BYTES, KeptPart
from .said_link import SaidLink
from .window_origins import InheritedTopic

NO_LAST: Final = (0, 0)


class Fate(Enum):
    """The end of waiting for an heir."""

    LET_OUT = "everybody who wants the event gets it"
    MOVED = "its topic is another broker's now, and it is as if it had not come"
    UNKNOWN = "nobody here knows whether it is let out"


class StreamState(Enum):
    """The state of a stream; see above."""

    AWAY = "away"
    TELLING = "telling"
    WHOLE = "whole"
    UNABLE = "unable"


class StreamStep(Enum):
    """The things that happen to a stream."""

    UP = "there is a link to the heir"
    UP_BEFORE = "there is a link to an heir of an older version"
    DOWN = "the link is lost"
    CHANGED = "the view has changed"
    TOLD = "the heir was told that it has everything"


_S, _H = StreamState, StreamStep
STEPS: Final[dict[tuple[StreamState, StreamStep], StreamState]] = {
    **{(state, _H.UP): _S.TELLING for state in _S},
    **{(state, _H.UP_BEFORE): _S.UNABLE for state in _S},
    **{(state, _H.DOWN): _S.AWAY for state in _S},
    (_S.AWAY, _H.CHANGED): _S.AWAY,
    (_S.TELLING, _H.CHANGED): _S.TELLING,
    (_S.WHOLE, _H.CHANGED): _S.TELLING,
    (_S.UNABLE, _H.CHANGED): _S.UNABLE,
    (_S.TELLING, _H.TOLD): _S.WHOLE,
}

Settled = Callable[[Fate], None]


class WaitingEvent:
    """An event that waits for its heir under the number `n` of its stream; `numbered` is None for one that came before."""

    __slots__ = ("bytes", "event", "n", "numbered", "settled")

    def __init__(self, event: Event, numbered: NumberedEvent | None, settled: Settled, size: int) -> None:
        self.event, self.numbered, self.settled, self.bytes, self.n = event, numbered, settled, size, 0


class _CopiedPart:
    """Events that go to an heir in one frame."""

    def __init__(self) -> None:
        self.events = 0
        self._moved = Moved([], [], [])
        self._kept = KeptPart()

    def add(self, numbered: NumberedEvent, place: tuple[int, int], *, followed: bool) -> None:
        self.events += 1
        event, topic = numbered.event, numbered.event.topic
        self._moved.topics.append(topic)
        self._moved.lasts.append(numbered.last or NO_LAST)
        self._moved.ids.append([event.id] if event.id else [])
        if numbered.body:
            self._kept.add(topic, followed, InheritedTopic([(place, numbered.kept)]))

    @property
    def bytes(self) -> int:
        return self._kept.bytes

    def parts(self) -> list[Moved | KeptEvents | Past]:
        return [self._moved, self._kept.frame()]


class HeirStream:
    """The stream to one heir.

    - `number`: its own; `sent`, `held`: up to which event it was sent, and is held by the heir; `out`: up to which they are let out.
    - `waiting`: what is not let out, in order.
    - `told`: topics that went into it since it began, or since it was `WHOLE` for the last time. `rings`: those since then.
    - `round`: rises when the heir must be told everything anew, or what is new, and when it is no heir any more.
    """

    def __init__(self) -> None:
        self.state = StreamState.AWAY
        self.number = self.sent = self.held = self.out = self.round = 0
        self.waiting: deque[WaitingEvent] = deque()
        self.told: set[Topic] = set()
        self.rings: list[Ring] | None = None
        self._frame = _CopiedPart()
        self._outs: deque[tuple[int, int]] = deque()

    def step(self, step: StreamStep) -> None:
        """Goes on to the state that follows when `step` has happened."""
        self.state = STEPS[self.state, step]

    def begin(self, number: int) -> None:
        """Begins under another `number`."""
        self.number, self.sent, self.held, self.out = number, 0, 0, 0
        self.told, self.rings = set(), None
        self._frame = _CopiedPart()
        self._outs.clear()

    def add(self, waiting: WaitingEvent, *, followed: bool) -> None:
        """Adds an event to what is sent next."""
        numbered = waiting.numbered
        if numbered is not None:
            self.sent += 1
            self._frame.add(numbered, (self.number, self.sent), followed=followed)
        waiting.n = self.sent

    @property
    def is_large(self) -> bool:
        """Whether so much is to be sent that it must not become more."""
        return self._frame.bytes > FRAME_BYTES

    def flushed(self) -> Copies | None:
        """Returns what is sent next; None where nothing is."""
        frame, self._frame = self._frame, _CopiedPart()
        return Copies(self.number, self.sent, frame.parts()) if frame.events else None

    def flush(self, link: SaidLink | None) -> None:
        """Sends what is sent next over `link`, where there is one."""
        if (frame := self.flushed()) is not None and link is not None:
            link.send(frame)

    def goes_out(self, n: int, stamp: int) -> None:
        """Notes that the event `n` is let out, under the `stamp` that the window gives next."""
        self.out = n
        self._outs.append((stamp, n))

    def out_at(self, stamp: int) -> int:
        """Returns up to which event those were let out that stand in the window up to `stamp`."""
        at = bisect_right(self._outs, stamp, key=lambda each: each[0])
        return self._outs[at - 1][1] if at else max(0, self._outs[0][1] - 1 if self._outs else self.out)

    def forget(self, oldest: int) -> None:
        """Forgets under which stamps events were let out that nobody asks for any more."""
        while self._outs and self._outs[0][0] < oldest:
            self._outs.popleft()
