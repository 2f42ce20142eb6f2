"""Row: one topic of the hub with the sessions that want it, its `Member`s, and how far its last events have got, a `Burst`."""

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Final

from infra.kernel.topics import USER_TAG, Topic

from .outbox import Outbox
from .recent_answer import RecentAnswer

# Of what is published on a topic while its last events are still on their way to sessions, so much waits.
BURST_BYTES: Final = 256 << 10

NewsOf = Callable[[list[bytes]], list[bytes]]
"""Returns those of some events of a topic that somebody does not have."""


class Member:
    """A session, as far as the hub goes.

    - `handles`: the numbers of the rows that it wants, and of some that it wanted: only those count whose row has it.
    - `dropped`: how many of `handles` do not count.
    - `chunks`: the frames that wait for `flush`; None while the client is slow.
    - `outbox`: holds its events while it is slow, else None.
    """

    __slots__ = ("chunks", "dropped", "handles", "outbox")

    def __init__(self) -> None:
        self.handles = array("I")
        self.dropped = 0
        self.chunks: list[bytes] | None = []
        self.outbox: Outbox | None = None

    def write(self, data: bytes) -> None:
        """Gives `data` to the socket; never blocks."""
        raise TypeError(f"{type(self).__name__} must say where its bytes go")


class Row(set[Member]):
    """One topic: the set of sessions that want it.

    - `handle`: its number, under which its events come.
    - `presence`: whether of its events a slow client gets only the newest.
    - `run`: its events of the batch that is being sorted; None between batches.
    - `burst`: how far its last events have got, while it is served in slices.
    - `is_held`: nothing of it is given to anybody, until what was missed of it here has come.
    - `joining`: those of them that get nothing yet, because they wait for what they have missed; each with the number of its recovery.
    - `apart`: those of them that may have some of what comes, each with what says which of it is news.
    - `answer`: what its owner has answered of its past, as long as nothing has come since, and sessions have wanted it without a break.
    """

    __slots__ = ("answer", "apart", "burst", "handle", "is_held", "joining", "presence", "run", "topic")

    def __init__(self, handle: int, topic: Topic) -> None:
        super().__init__()
        self.burst: Burst | None = None
        self.is_held = False
        self.joining: dict[Member, int] | None = None
        self.apart: dict[Member, NewsOf] | None = None
        self.answer: RecentAnswer | None = None
        self.handle = handle
        self.topic = topic
        self.presence = topic[0] == USER_TAG
        self.run: list[bytes] | None = None

    @property
    def served(self) -> Collection[Member]:
        """Those that get all that is live."""
        joining, apart = self.joining or (), self.apart or ()
        return [member for member in self if member not in joining and member not in apart] if joining or apart else self

    def join(self, member: Member) -> None:
        """Notes that `member` waits no longer."""
        if self.joining is not None:
            self.joining.pop(member, None)
            if not self.joining:
                self.joining = None

    def unite(self, member: Member) -> bool:
        """Notes that `member` gets what all others do. Returns False if it did before."""
        if self.apart is None or self.apart.pop(member, None) is None:
            return False
        if not self.apart:
            self.apart = None
        return True

    def lose(self, member: Member) -> None:
        """Notes that `member` wants the topic no more."""
        self.remove(member)
        self.join(member)
        self.unite(member)

    def has_got(self, member: Member) -> None:
        """Notes that `member` has got all that has come: of what is still on its way to others, it has everything."""
        if self.burst is not None:
            self.burst.has[member] = len(self.burst.later)
            self.burst.left = [each for each in self.burst.left if each is not member]


class Burst:
    """Events of one topic on their way to more sessions than one slice: `left` are still to be served with `run`.

    What is published meanwhile waits in `later`, at most `BURST_BYTES` of it; then the oldest is given up, and clients
    see a gap. `has`: members that have so many of the events in `later` already.
    """

    __slots__ = ("has", "later", "later_bytes", "left", "run")

    def __init__(self, row: Row, run: list[bytes], without: Collection[Member] = ()) -> None:
        self.left = [member for member in row.served if member not in without] if without else list(row.served)
        self.has: dict[Member, int] = {}
        self.run = run
        self.later: deque[bytes] = deque()
        self.later_bytes = 0

    def add(self, run: Iterable[bytes]) -> int:
        """Adds the events in `run` to those that wait. Returns how many had to be given up."""
        self.later.extend(run)
        self.later_bytes += sum(map(len, run))
        shed = 0
        while self.later_bytes > BURST_BYTES:
            self.later_bytes -= len(self.later.popleft())
            shed += 1
        for member in self.has if shed else ():
            self.has[member] = max(0, self.has[member] - shed)
        return shed
