"""The feed of a user: pull, seen, read, history, and why (spec 4.3, 7; the client protocol is in `docs/client-protocol.md`)."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Final, NamedTuple

import msgspec

from infra.kernel.access import check_may_see
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.json_text import typed
from infra.kernel.readable import LAST_EXACT
from infra.kernel.topics import Kind, kind_of, parse_topic

from . import items
from .store import Item, Store

MAX_LIMIT: Final = 500
# One answer must not fill a link, or the memory of a phone: what is over it comes with the next one.
MAX_ANSWER_BYTES: Final = 1 << 20
# The marks of so many clients of one user are kept. Client names are free, and a name that is not used again would stay for ever.
MAX_CLIENTS: Final = 64
MAX_MARK: Final = LAST_EXACT
READ: Final = ""

Mark = Annotated[int, msgspec.Meta(ge=0, le=MAX_MARK)]
Id = int | str | None

_ENCODE: Final = msgspec.json.Encoder().encode


class PullQuery(msgspec.Struct, frozen=True):
    """A request for items after `since`, or after what this client has seen. `epoch`: the one to which `since` belongs."""

    id: Id = None
    since: Mark | None = None
    epoch: Mark | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 50


class MarkMove(msgspec.Struct, frozen=True):
    """A request to move a mark: seen or read up to `mark`, or all there is without it. `epoch`: the one to which `mark` belongs."""

    id: Id = None
    mark: Mark | None = None
    epoch: Mark | None = None


class HistoryQuery(msgspec.Struct, frozen=True):
    """A request for what was published on a topic; `before` goes on where an answer ended."""

    topic: str
    id: Id = None
    before: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 50


class _Stand(NamedTuple):
    """The marks of a user and one of their clients at the moment of `last`. Marks that have passed it since are cut."""

    last: int
    shown: int
    seen: int
    read: int


class Feed:
    """The feeds of all users, as clients ask for them.

    - `publish`: tells a user's devices.
    - `wall`: Unix time in seconds.
    - `epoch`: returns the store's.
    """

    def __init__(self, store: Store, publish: Callable[[Event], None], wall: Callable[[], float], epoch: Callable[[], int]) -> None:
        self._store, self._publish, self._wall, self._epoch = store, publish, wall, epoch

    async def answer(self, op: str, user: str, client: str, body: bytes) -> bytes:
        """Returns the answer to `op` of `user`'s `client`, as JSON.

        Raises `Refused` (bad-json, bad-field, bad-topic, forbidden, unknown-op) and `Unavailable`.
        """
        match op:
            case "pull":
                return await self.pull(user, client, typed(body, PullQuery))
            case "seen":
                return await self.seen(user, client, typed(body, MarkMove))
            case "read":
                return await self.read(user, client, typed(body, MarkMove))
            case "history":
                return await self.history(user, typed(body, HistoryQuery))
        raise Refused("unknown-op", f"notification answers pull, seen, read and history, not {op}")

    async def pull(self, user: str, client: str, ask: PullQuery) -> bytes:
        """Returns for `client` of `user` all and only what is later than the mark that they `ask` with, ascending (SB-48).

        The answer is as of one moment, when the last mark is read. An item above it has come since, and is left to its live copy or
        to the next pull.
        """
        epoch = self._epoch()
        stand = await self._stand(user, client)
        # Marks of another epoch, or above the last one, are of items that are not there: everything is new to this client.
        is_reset = ask.since is not None and (ask.since > stand.last or ask.epoch not in (None, epoch))
        since = 0 if is_reset else stand.seen if ask.since is None else ask.since
        found, unread = await asyncio.gather(self._store.items(user, since, ask.limit + 1), self._unread(user, stand.read, stand.shown))
        found = [item for item in found if item.mark <= stand.last]
        listed = _fitting([items.listed(item, stand.read) for item in found[: ask.limit]])
        some, more = found[: len(listed)], len(found) > len(listed)
        return b'{"op":"notifications","id":%b,"items":[%b],"next":%d,"more":%b,"epoch":%d,"seen":%d,"read":%d,"unread":%d%b}' % (
            _ENCODE(ask.id),
            b",".join(listed),
            some[-1].mark if more else stand.last,
            b"true" if more else b"false",
            epoch,
            stand.seen,
            stand.read,
            unread,
            b',"reset":true' if is_reset else b"",
        )

    async def seen(self, user: str, client: str, ask: MarkMove) -> bytes:
        """Moves the seen mark of `client` of `user` as they `ask`: later pulls of this client begin there."""
        epoch = self._epoch()
        last, _ = await self._last(user)
        if ask.epoch in (None, epoch):  # a mark of another epoch stands for other items
            await self._store.move(user, client or "-", min(last, last if ask.mark is None else ask.mark))
            await self._forget_old_clients(user)
        return await self._marks(user, client, ask.id, epoch)

    async def _forget_old_clients(self, user: str) -> None:
        """Forgets the clients of `user` beyond `MAX_CLIENTS` that have seen the least. One that comes back is shown everything again."""
        clients = sorted(((mark, client) for client, mark in (await self._store.marks(user)).items() if client != READ), reverse=True)
        if old := [client for _, client in clients[MAX_CLIENTS:]]:
            await self._store.forget_clients(user, old)

    async def read(self, user: str, client: str, ask: MarkMove) -> bytes:
        """Moves the one read mark of `user`, with one write however many items that is, and tells all their devices (SB-51)."""
        epoch = self._epoch()
        if ask.epoch not in (None, epoch):
            return await self._marks(user, client, ask.id, epoch)
        last, shown = await self._last(user)
        mark = min(last, last if ask.mark is None else ask.mark)
        before = (await self._store.marks(user)).get(READ, 0)
        if mark > before:
            await self._store.move(user, READ, mark)
            unread = await self._unread(user, mark, shown)
            self._publish(items.marks_moved(user, epoch, mark, unread, int(self._wall() * 1000)))
        return await self._marks(user, client, ask.id, epoch)

    async def history(self, user: str, ask: HistoryQuery) -> bytes:
        """Returns what was published on a topic within retention, newest first: also to a user who follows it only now (SB-52)."""
        topic = parse_topic(ask.topic)
        check_may_see(user, topic)
        if kind_of(topic) is Kind.USER:
            raise Refused("forbidden", "only playlists, artists and social feeds have a history; presence is never stored")
        found = await self._store.history(ask.topic, _cursor(ask.before), ask.limit + 1)
        remembered = _fitting([items.remembered(notice) for notice in found[: ask.limit]])
        some, more = found[: len(remembered)], len(found) > len(remembered)
        return b'{"op":"history","id":%b,"topic":%b,"items":[%b],"next":%b}' % (
            _ENCODE(ask.id),
            _ENCODE(ask.topic),
            b",".join(remembered),
            _ENCODE(f"{some[-1].ts_ms}:{some[-1].id}" if more else None),
        )

    async def _marks(self, user: str, client: str, id_: Id, epoch: int) -> bytes:
        stand = await self._stand(user, client)
        unread = await self._unread(user, stand.read, stand.shown)
        return _ENCODE({"op": "marks", "id": id_, "epoch": epoch, "seen": stand.seen, "read": stand.read, "unread": unread})

    async def _stand(self, user: str, client: str) -> _Stand:
        (last, shown), marks = await asyncio.gather(self._last(user), self._store.marks(user))
        return _Stand(last, shown, min(last, marks.get(client or "-", 0)), min(last, marks.get(READ, 0)))

    async def _last(self, user: str) -> tuple[int, int]:
        person = (await self._store.people([user]))[user]
        return person.last, person.shown

    async def _unread(self, user: str, read: int, shown: int) -> int:
        """Returns how many items in the bell are not read.

        Exact, and without counting: each item knows how many in the bell there were up to it, so it is a difference of two.
        """
        first = await self._store.items(user, read, 1)
        return shown - _shown_before(first[0]) if first else 0


def _fitting(texts: list[bytes]) -> list[bytes]:
    """Returns as many of `texts`, from the first on, as one answer may hold; the first in any case."""
    size_bytes = 0
    for position, text in enumerate(texts):
        size_bytes += len(text)
        if size_bytes > MAX_ANSWER_BYTES and position:
            return texts[:position]
    return texts


def _shown_before(item: Item) -> int:
    return item.shown - (items.IN_CLIENT in item.types)


def _cursor(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    ts_ms, colon, event = text.partition(":")
    if not (colon and ts_ms.isdecimal() and len(ts_ms) <= 16):
        raise Refused("bad-field", "before must be the `next` of an earlier answer")
    return int(ts_ms), event
