"""The HTTP connections of an object of the SDK, from its beginning to its end."""

import ssl
from types import TracebackType
from typing import Self

import aiohttp

from segue.sdk.connector import connector
from segue.sdk.errors import Misuse
from segue.sdk.trust import CaFile, check_trust


class HttpConnections:
    """The HTTP connections of an object that is entered once (`async with`), and has them until it ends."""

    def __init__(self, timeout: aiohttp.ClientTimeout, ca_file: CaFile, tls: ssl.SSLContext | None) -> None:
        """Opens nothing yet.

        - `timeout`: how long connecting and an answer may take.
        - `ca_file`, `tls`: see `connector`. Raises Misuse where both are given.
        """
        check_trust(ca_file, tls)
        self._timeout, self._ca_file, self._tls = timeout, ca_file, tls
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        if self._session is not None:
            raise Misuse(f"every {type(self).__name__} is entered once; make a new one")
        self._session = aiohttp.ClientSession(timeout=self._timeout, connector=connector(self._ca_file, self._tls))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. May be called twice."""
        if self._session is not None:
            await self._session.close()

    @property
    def _http(self) -> aiohttp.ClientSession:
        """The connections. Raises Misuse before the beginning and after the end."""
        if self._session is None or self._session.closed:
            name = type(self).__name__
            raise Misuse(f"not open; write `async with segue.{name}(...) as {name.lower()}:`")
        return self._session
