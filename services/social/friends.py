"""Friends: the graph, linked address books, wall posts. What was answered is durable, and so is what it promises to others. Pure.

A *friend* is a user whom one follows. The graph is a `FollowStore` on user topics. So the friends of u who are subscribed to u's
feed are the followers of u's topic (spec 3.6).
"""

from collections.abc import Callable, Sequence
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, kind_of, user_topic

from ..follows import PAGE, FollowStore
from ..list_page import ListPage
from .core import Contacts, digest, hashed, hashed_contacts, joined_topic
from .post import Post
from .promise import Match, Promise, PutUp, Share, TellJoined
from .store import SocialStore

MATCHED: Final = 200


class Friends:
    """The friends of all users.

    - `follows`: the graph.
    - `store`: all else that social remembers.
    - `wake`: is called when something was promised.
    - `has_playlists`, `has_wall`: whether there is a playlist service, and a wall; nothing is promised to one that is not there.
    - `now_ms`: Unix time in milliseconds.

    All methods raise Unavailable when the store cannot answer now; repeating is safe.
    """

    def __init__(
        self,
        follows: FollowStore,
        store: SocialStore,
        wake: Callable[[], None],
        *,
        has_playlists: bool,
        has_wall: bool,
        now_ms: Callable[[], int],
    ) -> None:
        self._follows, self._store, self._wake, self._now_ms = follows, store, wake, now_ms
        self._has_playlists, self._has_wall = has_playlists, has_wall

    async def befriend(self, user: str, friend: str) -> bool:
        """Lets `user` follow `friend` from now on, and by default their playlists (SB-6); returns whether it is mutual now."""
        if user == friend:
            raise Refused("bad-field", "a user cannot be their own friend; name another user")
        # The graph first: the courier looks at it when it keeps the promise. After a crash between the two, the client has no
        # answer and asks again.
        new = await self._follows.add(user, [user_topic(friend)])
        await self._promise(self._shares(user, friend))
        if new:
            await self.tell_wall(user, f"friend-{digest(user, friend)}", "friend", {"user": friend})
        return (await self.are_friends(user, [friend]))[0]

    async def unfriend(self, user: str, friend: str) -> None:
        """Lets `user` not follow `friend` any more, nor their playlists to come. Playlists that `user` follows already stay."""
        await self._follows.remove(user, [user_topic(friend)])
        await self._promise(self._shares(user, friend))

    async def followed(self, user: str, after: str, limit: int) -> ListPage[str]:
        """Returns up to `limit` users whom `user` follows, from the cursor `after` on."""
        page = await self._follows.topics(user, after, limit)
        return ListPage([topic[1:].decode() for topic in page.items if kind_of(topic) is Kind.USER], page.next)

    async def subscribed(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """Returns up to `limit` friends of `user` who are subscribed to the feed of `user`, from the cursor `after` on (SB-34)."""
        return await self._follows.followers(user_topic(user), after, limit)

    async def are_friends(self, owner: str, users: Sequence[str]) -> list[bool]:
        """Returns whether each of `users` is subscribed to the feed of `owner`."""
        return await self._follows.follows(user_topic(owner), users)

    async def link(self, user: str, provider: str, book: Contacts) -> int:
        """Remembers who `user` is at `provider`, and whom they know there by their `book`; returns how many contacts that are.

        Friendships follow in a moment (SB-4, SB-5). Raises `Refused` (conflict, too-large).
        """
        me = hashed(self._store.salt, provider, book.me)
        contacts = hashed_contacts(self._store.salt, provider, me, book.contacts)
        await self._store.link(user, provider, me, contacts, Match(user, provider).task())
        self._wake()
        return len(contacts)

    async def unlink(self, user: str, provider: str) -> None:
        """Forgets who `user` is at `provider` and whom they know there. Friends stay friends."""
        await self._store.unlink(user, provider)

    async def links(self, user: str) -> dict[str, int]:
        """Returns provider -> number of contacts that are remembered."""
        return await self._store.links(user)

    async def tell_wall(self, user: str, post_id: str, kind: str, payload: dict[str, object]) -> bool:
        """Has a post put on the wall of `user`, if they want posts; returns whether they do (SB-34).

        The post has the id `post_id`, a `kind` and a `payload`.
        """
        wanted = self._has_wall and await self._store.posting(user)
        if wanted:
            post = Post(id=post_id, user=user, kind=kind, ts_ms=self._now_ms(), payload=payload)
            await self._promise([PutUp(user, post)])
        return wanted

    async def set_posting(self, user: str, wanted: bool) -> None:
        """Notes whether `user` wants wall posts."""
        await self._store.set_posting(user, wanted)

    async def posting(self, user: str) -> bool:
        """Returns whether `user` wants wall posts."""
        return await self._store.posting(user)

    async def match(self, user: str, provider: str) -> None:
        """Makes friends of `user` and all who know them, or are known to them, at `provider`.

        It promises to tell those who waited for `user`.
        """
        await self._follows.add_followers(joined_topic(user), [user])
        # A part at a time, settled last: after a crash the part is found again, and everything in it may be repeated.
        while any(found := await self._store.matches(user, provider, MATCHED)):
            others = list(dict.fromkeys([*(who for _, who in found.contacts), *found.waiting]))
            await self._make_mutual(user, others)
            await self._promise([TellJoined(who, user) for who in found.waiting])
            await self._store.settle(user, provider, found)

    async def _make_mutual(self, user: str, others: Sequence[str]) -> None:
        await self._follows.add_followers(user_topic(user), others)
        for other in others:
            await self._follows.add_followers(user_topic(other), [user])
        pairs = [pair for other in others for pair in ((user, other), (other, user))]
        await self._promise([share for pair in pairs for share in self._shares(*pair)])

    async def _promise(self, promises: Sequence[Promise]) -> None:
        if promises:
            await self._store.promise([each.task() for each in promises])
            self._wake()

    def _shares(self, user: str, owner: str) -> list[Share]:
        return [Share(user, owner)] if self._has_playlists else []
