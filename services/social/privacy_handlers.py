"""The HTTP handlers of what users set about others, as docs/openapi-social.json describes them."""

import msgspec

from infra.kernel.access import FOREVER_MS, Listening, Visibility
from infra.runtime.http.web import Answer, Request, Route

from ..parameters import checked, page_of
from .answers import BlockedUsers, PlaylistAccess, PrivateClient, ShownPrivacy
from .core import ClientName, Hours, Name
from .privacy import Privacy
from .privacy_settings import PrivacySettings
from .privacy_store import PlaylistKey, PrivacyStore


class PrivacyWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wish of the caller: who sees what they play."""

    listening: Listening


class VisibilityWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wish of the caller: who sees a playlist of theirs."""

    visibility: Visibility


class PrivateHours(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The time for which a device is private. Without `hours` it is until it is said otherwise."""

    hours: Hours | None = None


class PrivacyHandlers:
    """The handlers of requests. Everything is about the caller, and what is theirs."""

    def __init__(self, store: PrivacyStore, privacy: Privacy, settings: PrivacySettings) -> None:
        self._store, self._privacy, self._settings = store, privacy, settings

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        playlist, device, editor = "/v1/social/playlists/{playlist}", "/v1/social/private/{client}", "/editors/{user}"
        return [
            Route("GET", "/v1/social/privacy", "user", self._show),
            Route("PUT", "/v1/social/privacy", "user", self._set),
            Route("PUT", device, "user", self._begin_private),
            Route("DELETE", device, "user", self._end_private),
            Route("GET", "/v1/social/blocks", "user", self._blocks),
            Route("PUT", "/v1/social/blocks/{user}", "user", self._block),
            Route("DELETE", "/v1/social/blocks/{user}", "user", self._unblock),
            Route("GET", playlist, "user", self._show_playlist),
            Route("PUT", playlist, "user", self._set_playlist),
            Route("PUT", playlist + editor, "user", self._add_editor),
            Route("DELETE", playlist + editor, "user", self._remove_editor),
        ]

    async def _show(self, request: Request) -> Answer:
        return Answer(200, await self._shown(request.user))

    async def _set(self, request: Request) -> Answer:
        await self._settings.set_listening(request.user, (await request.body(PrivacyWish)).listening)
        return Answer(200, await self._shown(request.user))

    async def _shown(self, user: str) -> ShownPrivacy:
        clients = await self._settings.private_clients(user)
        private = [_shown_client(client, until_ms) for client, until_ms in clients.items()]
        return ShownPrivacy(await self._privacy.listening(user), private)

    async def _begin_private(self, request: Request) -> Answer:
        client = checked(request.path["client"], ClientName, "client")
        wish = await request.body(PrivateHours)
        until_ms = await self._settings.set_private(request.user, client, True, wish.hours)
        return Answer(200, _shown_client(client, until_ms))

    async def _end_private(self, request: Request) -> Answer:
        await self._settings.set_private(request.user, checked(request.path["client"], ClientName, "client"), False, None)
        return Answer(204)

    async def _blocks(self, request: Request) -> Answer:
        page = await self._store.blocks(request.user, *page_of(request.query))
        return Answer(200, BlockedUsers(page.items, page.next))

    async def _block(self, request: Request) -> Answer:
        await self._settings.block(request.user, _user(request))
        return Answer(204)

    async def _unblock(self, request: Request) -> Answer:
        await self._settings.unblock(request.user, _user(request))
        return Answer(204)

    async def _show_playlist(self, request: Request) -> Answer:
        return Answer(200, await self._access(_playlist(request)))

    async def _set_playlist(self, request: Request) -> Answer:
        playlist = _playlist(request)
        await self._settings.set_visibility(playlist, (await request.body(VisibilityWish)).visibility)
        return Answer(200, await self._access(playlist))

    async def _add_editor(self, request: Request) -> Answer:
        return await self._edit_editors(request, wanted=True)

    async def _remove_editor(self, request: Request) -> Answer:
        return await self._edit_editors(request, wanted=False)

    async def _edit_editors(self, request: Request, *, wanted: bool) -> Answer:
        playlist = _playlist(request)
        await self._settings.set_editor(playlist, _user(request), wanted=wanted)
        return Answer(200, await self._access(playlist))

    async def _access(self, playlist: PlaylistKey) -> PlaylistAccess:
        found = await self._privacy.playlist(playlist)
        return PlaylistAccess(playlist.id, found.visibility or Visibility.PRIVATE, sorted(found.editors))


def _user(request: Request) -> str:
    return checked(request.path["user"], Name, "user")


def _playlist(request: Request) -> PlaylistKey:
    return PlaylistKey(request.user, checked(request.path["playlist"], Name, "playlist"))


def _shown_client(client: str, until_ms: int) -> PrivateClient:
    return PrivateClient(client, None if until_ms == FOREVER_MS else until_ms)
