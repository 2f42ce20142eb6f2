"""What social promises to others when it answers: tasks of its outbox, each with an id by which a repetition is known.

Tasks of one user and one kind are done in order; a playlist service that is away does not hold up notifications.
"""

from typing import ClassVar

import msgspec

from ..tasks import OutboxTask
from .core import digest
from .post import Post


class Promise(msgspec.Struct, frozen=True):
    """Base of all promises; `op` names the task. All other fields are names."""

    op: ClassVar[str]
    user: str

    @property
    def id(self) -> str:
        """The same whenever the same is promised."""
        return f"{self.op}-{digest(*msgspec.structs.astuple(self))}"

    def task(self) -> OutboxTask:
        """The task that keeps it."""
        return OutboxTask(self.id, f"{self.op}:{self.user}", self.op, msgspec.msgpack.encode(self))


class Match(Promise, frozen=True):
    """Find whom `user` knows, and who knows him, at `provider`, and make them friends (SB-4, SB-5)."""

    op = "match"
    provider: str


class Share(Promise, frozen=True):
    """Let `user` follow all playlists of `owner` if they are friends by then, and those to come no more if not (SB-6)."""

    op = "share"
    owner: str


class TellJoined(Promise, frozen=True):
    """Tell `user` that `newcomer`, whom he knows, has joined: one Social event, whatever the provider (SB-5)."""

    op = "joined"
    newcomer: str


class PutUp(Promise, frozen=True):
    """Put a post on the wall of `user`, if he wants posts by then (SB-34)."""

    op = "post"
    post: Post

    @property
    def id(self) -> str:
        """That of the post."""
        return self.post.id
