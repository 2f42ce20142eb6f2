"""Promises of social to others: tasks of its outbox, each with an id by which a repetition is known. Pure.

Tasks of one user and one kind are done in order. So a playlist service that is away does not hold up notifications.
"""

from typing import ClassVar

import msgspec

from ..tasks import OutboxTask
from .core import digest
from .post import Post


class Promise(msgspec.Struct, frozen=True):
    """The base of all promises. `op` names the task; all other fields are names."""

    op: ClassVar[str]
    user: str

    @property
    def id(self) -> str:
        """The same id whenever the same is promised."""
        return f"{self.op}-{digest(*msgspec.structs.astuple(self))}"

    def task(self) -> OutboxTask:
        """Returns the task that keeps the promise."""
        return OutboxTask(self.id, f"{self.op}:{self.user}", self.op, msgspec.msgpack.encode(self))


class Match(Promise, frozen=True):
    """A promise to find whom `user` knows, and who knows them, at `provider`, and to make them friends (SB-4, SB-5)."""

    op = "match"
    provider: str


class Share(Promise, frozen=True):
    """A promise to let `user` follow all playlists of `owner` if they are friends by then, and those to come no more if not (SB-6)."""

    op = "share"
    owner: str


class Prune(Promise, frozen=True):
    """A promise to let nobody follow playlists of `user` who may not see them any more.

    - `playlist`: only this one; empty for all.
    - `asker`: only if they follow it; empty for all who do.
    """

    op = "prune"
    playlist: str
    asker: str


class TellJoined(Promise, frozen=True):
    """A promise to tell `user` that `newcomer`, whom they know, has joined: one Social event, whatever the provider (SB-5)."""

    op = "joined"
    newcomer: str


class TellFollowed(Promise, frozen=True):
    """A promise to tell `user` that `follower` follows them now, if they do by then. It is told once, however often they begin."""

    op = "followed"
    follower: str


class PutUp(Promise, frozen=True):
    """A promise to put a post on the wall of `user`, if they want posts by then (SB-34)."""

    op = "post"
    post: Post

    @property
    def id(self) -> str:
        """The id of the post."""
        return self.post.id
