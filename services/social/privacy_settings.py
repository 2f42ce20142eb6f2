"""What users set about others. Each change is stored first, and then told to all who remember an answer that it makes untrue."""

from collections.abc import Callable

from infra.kernel.access import Listening, Visibility, private_until_ms
from infra.kernel.errors import Refused

from ..barring import EVERYBODY, BarredPair, Barring, both_ways
from .friends import Friends
from .privacy_store import PlaylistKey, PrivacyStore
from .promise import Prune


class PrivacySettings:
    """The settings of all users.

    - `friends`: the graph, from which blocking takes.
    - `barring`: tells who has to ask again.
    - `now_ms`: Unix time in milliseconds.

    All methods raise Unavailable when the store cannot answer now; repeating is safe.
    """

    def __init__(self, store: PrivacyStore, friends: Friends, barring: Barring, now_ms: Callable[[], int]) -> None:
        self._store, self._friends, self._barring, self._now_ms = store, friends, barring, now_ms

    async def set_listening(self, user: str, wanted: Listening) -> None:
        """Notes who sees what `user` plays."""
        with self._barring.telling([BarredPair(user, EVERYBODY)]):
            await self._store.set_listening(user, wanted)

    async def block(self, user: str, other: str) -> None:
        """Lets neither of the two see anything of the other, nor follow them. Raises `Refused` (bad-field, too-large)."""
        if user == other:
            raise Refused("bad-field", "users cannot block themselves; name another user")
        with self._barring.telling(both_ways(user, other)):
            # The block first: it forbids by itself. After a crash between the two, the client has no answer and asks again.
            await self._store.block(user, other)
            await self._friends.part(user, other)

    async def unblock(self, user: str, other: str) -> None:
        """Ends what `block` began. Who followed whom before does not come back."""
        with self._barring.telling(both_ways(user, other)):
            await self._store.unblock(user, other)

    async def set_visibility(self, playlist: PlaylistKey, wanted: Visibility) -> None:
        """Notes who sees `playlist`. Those who may not see it any more follow it no more, in a moment."""
        with self._barring.telling([BarredPair(playlist.owner, EVERYBODY)]):
            await self._store.set_visibility(playlist, wanted)
            await self._friends.promise([Prune(playlist.owner, playlist.id, "")])

    async def set_editor(self, playlist: PlaylistKey, editor: str, *, wanted: bool) -> None:
        """Puts `editor` on the list of editors of `playlist`, or takes them off. Raises `Refused` (bad-field, too-large)."""
        if editor == playlist.owner:
            raise Refused("bad-field", "the owner of a playlist always edits it; name another user")
        with self._barring.telling([BarredPair(playlist.owner, editor)]):
            await self._store.set_editor(playlist, editor, wanted=wanted)
            if not wanted:
                await self._friends.promise([Prune(playlist.owner, playlist.id, editor)])

    async def set_private(self, user: str, client: str, on: bool, hours: float | None) -> int:
        """Begins or ends a private session of `client`; returns until when it lasts, as Unix time in ms (0: there is none).

        It ends after `hours`, or when it is ended. Raises Refused("too-large").
        """
        now_ms = self._now_ms()
        until_ms = private_until_ms(now_ms, hours) if on else 0
        with self._barring.telling([BarredPair(user, user)]):
            await self._store.set_private(user, client, until_ms, now_ms)
        return until_ms

    async def private_clients(self, user: str) -> dict[str, int]:
        """Returns client -> until when it is private, for the clients of `user` that are private now."""
        return await self._store.private_clients(user, self._now_ms())
