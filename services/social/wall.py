"""Wall posts: what a user who opted in lets appear outside of Segue (spec 1.2, SB-34)."""

import asyncio
import os
from pathlib import Path
from typing import Final, Protocol

import msgspec

from infra.kernel.errors import Refused, Unavailable
from infra.runtime.outgoing.client import OutgoingClient
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.outgoing.resolver import NotCallable
from infra.runtime.whole_file import append_whole

from .post import Post

TIMEOUT_S: Final = 10.0


class Wall(Protocol):
    """A place where posts go. It is called only for users who opted in, one post at a time."""

    async def post(self, post: Post) -> None:
        """Publishes it. Raises Unavailable when it should be tried again, `Refused` when it will never be taken."""

    async def close(self) -> None:
        """Closes connections. May be called twice."""


class FileWall:
    """A wall in a file: a JSON line for each post, on the disk when `post` returns. After a crash a line may be there twice."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def post(self, post: Post) -> None:
        """See `Wall`."""
        try:
            await asyncio.to_thread(self._append, msgspec.json.encode(post) + b"\n")
        except OSError as error:
            raise Unavailable(f"the wall {self._path} cannot be written: {error.strerror}") from error

    def _append(self, line: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            append_whole(file.fileno(), line)
            os.fsync(file.fileno())

    async def close(self) -> None:
        """See `Wall`."""


class WebhookWall:
    """A wall at a URL: a POST of JSON for each post. 2xx takes it; 4xx never will, save 408 and 429; all else is tried again."""

    def __init__(self, url: str, outgoing: OutgoingOptions) -> None:
        self._url = url
        self._client = OutgoingClient(outgoing, timeout_s=TIMEOUT_S)

    async def post(self, post: Post) -> None:
        """See `Wall`."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": post.id}
        try:
            status = (await self._client.post(self._url, msgspec.json.encode(post), headers)).status
        except (NotCallable, Unavailable) as error:  # the operator can list the address, and then posts are taken
            raise Unavailable(f"the wall {self._url} cannot be reached: {error}") from error
        if 400 <= status < 500 and status not in (408, 429):
            raise Refused("forbidden", f"the wall {self._url} refused a post with status {status}")
        if not 200 <= status < 300:
            raise Unavailable(f"the wall {self._url} answered {status}")

    async def close(self) -> None:
        """See `Wall`."""
        await self._client.close()


def wall_of(place: str, outgoing: OutgoingOptions) -> Wall:
    """Returns the wall at `place`: a URL, called as `outgoing` lets us, or a path."""
    return WebhookWall(place, outgoing) if place.startswith(("http://", "https://")) else FileWall(Path(place))
