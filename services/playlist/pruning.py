"""Pruning: whoever may not see a playlist any more follows it no more, so no notification about it is stored for them."""

from collections.abc import Sequence

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

from ..follows import FollowStore
from ..list_page import ListPage
from .core import playlist_topic
from .parameters import checked_name
from .viewers import Viewers


class PruneRequest(msgspec.Struct, frozen=True):
    """The body of `prune`, about playlists of the caller's user. One page is done, from `after` on.

    - `playlist`: this one; empty for all.
    - `user`: only they; empty for all who follow it. One of the two is given.
    """

    playlist: str = ""
    user: str = ""
    after: str = ""


class PrunedPage(msgspec.Struct, frozen=True):
    """The answer to `prune`: where the next page begins; None when there is none."""

    next: str | None


class Pruning:
    """The work on one page. All raises Unavailable when it cannot be done now; repeating is safe."""

    def __init__(self, follows: FollowStore, viewers: Viewers) -> None:
        self._follows, self._viewers = follows, viewers

    async def prune(self, owner: str, asked: PruneRequest) -> PrunedPage:
        """Does a page of what is `asked` about playlists of `owner`. Raises `Refused` (bad-field, bad-topic)."""
        if asked.user:
            return PrunedPage(await self._prune_user(owner, asked.playlist, checked_name(asked.user), asked.after))
        if not asked.playlist:
            raise Refused("bad-field", "name a playlist, a user, or both")
        topic = playlist_topic(owner, checked_name(asked.playlist))
        page = await self._follows.followers(topic, asked.after)
        viewers = await self._viewers.audience(topic, page.items)
        gone = [user for user, viewer in zip(page.items, viewers, strict=True) if not viewer.sees and user != owner]
        await self._follows.remove_followers(topic, gone)
        return PrunedPage(page.next)

    async def _prune_user(self, owner: str, playlist: str, user: str, after: str) -> str | None:
        page = await self._followed(owner, playlist, user, after)
        seen = await self._viewers.seen(user, page.items)
        await self._follows.remove(user, _unseen(page.items, seen))
        return page.next

    async def _followed(self, owner: str, playlist: str, user: str, after: str) -> ListPage[Topic]:
        """Returns a page of the playlists of `owner` that `user` may follow."""
        if playlist:
            return ListPage([playlist_topic(owner, checked_name(playlist))], None)
        # Topics come in the order of their compact forms, so those of one owner are side by side.
        start = playlist_topic(owner, "")
        page = await self._follows.topics(user, after or start.decode())
        topics = [topic for topic in page.items if topic.startswith(start)]
        return ListPage(topics, page.next if len(topics) == len(page.items) else None)


def _unseen(topics: Sequence[Topic], seen: Sequence[bool]) -> list[Topic]:
    return [topic for topic, sees in zip(topics, seen, strict=True) if not sees]
