"""Routes: what is for a follower goes to the node that owns the follower's shard, over links between notification nodes.

Where the owner is away or about to change, the request waits for it, but not for long: then whoever asked is told to come again.
Nothing waits here but requests, so their number is the bound.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from itertools import count
from typing import Final, NamedTuple, Protocol, TypeVar

import msgspec

from infra.kernel.errors import Unavailable
from infra.kernel.frames import NOBODY, Call, Reply
from infra.kernel.roles import NOTIFICATION
from infra.runtime.call_client import CallClient
from infra.runtime.link import Link

from ..module_context import ModuleContext
from ..owned import Owned
from ..shards import by_shard, shard_of
from ..store import AGAIN, Task
from .core import NodeRecord
from .keeper import Keeper

# How long to wait for an owner to come, and for the answer of one that is there.
WAIT_S: Final = 2.0
ANSWER_S: Final = 15.0

_ENCODE: Final = msgspec.msgpack.Encoder().encode

T = TypeVar("T")
Followers = dict[int, list[str]]


class FollowerBatch(msgspec.Struct, frozen=True, array_like=True):
    """The followers of one event, by shard."""

    event: str
    flags: int
    is_bulk: bool
    followers: Followers


class Rest(NamedTuple):
    """The followers whom a node did not take, because it does not own them. `in_doubt`: it may have taken them."""

    followers: Followers
    in_doubt: bool


class Links(Protocol):
    """The links of this node (see `infra.runtime.node.Node`)."""

    def dial(self, address: str, role: str, site: str) -> None:
        """Keeps a link to `address`, where a node of this `role` and `site` is."""

    def hang_up(self, address: str) -> None:
        """Ends the link to `address`."""


class Routes:
    """The way to the owner of each follower, from this node.

    - `links`: reaches the other nodes.
    - `keeper`: knows who owns what.
    - `owned`, `module`: what this node does itself for followers whom it owns.
    """

    def __init__(self, links: Links, keeper: Keeper, owned: Owned, module: ModuleContext) -> None:
        self._links, self._keeper, self._module = links, keeper, module
        self._log, self._agenda, self._people = owned.log, owned.agenda, owned.people
        self._peers: dict[str, Link] = {}
        self._dialled: set[str] = set()
        self._calls = CallClient(ANSWER_S)
        self._appends = count()

    # What this node wants of owners.

    async def append(self, users: Iterable[str], event: str, flags: int, is_bulk: bool) -> None:
        """Stores one row for each of `users`, wherever they are owned.

        - `event`, `flags`, `is_bulk`: see `Log.append`.

        Raises Unavailable: then some may be stored.
        """
        left, until_s = by_shard(users), self._now_s() + WAIT_S
        while True:
            changed = self._keeper.changed  # taken before the owners are looked up, so no change is missed in between
            rests = await _all(self._append_at(owner, FollowerBatch(event, flags, is_bulk, some)) for owner, some in self._by_owner(left))
            left = {shard: some for rest in rests for shard, some in rest.followers.items()}
            if not left:
                return
            # A node that did not answer may have written the rows: the worker then looks whether they are decided already.
            if any(rest.in_doubt for rest in rests):
                flags |= AGAIN
            await self._wait(changed, until_s)

    async def refresh(self, user: str) -> None:
        """Has the owner of `user` go by the preferences and devices that were just stored. Raises Unavailable."""
        await self._at_owner(user, lambda: self._people.refresh(user), "refresh", b"")

    async def schedule(self, task: Task) -> None:
        """Puts a task on the agenda of the owner of its user. Raises Unavailable."""
        await self._at_owner(task.user, lambda: self._agenda.add([task]), "schedule", _ENCODE(task))

    async def _at_owner(self, user: str, here: Callable[[], Awaitable[None]], op: str, body: bytes) -> None:
        shard, until_s = shard_of(user), self._now_s() + WAIT_S
        while True:
            changed = self._keeper.changed
            owner = self._keeper.core.owner_of(shard)
            if owner is not None and owner.node == self._keeper.core.node:
                if self._log.owns(shard):
                    return await here()
            elif owner is not None and (link := self._peers.get(owner.address)) is not None:
                reply = await self._call(link, op, body, user=user)
                if reply is not None and reply.body:
                    return None
            await self._wait(changed, until_s)

    async def _append_at(self, owner: NodeRecord | None, batch: FollowerBatch) -> Rest:
        if owner is not None and owner.node == self._keeper.core.node:
            return Rest(await self._take(batch), in_doubt=False)
        link = self._peers.get(owner.address) if owner is not None else None
        if link is None:
            return Rest(batch.followers, in_doubt=False)
        # In a queue of its own: one batch need not wait for another.
        reply = await self._call(link, "append", _ENCODE(batch), queue=f"append-{next(self._appends)}")
        if reply is None:
            return Rest(batch.followers, in_doubt=True)
        refused = msgspec.msgpack.decode(reply.body, type=list[int])
        return Rest({shard: batch.followers[shard] for shard in refused}, in_doubt=False)

    async def _take(self, batch: FollowerBatch) -> Followers:
        """Stores the rows of the shards that are ours; returns the others."""
        mine = {shard: users for shard, users in batch.followers.items() if self._log.owns(shard)}
        if mine:
            await self._log.append(mine, batch.event, batch.flags, batch.is_bulk, self._module.now_ms())
        return {shard: users for shard, users in batch.followers.items() if shard not in mine}

    def _by_owner(self, followers: Followers) -> list[tuple[NodeRecord | None, Followers]]:
        owners: dict[NodeRecord | None, Followers] = {}
        for shard, users in followers.items():
            owners.setdefault(self._keeper.core.owner_of(shard), {})[shard] = users
        return list(owners.items())

    async def _wait(self, changed: asyncio.Event, until_s: float) -> None:
        self._keeper.poke()
        try:
            async with asyncio.timeout(until_s - self._now_s()):
                await changed.wait()
        except TimeoutError:
            raise Unavailable("the node that owns these followers is away; another takes over within seconds") from None

    # What other nodes want of this one.

    def answers(self) -> Mapping[str, Callable[[Call], Awaitable[bytes]]]:
        """Returns what answers each op of other nodes."""
        return {"append": self._on_append, "refresh": self._on_refresh, "schedule": self._on_schedule}

    async def _on_append(self, call: Call) -> bytes:
        rest = await self._take(msgspec.msgpack.decode(call.body, type=FollowerBatch))
        return _ENCODE(self._refused(rest))

    async def _on_refresh(self, call: Call) -> bytes:
        return await self._if_ours(call.user, lambda: self._people.refresh(call.user))

    async def _on_schedule(self, call: Call) -> bytes:
        return await self._if_ours(call.user, lambda: self._agenda.add([msgspec.msgpack.decode(call.body, type=Task)]))

    async def _if_ours(self, user: str, work: Callable[[], Awaitable[None]]) -> bytes:
        """Does `work` and returns "done"; returns nothing where others own the user."""
        if self._refused([shard_of(user)] if not self._log.owns(shard_of(user)) else []):
            return b""
        await work()
        return b"done"

    def _refused(self, shards: Collection[int]) -> list[int]:
        if shards:  # the other node may know more than we do
            self._keeper.poke()
        return list(shards)

    # Links.

    def follow_members(self) -> None:
        """Keeps a link to each other node that there is; called when the keeper knows of others."""
        core = self._keeper.core
        others = {member.address: member for member in core.members.values() if member.node != core.node}
        for address in self._dialled - others.keys():
            self._links.hang_up(address)
        for address in others.keys() - self._dialled:
            self._links.dial(address, NOTIFICATION, others[address].site)
        self._dialled = set(others)

    def missing(self) -> str | None:
        """Returns why not all other nodes can be reached; None when they can."""
        away = sorted(self._dialled - self._peers.keys())
        return f"no link to the notification nodes at {', '.join(away)}" if away else None

    def link_up(self, link: Link) -> None:
        """Notes that another node answered, or called: there is one more, or one is back."""
        if link.dialled is not None:
            self._peers[link.dialled] = link
        self._keeper.poke()
        self._keeper.tell()

    def link_down(self, link: Link) -> None:
        """Notes that another node is lost; what it was asked it may have done."""
        if link.dialled is not None and self._peers.get(link.dialled) is link:
            del self._peers[link.dialled]
        self._keeper.poke()
        self._calls.link_down(link)

    def reply(self, link: Link, reply: Reply) -> None:
        """Notes what another node has answered."""
        self._calls.reply(link, reply)

    async def _call(self, link: Link, op: str, body: bytes, *, user: str = NOBODY, queue: str = "") -> Reply | None:
        """Returns the answer, None if there was none. Raises Unavailable if it was that."""
        try:
            reply = await self._calls.call(link, op, body, user=user, queue=queue)
        except Unavailable:
            return None
        if reply.code:
            raise Unavailable(reply.reason)
        return reply

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


async def _all(works: Iterable[Awaitable[T]]) -> list[T]:
    """Returns all results, when all have ended. Raises the first error."""
    results: list[T] = []
    for result in await asyncio.gather(*works, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results
