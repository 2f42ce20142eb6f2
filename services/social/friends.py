"""Friends: the graph, linked address books, wall posts. What was answered is durable, and so is what it promises to others. Pure.

A *friend* is a user whom one follows. The graph is a `FollowStore` on user topics. So the friends of u who are subscribed to u's
feed are the followers of u's topic (spec 3.6).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, kind_of, user_topic

from ..barring import Barring, both_ways
from ..follows import PAGE, FollowStore
from ..list_page import ListPage
from .core import Contacts, VouchedContacts, digest, hashed, hashed_contacts, joined_topic
from .post import Post
from .privacy_store import PrivacyStore
from .promise import Match, Promise, Prune, PutUp, Share, TellFollowed, TellJoined
from .store import Linked, SocialStore

MATCHED: Final = 200
# Contacts that are hashed in one go. The longest texts take a quarter of a millisecond each.
HASHED: Final = 32


class Friends:
    """The friends of all users.

    - `follows`: the graph.
    - `store`: all else that social remembers, save `privacy`: who blocks whom.
    - `barring`: tells who has to ask again when somebody's relation to somebody has changed.
    - `wake`: is called when something was promised.
    - `give_way`: lets others have a turn, between parts of what takes long.
    - `has_playlists`, `has_wall`, `has_bell`: whether there is a playlist service, a wall, and a notification module that hears of
      new followers. Nothing is promised to one that is not there.
    - `now_ms`: Unix time in milliseconds.

    All methods raise Unavailable when the store cannot answer now; repeating is safe.
    """

    def __init__(
        self,
        follows: FollowStore,
        store: SocialStore,
        privacy: PrivacyStore,
        barring: Barring,
        wake: Callable[[], None],
        give_way: Callable[[], Awaitable[None]],
        *,
        has_playlists: bool,
        has_wall: bool,
        has_bell: bool,
        now_ms: Callable[[], int],
    ) -> None:
        self._follows, self._store, self._wake, self._now_ms = follows, store, wake, now_ms
        self._privacy, self._barring, self._give_way = privacy, barring, give_way
        self._has_playlists, self._has_wall, self._has_bell = has_playlists, has_wall, has_bell

    async def befriend(self, user: str, friend: str) -> bool:
        """Lets `user` follow `friend` from now on, and by default their playlists (SB-6); returns whether it is mutual now.

        It promises to tell `friend`, also when it is repeated: before a crash nobody may have been told.

        Raises `Refused` (bad-field, forbidden where one of them blocks the other, too-many-topics).
        """
        if user == friend:
            raise Refused("bad-field", "a user cannot be their own friend; name another user")
        # The graph first: the courier looks at it when it keeps the promise. After a crash between the two, the client has no
        # answer and asks again.
        await self._check_unblocked(user, friend)
        with self._barring.telling(both_ways(user, friend)):
            new = await self._follows.add(user, [user_topic(friend)])
            await self.promise([Share(user, friend), TellFollowed(friend, user)])
            await self._part_blocked(user, [friend])
        if new:
            await self.tell_wall(user, f"friend-{digest(user, friend)}", "friend", {"user": friend})
        return (await self.are_friends(user, [friend]))[0]

    async def unfriend(self, user: str, friend: str) -> None:
        """Lets `user` not follow `friend` any more, nor their playlists to come. Playlists that `user` follows already stay."""
        with self._barring.telling(both_ways(user, friend)):
            await self._follows.remove(user, [user_topic(friend)])
            await self.promise(self._ends(user, friend))

    async def part(self, user: str, other: str) -> None:
        """Lets neither of the two follow the other any more, nor their playlists. Who has to ask again is told by the caller."""
        await self._follows.remove(user, [user_topic(other)])
        await self._follows.remove(other, [user_topic(user)])
        await self.promise(self._ends(user, other) + self._ends(other, user))

    async def followed(self, user: str, after: str, limit: int) -> ListPage[str]:
        """Returns up to `limit` users whom `user` follows, from the cursor `after` on."""
        page = await self._follows.topics(user, after, limit)
        return ListPage([topic[1:].decode() for topic in page.items if kind_of(topic) is Kind.USER], page.next)

    async def subscribed(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """Returns up to `limit` friends of `user` who are subscribed to the feed of `user`, from the cursor `after` on (SB-34)."""
        return await self._follows.followers(user_topic(user), after, limit)

    async def followers(self, user: str, after: str, limit: int) -> ListPage[tuple[str, bool]]:
        """Returns up to `limit` users who follow `user`, from the cursor `after` on, and whether `user` follows each of them."""
        page = await self._follows.followers(user_topic(user), after, limit)
        back = await self._follows.followed(user, [user_topic(each) for each in page.items])
        return ListPage([(each, user_topic(each) in back) for each in page.items], page.next)

    async def are_friends(self, owner: str, users: Sequence[str]) -> list[bool]:
        """Returns whether each of `users` is subscribed to the feed of `owner`."""
        return await self._follows.follows(user_topic(owner), users)

    async def link(self, user: str, provider: str, book: Contacts | VouchedContacts) -> Linked:
        """Remembers whom `user` knows at `provider` by their `book`; returns what is remembered of them there.

        A service's book says who the user is there, too. What a user says of themselves is not believed: whoever claims another
        person's address would be found as this person, and would keep them out. Friendships follow in a moment (SB-4, SB-5). Raises
        `Refused` (too-large).
        """
        me = None if book.me is None else hashed(self._store.salt, provider, book.me)
        contacts = await self._hashed(provider, me, book.contacts)
        vouched_id = me if isinstance(book, VouchedContacts) else None
        await self._store.link(user, provider, contacts, Match(user, provider).task(), vouched_id)
        self._wake()
        return Linked(len(contacts), vouched_id is not None)

    async def _hashed(self, provider: str, me: bytes | None, contacts: Sequence[str]) -> list[bytes]:
        """Returns what `hashed_contacts` does, a few at a time."""
        hashes: dict[bytes, None] = {}
        for start in range(0, len(contacts), HASHED):
            hashes |= dict.fromkeys(hashed_contacts(self._store.salt, provider, me, contacts[start : start + HASHED]))
            await self._give_way()
        return list(hashes)

    async def unlink(self, user: str, provider: str) -> None:
        """Forgets who `user` is at `provider` and whom they know there. Friends stay friends."""
        await self._store.unlink(user, provider)

    async def links(self, user: str) -> dict[str, Linked]:
        """Returns provider -> what is remembered of `user` there."""
        return await self._store.links(user)

    async def tell_wall(self, user: str, post_id: str, kind: str, payload: dict[str, object]) -> bool:
        """Has a post put on the wall of `user`, if they want posts; returns whether they do (SB-34).

        The post has the id `post_id`, a `kind` and a `payload`.
        """
        wanted = self._has_wall and await self._store.posting(user)
        if wanted:
            post = Post(id=post_id, user=user, kind=kind, ts_ms=self._now_ms(), payload=payload)
            await self.promise([PutUp(user, post)])
        return wanted

    async def set_posting(self, user: str, wanted: bool) -> None:
        """Notes whether `user` wants wall posts."""
        await self._store.set_posting(user, wanted)

    async def posting(self, user: str) -> bool:
        """Returns whether `user` wants wall posts."""
        return await self._store.posting(user)

    async def match(self, user: str, provider: str) -> None:
        """Lets `user` follow all whom they know at `provider`, and be followed by all who know them there.

        Where a service vouches that two know each other, both follow each other. It promises to tell those who waited for `user`.
        """
        await self._follows.add_followers(joined_topic(user), [user])
        # A part at a time, settled last: after a crash the part is found again, and everything in it may be repeated.
        while any(found := await self._store.matches(user, provider, MATCHED)):
            others = dict.fromkeys([*(each.user for each in found.contacts), *(each.user for each in found.waiting)])
            blocked = await self._privacy.blocked_among(user, list(others)) | {user}
            known = {each.user: each.vouched for each in found.contacts if each.user not in blocked}
            waiting = {each.user: each.vouched for each in found.waiting if each.user not in blocked}
            followed = dict.fromkeys([*known, *(who for who, vouched in waiting.items() if vouched)])
            followers = dict.fromkeys([*waiting, *(who for who, vouched in known.items() if vouched)])
            await self._make_friends(user, list(followed), list(followers))
            await self.promise([TellJoined(who, user) for who in waiting])
            await self._store.settle(user, provider, found)

    async def _make_friends(self, user: str, followed: Sequence[str], followers: Sequence[str]) -> None:
        """Lets `user` follow all of `followed`, and be followed by all of `followers`."""
        pairs = [pair for other in dict.fromkeys([*followed, *followers]) for pair in both_ways(user, other)]
        with self._barring.telling(pairs):
            await self._follows.add_followers(user_topic(user), followers)
            for other in followed:
                await self._follows.add_followers(user_topic(other), [user])
            await self.promise([*(Share(user, other) for other in followed), *(Share(other, user) for other in followers)])
            await self._part_blocked(user, list(dict.fromkeys([*followed, *followers])))

    async def _part_blocked(self, user: str, others: Sequence[str]) -> None:
        """Ends what has just begun between `user` and those of `others` where one blocks the other by now.

        A block that comes later ends it by itself. Otherwise a follow would be back when the block is taken back.
        """
        for other in sorted(await self._privacy.blocked_among(user, others)):
            await self.part(user, other)

    async def _check_unblocked(self, user: str, other: str) -> None:
        # Whoever blocks whom: it must read the same for both.
        if await self._privacy.blocked_among(user, [other]):
            raise Refused("forbidden", f"you cannot follow {other} now; if you block them, unblock them first: segue unblock {other}")

    async def promise(self, promises: Sequence[Promise]) -> None:
        """Has `promises` kept, as soon as can be. What is for a neighbour that is not there is left out."""
        promises = [each for each in promises if self._is_there(each)]
        if promises:
            await self._store.promise([each.task() for each in promises])
            self._wake()

    def _is_there(self, promise: Promise) -> bool:
        match promise:
            case Share() | Prune():
                return self._has_playlists
            case TellFollowed():
                return self._has_bell
            case _:
                return True

    def _ends(self, user: str, owner: str) -> list[Promise]:
        return [Share(user, owner), Prune(owner, "", user)]
