"""The SDK for all that services keep for a user, in one object: `api.social`, `api.playlists`,
`api.artists`, `api.settings`; and for services `api.notifier` and `api.operator`.

async with segue.Api(segue.ApiUrls(), token) as api:
    await api.social.follow("bob")
    async for playlist in api.playlists.owned_by("bob"):
        print(playlist.name)
"""

import ssl
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from segue.sdk.artists import ArtistClient
from segue.sdk.errors import Misuse
from segue.sdk.notifier import Notifier
from segue.sdk.operator import Operator
from segue.sdk.playlists import PlaylistClient
from segue.sdk.settings import SettingsClient
from segue.sdk.social import Social
from segue.sdk.token_source import Token
from segue.sdk.trust import CaFile, check_trust

Urls = str | Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiUrls:
    """The addresses of the services of each kind; without any, those of `segue up` on this machine.

    - `operator`: brokers.
    - `settings`: notification modules, which `notifier` asks, too.
    """

    artists: Urls = "http://127.0.0.1:7732"
    operator: Urls = "http://127.0.0.1:7710"
    playlists: Urls = "http://127.0.0.1:7730"
    settings: Urls = "http://127.0.0.1:7720"
    social: Urls = "http://127.0.0.1:7731"


class Api:
    """A client of all services, for one user, or for a service.

    - `urls`: the addresses of each kind, or the one of a proxy in front of all; of several, each is tried in turn.
    - `token`: their JWT, or a function (plain or async) that is called for one at every request.
    - `ca_file`: the authorities that are believed at https addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for https addresses, instead.

    All methods of its parts raise Refused when trying again cannot help, and ConnectionLost when no address answered.
    """

    def __init__(self, urls: ApiUrls | Urls, token: Token, *, ca_file: CaFile = None, tls: ssl.SSLContext | None = None) -> None:
        check_trust(ca_file, tls)
        each = urls if isinstance(urls, ApiUrls) else _all_at(urls)
        self._artists = ArtistClient(each.artists, token, ca_file=ca_file, tls=tls)
        self._notifier = Notifier(each.settings, token, ca_file=ca_file, tls=tls)
        self._operator = Operator(each.operator, token, ca_file=ca_file, tls=tls)
        self._playlists = PlaylistClient(each.playlists, token, ca_file=ca_file, tls=tls)
        self._settings = SettingsClient(each.settings, token, ca_file=ca_file, tls=tls)
        self._social = Social(each.social, token, ca_file=ca_file, tls=tls)
        self._open: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        if self._open is not None:
            raise Misuse("every Api is entered once; make a new one")
        async with AsyncExitStack() as stack:
            for part in (self._artists, self._notifier, self._operator, self._playlists, self._settings, self._social):
                await stack.enter_async_context(part)
            self._open = stack.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._open is not None
        await self._open.aclose()

    @property
    def artists(self) -> ArtistClient:
        """Artists whom the user follows."""
        self._check_open()
        return self._artists

    @property
    def notifier(self) -> Notifier:
        """Notifications to followers. It takes the token of the service whose topic it is."""
        self._check_open()
        return self._notifier

    @property
    def operator(self) -> Operator:
        """What operators do. It takes the token of one."""
        self._check_open()
        return self._operator

    @property
    def playlists(self) -> PlaylistClient:
        """Playlists: made, changed, listed, followed."""
        self._check_open()
        return self._playlists

    @property
    def settings(self) -> SettingsClient:
        """Which notifications the user wants, where pushes go, and why something came."""
        self._check_open()
        return self._settings

    @property
    def social(self) -> Social:
        """Whom the user follows and blocks, their address books, and who sees what of theirs."""
        self._check_open()
        return self._social

    def _check_open(self) -> None:
        if self._open is None:
            raise Misuse("not open; write `async with segue.Api(...) as api:`")


def _all_at(urls: Urls) -> ApiUrls:
    found = urls if isinstance(urls, str) else tuple(urls)
    return ApiUrls(artists=found, operator=found, playlists=found, settings=found, social=found)
