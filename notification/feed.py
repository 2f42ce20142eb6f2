"""The feed of a user: pull, list, seen, read, change and history (spec 4.3, 7; the client protocol is in `docs/client-protocol.md`)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final

import msgspec

from infra.kernel.access import check_may_see
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.json_text import typed
from infra.kernel.topics import Kind, kind_of, parse_topic

from . import items
from .changes import ChangeRequest, Changes, Id, Mark
from .stand import READ, Stand, deleted_events, stand_of, unread_of
from .store import Item, Store

MAX_LIMIT: Final = 500
# One answer must not fill a link, or the memory of a phone: what is over it comes with the next one.
MAX_ANSWER_BYTES: Final = 1 << 20
# The marks of so many clients of one user are kept. Client names are free, and a name that is not used again would stay for ever.
MAX_CLIENTS: Final = 64
# A page of a list looks at so many items at most: all others may be archived.
MAX_LOOKED_AT: Final = 1000

_ENCODE: Final = msgspec.json.Encoder().encode
_NOTHING: Final[Mapping[str, object]] = {}


class PullQuery(msgspec.Struct, frozen=True):
    """A request for items after `since`, or after what this client has seen. `epoch`: the one to which `since` belongs."""

    id: Id = None
    since: Mark | None = None
    epoch: Mark | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 50


class ListQuery(msgspec.Struct, frozen=True):
    """A request for items before the mark `before`, the newest first: those that are archived, or those that are not.

    Without `before` it begins at the newest. `epoch`: the one to which `before` belongs.
    """

    id: Id = None
    before: Mark | None = None
    epoch: Mark | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = 50
    archived: bool = False


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


class Feed:
    """The feeds of all users, as clients ask for them.

    - `publish`: tells a user's devices.
    - `wall`: Unix time in seconds.
    - `epoch`: returns the store's.
    """

    def __init__(self, store: Store, publish: Callable[[Event], None], wall: Callable[[], float], epoch: Callable[[], int]) -> None:
        self._store, self._epoch = store, epoch
        self._changes = Changes(store, publish, wall)

    async def answer(self, op: str, user: str, client: str, body: bytes) -> bytes:
        """Returns the answer to `op` of `user`'s `client`, as JSON.

        Raises `Refused` (bad-json, bad-field, bad-topic, forbidden, too-many-items, unknown-op) and `Unavailable`.
        """
        match op:
            case "pull":
                return await self.pull(user, client, typed(body, PullQuery))
            case "list":
                return await self.list_newest(user, client, typed(body, ListQuery))
            case "seen":
                return await self.seen(user, client, typed(body, MarkMove))
            case "read":
                return await self.read(user, client, typed(body, MarkMove))
            case "change":
                return await self.change(user, client, typed(body, ChangeRequest))
            case "history":
                return await self.history(user, typed(body, HistoryQuery))
        raise Refused("unknown-op", f"notification answers pull, list, seen, read, change and history, not {op}")

    async def pull(self, user: str, client: str, ask: PullQuery) -> bytes:
        """Returns for `client` of `user` all and only what is later than the mark that they `ask` with, ascending (SB-48).

        The answer is as of one moment, when the last mark is read. An item above it has come since, and is left to its live copy or
        to the next pull. What the user has deleted is not there any more.
        """
        epoch = self._epoch()
        stand = await stand_of(self._store, user, client)
        # Marks of another epoch, or above the last one, are of items that are not there: everything is new to this client.
        is_reset = ask.since is not None and (ask.since > stand.last or ask.epoch not in (None, epoch))
        since = 0 if is_reset else stand.seen if ask.since is None else ask.since
        found, unread = await asyncio.gather(self._store.items(user, since, ask.limit + 1), unread_of(self._store, user, stand))
        found = [item for item in found if item.mark <= stand.last]
        there = [item for item in found[: ask.limit] if not stand.states.is_deleted(item.mark)]
        listed = _fitting([items.listed(item, stand.read, stand.states) for item in there])
        is_cut = len(listed) < len(there)
        more = is_cut or len(found) > ask.limit
        last = there[len(listed) - 1] if is_cut else found[ask.limit - 1] if more else None
        return b'{"op":"notifications","id":%b,"items":[%b],"next":%d,"more":%b,%b%b}' % (
            _ENCODE(ask.id),
            b",".join(listed),
            stand.last if last is None else last.mark,
            b"true" if more else b"false",
            _fields(_marks(stand, epoch, unread)),
            b',"reset":true' if is_reset else b"",
        )

    async def list_newest(self, user: str, client: str, ask: ListQuery) -> bytes:
        """Returns a page of what `user` has, newest first, whatever `client` has seen of it."""
        epoch = self._epoch()
        stand = await stand_of(self._store, user, client)
        is_reset = ask.before is not None and ask.epoch not in (None, epoch)
        before = stand.last + 1 if ask.before is None or is_reset else min(ask.before, stand.last + 1)
        page = self._archived(user, before, ask.limit, stand) if ask.archived else self._kept(user, before, ask.limit, stand)
        (found, after), unread = await asyncio.gather(page, unread_of(self._store, user, stand))
        listed = _fitting([items.listed(item, stand.read, stand.states) for item in found])
        if len(listed) < len(found):
            after = found[len(listed) - 1].mark
        return b'{"op":"list","id":%b,"items":[%b],"next":%b,%b%b}' % (
            _ENCODE(ask.id),
            b",".join(listed),
            _ENCODE(after),
            _fields(_marks(stand, epoch, unread)),
            b',"reset":true' if is_reset else b"",
        )

    async def _kept(self, user: str, before: int, limit: int, stand: Stand) -> tuple[list[Item], int | None]:
        """Returns items before a mark that are neither archived nor deleted, and before which mark to go on; None at the end."""
        kept: list[Item] = []
        for _ in range(0, MAX_LOOKED_AT, limit):
            found = await self._store.items_before(user, before, limit + 1)
            for position, item in enumerate(found[:limit]):
                before = item.mark
                if not (stand.states.is_archived(before) or stand.states.is_deleted(before)):
                    kept.append(item)
                if len(kept) == limit:
                    return kept, before if position + 1 < len(found) else None
            if len(found) <= limit:
                return kept, None
        return kept, before

    async def _archived(self, user: str, before: int, limit: int, stand: Stand) -> tuple[list[Item], int | None]:
        """Returns what is archived, as `_kept` does the rest."""
        marks = [mark for mark in stand.states.archived if mark < before]
        found = await self._store.items_at(user, marks[:limit])
        return sorted(found, key=lambda item: -item.mark), marks[limit - 1] if len(marks) > limit else None

    async def seen(self, user: str, client: str, ask: MarkMove) -> bytes:
        """Moves the seen mark of `client` of `user` as they `ask`: later pulls of this client begin there."""
        epoch = self._epoch()
        if ask.epoch in (None, epoch):  # a mark of another epoch stands for other items
            last = (await self._store.people([user]))[user].last
            await self._store.move(user, client or "-", min(last, last if ask.mark is None else ask.mark))
            await self._forget_old_clients(user)
        return await self._answer_marks(user, client, ask.id, epoch)

    async def _forget_old_clients(self, user: str) -> None:
        """Forgets the clients of `user` beyond `MAX_CLIENTS` that have seen the least. One that comes back is shown everything again."""
        clients = sorted(((mark, client) for client, mark in (await self._store.marks(user)).items() if client != READ), reverse=True)
        if old := [client for _, client in clients[MAX_CLIENTS:]]:
            await self._store.forget_clients(user, old)

    async def read(self, user: str, client: str, ask: MarkMove) -> bytes:
        """Moves the one read mark of `user`, and tells all their devices (SB-51)."""
        epoch = self._epoch()
        if ask.epoch in (None, epoch):
            await self._changes.read_up_to(user, ask.mark, epoch)
        return await self._answer_marks(user, client, ask.id, epoch)

    async def change(self, user: str, client: str, ask: ChangeRequest) -> bytes:
        """Changes single items as `user` asks, and tells all their devices."""
        epoch = self._epoch()
        rejected = await self._changes.change(user, ask, epoch)
        return await self._answer_marks(user, client, ask.id, epoch, {"rejected": rejected})

    async def history(self, user: str, ask: HistoryQuery) -> bytes:
        """Returns what was published on a topic within retention, newest first: also to a user who follows it only now (SB-52).

        What the user has deleted from their inbox is not told again.
        """
        topic = parse_topic(ask.topic)
        check_may_see(user, topic)
        if kind_of(topic) is Kind.USER:
            raise Refused("forbidden", "only playlists, artists and social feeds have a history; presence is never stored")
        found = await self._store.history(ask.topic, _cursor(ask.before), ask.limit + 1)
        deleted = await deleted_events(self._store, user, [notice.id for notice in found])
        there = [notice for notice in found[: ask.limit] if notice.id not in deleted]
        remembered = _fitting([items.remembered(notice) for notice in there])
        is_cut = len(remembered) < len(there)
        last = there[len(remembered) - 1] if is_cut else found[ask.limit - 1] if len(found) > ask.limit else None
        return b'{"op":"history","id":%b,"topic":%b,"items":[%b],"next":%b}' % (
            _ENCODE(ask.id),
            _ENCODE(ask.topic),
            b",".join(remembered),
            _ENCODE(None if last is None else f"{last.ts_ms}:{last.id}"),
        )

    async def _answer_marks(self, user: str, client: str, id_: Id, epoch: int, more: Mapping[str, object] = _NOTHING) -> bytes:
        stand = await stand_of(self._store, user, client)
        unread = await unread_of(self._store, user, stand)
        return _ENCODE({"op": "marks", "id": id_, **_marks(stand, epoch, unread), **more})


def _marks(stand: Stand, epoch: int, unread: int) -> dict[str, int]:
    """Returns how a user stands, as every answer says it. `changed` is there once something was changed."""
    marks = {"epoch": epoch, "seen": stand.seen, "read": stand.read, "unread": unread}
    return marks | {"changed": stand.changed} if stand.changed else marks


def _fields(values: Mapping[str, object]) -> bytes:
    """Returns the fields of an object in JSON, without its braces."""
    return _ENCODE(values)[1:-1]


def _fitting(texts: Sequence[bytes]) -> Sequence[bytes]:
    """Returns as many of `texts`, from the first on, as one answer may hold; the first in any case."""
    size_bytes = 0
    for position, text in enumerate(texts):
        size_bytes += len(text)
        if size_bytes > MAX_ANSWER_BYTES and position:
            return texts[:position]
    return texts


def _cursor(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    ts_ms, colon, event = text.partition(":")
    if not (colon and ts_ms.isdecimal() and len(ts_ms) <= 16):
        raise Refused("bad-field", "before must be the `next` of an earlier answer")
    return int(ts_ms), event
