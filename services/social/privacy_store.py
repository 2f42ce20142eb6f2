"""The port of what users set about others: who sees what of theirs, whom they block, and which of their devices are private."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from infra.kernel.access import Listening, Visibility
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

from ..follows import PAGE
from ..list_page import ListPage

MAX_BLOCKS: Final = 10_000
MAX_EDITORS: Final = 500
MAX_PRIVATE: Final = 100


class PlaylistKey(NamedTuple):
    """The name of a playlist: its owner, and its id."""

    owner: str
    id: str


class PlaylistPrivacy(NamedTuple):
    """The settings of a playlist. `visibility` is None where the owner has set none."""

    visibility: Visibility | None = None
    editors: frozenset[str] = frozenset()


class PrivacyStore(Protocol):
    """The store. All methods may raise Unavailable; repeating them is safe, and setting what is set changes nothing."""

    async def set_listening(self, user: str, wanted: Listening) -> None:
        """Notes who sees what `user` plays."""

    async def listening_of(self, users: Sequence[str]) -> dict[str, Listening]:
        """Returns user -> who sees what they play, for those of `users` who have said so."""

    async def block(self, user: str, other: str) -> None:
        """Notes that `user` blocks `other`. Raises Refused("too-large") when `user` would block more than `MAX_BLOCKS`."""

    async def unblock(self, user: str, other: str) -> None:
        """Notes that `user` blocks `other` no more."""

    async def blocks(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """Returns up to `limit` users whom `user` blocks, by name, from the cursor `after` on."""

    async def blocked_among(self, user: str, others: Sequence[str]) -> set[str]:
        """Returns those of `others` whom `user` blocks, or who block `user`."""

    async def set_visibility(self, playlist: PlaylistKey, wanted: Visibility) -> None:
        """Notes who sees `playlist`."""

    async def set_editor(self, playlist: PlaylistKey, editor: str, *, wanted: bool) -> None:
        """Puts `editor` on the list of editors, or takes them off. Raises Refused("too-large") beyond `MAX_EDITORS`."""

    async def playlists(self, playlists: Sequence[PlaylistKey]) -> dict[PlaylistKey, PlaylistPrivacy]:
        """Returns playlist -> what is set, for those of `playlists` of which anything is."""

    async def set_private(self, user: str, client: str, until_ms: int, now_ms: int) -> None:
        """Notes that `client` of `user` is private until `until_ms`; 0 ends it. It is `now_ms`: what is over is forgotten.

        Raises Refused("too-large") when more than `MAX_PRIVATE` clients of a user would be private.
        """

    async def private_clients(self, user: str, now_ms: int) -> dict[str, int]:
        """Returns client -> until when it is private, for the clients of `user` that are private at `now_ms`."""


def key_of(topic: Topic) -> PlaylistKey:
    """Returns the name of the playlist of `topic`."""
    owner, _, playlist_id = topic[1:].decode().partition("/")
    return PlaylistKey(owner, playlist_id)


def check_blocks(count: int) -> None:
    """Raises `Refused("too-large")` when a user would block `count` others, more than one may."""
    if count > MAX_BLOCKS:
        raise Refused("too-large", f"a user blocks at most {MAX_BLOCKS} others")


def check_editors(count: int) -> None:
    """Raises `Refused("too-large")` when a playlist would have `count` editors, more than it may."""
    if count > MAX_EDITORS:
        raise Refused("too-large", f"a playlist has at most {MAX_EDITORS} editors")


def check_private(count: int) -> None:
    """Raises `Refused("too-large")` when `count` clients of a user would be private, more than may be."""
    if count > MAX_PRIVATE:
        raise Refused("too-large", f"at most {MAX_PRIVATE} devices of a user are private at once; end the private session of another one")
