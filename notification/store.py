"""What the notification module keeps, and the port behind which it is kept (design 7).

One contract suite runs on every adapter (`store_sqlite`, `store_cassandra`). Every method may raise `Unavailable`; repeating
it is then safe. Items, decisions, rows and notices go after the retention time; people and marks stay.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from .notice import Notice
from .ownership.core import Claims, FencingToken, NodeRecord

FRIEND = 1
SENT = 2
# The row may have been written before, by a request that was repeated: the worker looks whether it is decided already.
AGAIN = 4


class Taken(NamedTuple):
    """A notice as it is stored. `followers`: how many it went to, None while that is not complete; `is_new`: it was not there."""

    notice: Notice
    followers: int | None
    is_new: bool


class LogRow(NamedTuple):
    """One follower of one event, in a part of the log, under a number that rises within the part."""

    part: int
    n: int
    event: str
    user: str
    flags: int


class Person(msgspec.Struct, gc=False):
    """What the worker has to know of a user: his last mark, how many items until then belong in the bell, what he prefers
    (JSON), whether he has a device for pushes, and when he was sent mails and pushes lately (ms)."""

    user: str
    last: int = 0
    shown: int = 0
    preferences: bytes = b""
    has_devices: bool = False
    mails: tuple[int, ...] = ()
    pushes: tuple[int, ...] = ()


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What became of an event for a user, and why. `mark` is 0 where nothing was stored for him; `shown` counts the items with
    "in-client" among `types`, up to this one."""

    user: str
    event: str
    mark: int
    shown: int
    types: tuple[str, ...]
    reasons: tuple[str, ...]
    ts_ms: int


class Item(msgspec.Struct, frozen=True, gc=False):
    """A stored notification of one user."""

    mark: int
    shown: int
    types: tuple[str, ...]
    notice: Notice


class Device(NamedTuple):
    """Where a browser or phone of a user takes pushes."""

    endpoint: str
    p256dh: str
    auth: str


class Task(NamedTuple):
    """A mail or a push that is due: `due_ms` orders them, `started_ms` is when the first attempt was due."""

    shard: int
    due_ms: int
    user: str
    channel: str
    event: str
    attempt: int
    started_ms: int


# A live copy that no broker has taken yet.
WAITING: Final = "waiting"


class Sent(NamedTuple):
    """How a mail or a push ended: "delivered", "dropped" (no longer wanted when it was due) or "dead". Of a live copy that was not
    taken at once: how it stands, which may be `WAITING`."""

    user: str
    event: str
    channel: str
    state: str
    reason: str
    ts_ms: int


def key_of(sent: Sent) -> str:
    """The key of a dead letter: by time, then by what makes it the one it is."""
    return f"{sent.ts_ms:014d}:{sent.user}:{sent.channel}:{sent.event}"


class Store(Protocol):
    """The port. `now_ms` is Unix time; what is older than the retention time is not there, whether it is deleted yet or not.

    A write with a `fence` does nothing that lasts once its writer is buried and another owns its shards: it is refused as
    unavailable, or what the new owner writes in its place wins, whichever comes last.
    """

    # Of so many parts of the log rows are best read at once.
    parts_at_once: int

    async def begin(self, notice: Notice) -> Taken:
        """Keep `notice`, unless its id is there already; what is kept now."""

    async def append(self, rows: Sequence[LogRow], fence: FencingToken | None = None) -> None:
        """Keep rows; all of them when this returns."""

    async def complete(self, event: str, followers: int) -> None:
        """The whole audience of `event` is in the log."""

    async def notices(self, events: Collection[str]) -> dict[str, Notice]:
        """Those that are there."""

    async def history(self, topic: str, before: tuple[int, str] | None, limit: int) -> list[Notice]:
        """What was published on `topic`, newest first, before a (ts_ms, id) if that is given."""

    async def rows(self, after: Mapping[int, int], limit: int) -> dict[int, list[LogRow]]:
        """The rows of several parts with higher numbers than those given, in order, at most `limit` of each, by part."""

    async def ends(self, parts: Collection[int]) -> dict[int, int]:
        """The highest number of a row in each part; parts without rows are missing."""

    async def cursors(self) -> dict[int, int]:
        """Up to which number each part is done; parts that never were are missing."""

    async def save_cursors(self, cursors: Mapping[int, int]) -> None:
        """Keep how far parts are done; what was further already stays."""

    async def people(self, users: Collection[str]) -> dict[str, Person]:
        """All of them; who is not known yet is as new."""

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        """Keep decisions, each with its item and the user's new last mark, all of one user at once or not at all."""

    async def decisions(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Decision]:
        """Those that are there, by (user, event)."""

    async def items(self, user: str, after: int, limit: int) -> list[Item]:
        """A user's items with higher marks than `after`, ascending."""

    async def marks(self, user: str) -> dict[str, int]:
        """A user's marks: seen by client, and under "" what he has read."""

    async def move(self, user: str, client: str, mark: int) -> None:
        """Raise a mark; one that is higher already stays."""

    async def save_preferences(self, user: str, preferences: bytes) -> None:
        """Keep what a user prefers."""

    async def devices(self, user: str) -> list[Device]:
        """Where a user takes pushes."""

    async def add_device(self, user: str, device: Device) -> None:
        """Keep where a user takes pushes; the same endpoint replaces itself."""

    async def remove_device(self, user: str, endpoint: str) -> None:
        """That endpoint takes no pushes of this user any more."""

    async def save_sent_times(self, user: str, mails: Sequence[int], pushes: Sequence[int]) -> None:
        """Keep when a user was sent mails and pushes lately."""

    async def schedule(self, tasks: Sequence[Task]) -> None:
        """Keep tasks; the same task replaces itself."""

    async def due(self, shard: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        """Tasks of a due shard with `after_ms` < due_ms <= `until_ms`, in order of (due_ms, user, channel, event). May give
        more than `limit` where several are due in the same millisecond: those are never divided."""

    async def next_due(self, shard: int, after_ms: int) -> int | None:
        """When the first task of a due shard after `after_ms` is due; None if there is none."""

    async def sent(self, keys: Collection[tuple[str, str, str]]) -> dict[tuple[str, str, str], Sent]:
        """How mails and pushes ended, by (user, event, channel); those that did."""

    async def record(self, sent: Sequence[Sent]) -> None:
        """Keep how mails and pushes ended. Those that are dead are in `dead` too."""

    async def dead(self, after: str, limit: int) -> list[tuple[str, Sent]]:
        """Dead letters with their keys, ordered by key, after a key."""

    async def exhume(self, key: str) -> Sent | None:
        """Take a dead letter away, to be sent again; what it was, None if there is none."""

    async def beat(self, member: NodeRecord, last: int) -> bool:
        """Give a node a new counter if it was `last`; with 0, make the node known if it was not. Whether that was done. After
        `Unavailable` it may have been."""

    async def bury(self, node: str, counter: int) -> bool:
        """Take a node away if its counter is still this. Whether that was done; after `Unavailable` it may have been."""

    async def members(self) -> list[NodeRecord]:
        """All nodes that were made known and not buried."""

    async def claims(self) -> Claims:
        """Who owns which shard."""

    async def claim(self, claims: Claims, version: int) -> bool:
        """Replace the claims if their version is `version`. Whether that was done; after `Unavailable` it may have been."""

    async def epoch(self) -> int:
        """Returns the epoch of the store (`epoch`); 0 while it has none."""

    async def begin_epoch(self, epoch: int, former: int) -> bool:
        """Replaces the epoch if it is `former`. Returns whether that was done; after `Unavailable` it may have been."""

    async def sweep(self, limit: int) -> int:
        """Delete up to `limit` of what is past the retention time; how much that was. A store that forgets by itself has
        nothing to do."""

    async def close(self) -> None:
        """End it."""
