"""The things that the notification module stores, and the port behind which they are (design 7).

One contract suite runs on both adapters (`store_sqlite`, `store_cassandra`). Every method may raise `Unavailable`; repeating it
is safe then. Items, decisions, rows and notices go after the retention time; people and marks stay.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from .item_state import ItemState, StatedItem
from .notice import Notice
from .ownership.core import Claims, FencingToken, NodeRecord
from .webhook import Webhook

FRIEND = 1
SENT = 2
# The row may have been written before, by a request that was repeated. So the worker looks whether it is decided already.
AGAIN = 4


class Taken(NamedTuple):
    """A notice as it is stored.

    - `followers`: how many it went to; None while that is not complete.
    - `is_new`: it was not there before.
    """

    notice: Notice
    followers: int | None
    is_new: bool


class LogRow(NamedTuple):
    """A follower of one event, in a part of the log, under a number `n` that rises within the part. `flags`: see above."""

    part: int
    n: int
    event: str
    user: str
    flags: int


class Person(msgspec.Struct, gc=False):
    """A user as the worker knows them.

    - `last`: their last mark.
    - `shown`: how many items up to it belong in the bell.
    - `preferences`: JSON; empty for a user who said nothing.
    - `has_devices`: whether they have a device for pushes.
    - `mails`, `pushes`: when they were sent some lately, in ms.
    - `webhooks`: the ids of their webhooks.
    - `changed`: the number of the last change of a state of an item (`item_state`); 0 if there was none.
    """

    user: str
    last: int = 0
    shown: int = 0
    preferences: bytes = b""
    has_devices: bool = False
    mails: tuple[int, ...] = ()
    pushes: tuple[int, ...] = ()
    changed: int = 0
    webhooks: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The outcome of an event for a user, and why.

    - `mark`: of the item; 0 where nothing was stored for the user.
    - `shown`: counts the items with "in-client" among `types`, up to this one.
    - `reasons`: the rules; see `Verdict`.
    """

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
    """A browser or phone of a user that takes pushes: where, and for which keys."""

    endpoint: str
    p256dh: str
    auth: str


class Task(NamedTuple):
    """A mail, a push or a live copy that is due. `due_ms` orders them; `started_ms` is when the first attempt was due."""

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
    """The ending of a mail or a push: "delivered", "dropped" (no longer wanted when it was due) or "dead".

    Of a live copy that no broker took at once: how it stands, which may be `WAITING`.
    """

    user: str
    event: str
    channel: str
    state: str
    reason: str
    ts_ms: int


def key_of(sent: Sent) -> str:
    """Returns the key of a dead letter: keys are ordered by time, and no two letters have the same."""
    return f"{sent.ts_ms:014d}:{sent.user}:{sent.channel}:{sent.event}"


class Store(Protocol):
    """The port. What is older than the retention time is not there, whether it is deleted yet or not.

    A write with a `fence` does nothing that lasts once its writer is buried and another node owns its shards. Either it is refused
    as unavailable, or what the new owner writes in its place wins, whichever comes last.
    """

    # How many parts of the log are best read at once.
    parts_at_once: int

    async def begin(self, notice: Notice) -> Taken:
        """Stores `notice`, unless its id is there already; returns what is there now."""

    async def append(self, rows: Sequence[LogRow], fence: FencingToken | None = None) -> None:
        """Stores rows: all of them when this returns."""

    async def complete(self, event: str, followers: int) -> None:
        """Notes that all `followers` of `event`, so many, are in the log."""

    async def notices(self, events: Collection[str]) -> dict[str, Notice]:
        """Returns those of the notices that are there."""

    async def history(self, topic: str, before: tuple[int, str] | None, limit: int) -> list[Notice]:
        """Returns what was published on `topic`, newest first, at most `limit`; before a (ts_ms, id) if `before` is given."""

    async def rows(self, after: Mapping[int, int], limit: int) -> dict[int, list[LogRow]]:
        """Returns rows by part: those with higher numbers than `after` gives for the part, in order, at most `limit` of each part."""

    async def ends(self, parts: Collection[int]) -> dict[int, int]:
        """Returns the highest number of a row in each part; parts without rows are missing."""

    async def cursors(self) -> dict[int, int]:
        """Returns up to which number each part is done; parts that never were are missing."""

    async def save_cursors(self, cursors: Mapping[int, int]) -> None:
        """Stores how far parts are done; what is farther already stays."""

    async def people(self, users: Collection[str]) -> dict[str, Person]:
        """Returns all of them; a user who is not known yet is as new."""

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        """Stores decisions, each with its item and the new last mark of its user. All of one user are stored at once, or none."""

    async def decisions(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Decision]:
        """Returns the decisions that are there, by (user, event)."""

    async def items(self, user: str, after: int, limit: int) -> list[Item]:
        """Returns items of `user` with higher marks than `after`, ascending, at most `limit`."""

    async def items_before(self, user: str, before: int, limit: int) -> list[Item]:
        """Returns items of `user` with lower marks than `before`, descending, at most `limit`."""

    async def items_at(self, user: str, marks: Collection[int]) -> list[Item]:
        """Returns those of the items of `user` at `marks` that are there, in no order."""

    async def states(self, user: str) -> list[StatedItem]:
        """Returns the items of `user` that have a state, in no order. A state goes with its item."""

    async def change_items(self, user: str, marks: Collection[int], change: ItemState, changed: int) -> set[int]:
        """Changes the states of the items of `user` at `marks` that are there, all of them at once. Returns their marks.

        `changed` is the number of the change; the user's rises to it. Of two changes of the same the one with the higher number stays.
        """

    async def forget_clients(self, user: str, clients: Collection[str]) -> None:
        """Forgets the marks of `clients` of `user`."""

    async def marks(self, user: str) -> dict[str, int]:
        """Returns the marks of a user: what was seen by client, and under "" what the user has read."""

    async def move(self, user: str, client: str, mark: int) -> None:
        """Raises the mark of `client` of `user` to `mark`; one that is higher already stays."""

    async def save_preferences(self, user: str, preferences: bytes) -> None:
        """Stores what a user prefers."""

    async def devices(self, user: str) -> list[Device]:
        """Returns the devices that take pushes of a user."""

    async def add_device(self, user: str, device: Device) -> None:
        """Stores a device; one with the same endpoint is replaced."""

    async def remove_device(self, user: str, endpoint: str) -> None:
        """Forgets the device of `user` at `endpoint`."""

    async def webhooks(self, user: str) -> list[Webhook]:
        """Returns the webhooks of a user, by id."""

    async def save_webhook(self, user: str, webhook: Webhook) -> None:
        """Stores a webhook; one with the same id is replaced."""

    async def remove_webhook(self, user: str, webhook_id: str) -> None:
        """Forgets a webhook of `user`."""

    async def save_sent_times(self, user: str, mails: Sequence[int], pushes: Sequence[int]) -> None:
        """Stores when `user` was sent `mails` and `pushes` lately, in ms."""

    async def schedule(self, tasks: Sequence[Task]) -> None:
        """Stores tasks; the same task replaces itself."""

    async def due(self, shard: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        """Returns tasks of `shard` with `after_ms` < due_ms <= `until_ms`, in order of (due_ms, user, channel, event).

        At most `limit`, but tasks that are due in the same millisecond are never divided, so there may be more.
        """

    async def next_due(self, shard: int, after_ms: int) -> int | None:
        """Returns when the first task of `shard` after `after_ms` is due; None if there is none."""

    async def sent(self, keys: Collection[tuple[str, str, str]]) -> dict[tuple[str, str, str], Sent]:
        """Returns how mails and pushes ended, by (user, event, channel); those that have not are missing."""

    async def record(self, sent: Sequence[Sent]) -> None:
        """Stores how mails and pushes ended. Those that are dead are in `dead`, too."""

    async def dead(self, after: str, limit: int) -> list[tuple[str, Sent]]:
        """Returns dead letters with their keys, ordered by key, after the key `after`, at most `limit`."""

    async def exhume(self, key: str) -> Sent | None:
        """Takes a dead letter away, to be sent again. Returns what it was; None if there is none."""

    async def beat(self, member: NodeRecord, last: int) -> bool:
        """Gives a node a new counter if the old one is `last`. With 0, makes the node known if it is not.

        Returns whether that was done; after `Unavailable` it may have been.
        """

    async def bury(self, node: str, counter: int) -> bool:
        """Takes a node away if its counter is still `counter`. Returns whether that was done; after `Unavailable` it may have been."""

    async def members(self) -> list[NodeRecord]:
        """Returns all nodes that were made known and not buried."""

    async def claims(self) -> Claims:
        """Returns who owns which shard."""

    async def claim(self, claims: Claims, version: int) -> bool:
        """Replaces the claims if their version is `version`. Returns whether that was done; after `Unavailable` it may have been."""

    async def epoch(self) -> int:
        """Returns the epoch of the store (`epoch`); 0 while it has none."""

    async def begin_epoch(self, epoch: int, former: int) -> bool:
        """Replaces the epoch if it is `former`. Returns whether that was done; after `Unavailable` it may have been."""

    async def sweep(self, limit: int) -> int:
        """Deletes up to `limit` rows that are past the retention time; returns how many. A store that forgets by itself has none.

        It is called once a minute or so. Time goes on from one call to the next: a clock that has leapt ahead (`retention`) makes nothing
        expire before it has gone on for days.
        """

    @property
    def doubts_clock(self) -> bool:
        """Whether the clock had leapt ahead at the last `sweep`, so that nothing expires."""

    async def close(self) -> None:
        """Closes the store."""
