"""Follows: who durably follows which topic (SB spec 5, path B). The port of its two stores, and the calls that change it.

Unlike interest in the engine a follow outlives the connection; the notification module learns audiences from here alone.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Final, Protocol

import msgspec

from infra.kernel.access import check_may_see
from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, Topic, kind_of, parse_topic

from .list_page import ListPage

MAX_TOPICS: Final = 10_000
MAX_PER_CALL: Final = 5_000
PAGE: Final = 1000


class FollowStore(Protocol):
    """The pairs of a user and a topic. Adding and removing are idempotent (SB-3).

    Every method raises Unavailable when the store cannot answer now; repeating is safe. Cancelling does not take back.
    """

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """Lets `user` follow `topics`; returns those that are new.

        Raises Refused("too-many-topics") and adds none when the user would follow more than the store's `max_topics`.
        """

    async def remove(self, user: str, topics: Sequence[Topic]) -> None:
        """Lets `user` follow none of `topics`."""

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """Lets each of `users` follow `topic`, whatever else they follow."""

    async def remove_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """Lets none of `users` follow `topic`."""

    async def followers(self, topic: Topic, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """Returns up to `limit` followers of `topic`, from the cursor `after` on, each on one page only."""

    async def topics(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[Topic]:
        """Returns up to `limit` topics that `user` follows, from the cursor `after` on, in the order of their compact forms."""

    async def follows(self, topic: Topic, users: Sequence[str]) -> list[bool]:
        """Returns whether each of `users` follows `topic`."""

    async def followed(self, user: str, topics: Sequence[Topic]) -> set[Topic]:
        """Returns those of `topics` that `user` follows."""

    async def count(self, topic: Topic) -> int:
        """Returns how many users follow `topic`."""


class Following(msgspec.Struct, frozen=True):
    """The body of the calls `follow` and `unfollow`: URIs. Other fields of the client's message are ignored."""

    topics: list[str]


_DECODER: Final = msgspec.json.Decoder(Following)


def read_topics(user: str, body: bytes, kinds: frozenset[Kind]) -> list[Topic]:
    """Returns the topics that the `body` of a follow or unfollow of `user` names; they must be of `kinds`.

    Raises Refused (bad-field, bad-topic, forbidden, too-many-topics).
    """
    try:
        uris = _DECODER.decode(body).topics
    except msgspec.DecodeError as wrong:
        raise Refused("bad-field", f'the body must be {{"topics":[..]}}: {wrong}') from None
    if len(uris) > MAX_PER_CALL:
        raise Refused("too-many-topics", f"{len(uris)} topics at once; at most {MAX_PER_CALL} are taken")
    topics = [parse_topic(uri) for uri in uris]
    for topic in topics:
        if kind_of(topic) not in kinds:
            raise Refused("bad-topic", f"a {kind_of(topic)} topic is not followed here, only {', '.join(sorted(kinds))}")
        check_may_see(user, topic)
    return topics


async def follower_pages(follows: FollowStore, topic: Topic, limit: int = PAGE) -> AsyncIterator[list[str]]:
    """Yields all followers of `topic` in pages of up to `limit`; no page is empty.

    A user who follows or unfollows meanwhile may be among them or not.
    """
    after: str | None = ""
    while after is not None:
        users, after = await follows.followers(topic, after, limit)
        if users:
            yield users
