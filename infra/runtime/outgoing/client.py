"""The HTTP client for addresses that others have named: push endpoints, hooks, walls, catalogues, key sets."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

import aiohttp
from yarl import URL

from infra.kernel.errors import Unavailable
from infra.kernel.public_address import IPNetwork, parse_address

from ..ending import end_all
from ..network_reason import network_reason
from .options import OutgoingOptions
from .resolver import NotCallable, PublicResolver, is_callable

DNS_CACHE_S: Final = 300
MAX_ANSWER_BYTES: Final = 64 << 10
CHUNK_BYTES: Final = 64 << 10
# We ask for answers as they are, so that nothing small becomes large in our memory.
_PLAIN: Final = {"Accept-Encoding": "identity"}


class OutgoingAnswer(NamedTuple):
    """An answer.

    - `headers`: their names are found in any case.
    - `body`: its first bytes, as many as the client reads.
    - `is_whole`: whether `body` is all of it, and not encoded.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool


class OutgoingStream(NamedTuple):
    """An answer that is read in pieces. What `chunks` raises is Unavailable."""

    status: int
    chunks: AsyncIterator[bytes]


class OutgoingClient:
    """A client whose calls go where `options` let them, follow no redirect, keep no cookie, and end.

    - `timeout_s`: for one call, from the look-up of the name to the last byte of the answer.
    - `idle_s`: how long a stranger may say nothing meanwhile. None: as long as the call may take.
    - `max_answer_bytes`: how much of an answer is read.
    - `max_connections`: further calls wait in line; 0 for as many as there are.
    - `context`: what TLS is spoken with; None for the authorities that the system trusts.
    """

    def __init__(
        self,
        options: OutgoingOptions,
        *,
        timeout_s: float,
        idle_s: float | None = None,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_connections: int = 32,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._private: tuple[IPNetwork, ...] = options.networks()
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=idle_s, sock_read=idle_s)
        self._max_answer_bytes = max_answer_bytes
        self._max_connections = max_connections
        self._context = context
        self._resolver: PublicResolver | None = None
        self._session: aiohttp.ClientSession | None = None

    async def get(self, url: str | URL, headers: Mapping[str, str] | None = None) -> OutgoingAnswer:
        """Does as `post`, without a body."""
        async with self._opened("GET", url, b"", headers) as response:
            return await self._answer(response)

    async def post(self, url: str | URL, body: bytes, headers: Mapping[str, str] | None = None) -> OutgoingAnswer:
        """Returns the answer of `url`, whatever its status.

        Raises NotCallable for an address that may not be called, and Unavailable where no status came in time. Cancelling closes the
        connection.
        """
        async with self._opened("POST", url, body, headers) as response:
            return await self._answer(response)

    @asynccontextmanager
    async def stream(self, url: str | URL) -> AsyncIterator[OutgoingStream]:
        """Gives the answer of `url` to a GET, which is read in pieces. Raises as `post`. Leaving closes what was not read."""
        async with self._opened("GET", url, b"", None) as response:
            yield OutgoingStream(response.status, _chunks(response))

    async def close(self) -> None:
        """Closes all connections. May be called twice; a call after it opens new ones."""
        session, resolver = self._session, self._resolver
        self._session = self._resolver = None
        await end_all(session.close if session is not None else None, resolver.close if resolver is not None else None)

    @asynccontextmanager
    async def _opened(
        self, method: str, url: str | URL, body: bytes, headers: Mapping[str, str] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        target = URL(url)
        self._check(target.host or "")
        sent = _PLAIN | dict(headers or {})
        try:
            response = await self._open().request(method, target, data=body or None, headers=sent, allow_redirects=False)
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise Unavailable(network_reason(error)) from error
        async with response:
            yield response

    def _check(self, host: str) -> None:
        """Raises NotCallable for an address that stands in a URL: no resolver is asked for one."""
        if parse_address(host) is not None and not is_callable(host, self._private):
            raise NotCallable(host)

    async def _answer(self, response: aiohttp.ClientResponse) -> OutgoingAnswer:
        body, is_whole = await self._body(response)
        return OutgoingAnswer(
            response.status, response.reason or "", response.headers, body, is_whole and _encoding(response) == "identity"
        )

    async def _body(self, response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
        """Returns what may be read, and whether that was all. The status counts also where the rest is missing."""
        data = bytearray()
        try:
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > self._max_answer_bytes:
                    response.close()  # and not release: nobody wants to read the rest
                    return bytes(data[: self._max_answer_bytes]), False
        except (aiohttp.ClientError, OSError):
            response.close()
            return bytes(data), False
        return bytes(data), True

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:  # it belongs to the loop that runs, not to the one of the constructor
            self._resolver = PublicResolver(self._private)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._max_connections, resolver=self._resolver, ttl_dns_cache=DNS_CACHE_S, ssl=self._context or True
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=self._timeout,
            )
        return self._session


def _encoding(response: aiohttp.ClientResponse) -> str:
    return response.headers.get("Content-Encoding", "identity").strip().lower()


async def _chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    if (encoding := _encoding(response)) != "identity":
        raise Unavailable(f"it answers in the encoding {encoding!r:.40}, which nobody has asked for")
    try:
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            yield chunk
    except (aiohttp.ClientError, OSError) as error:
        raise Unavailable(network_reason(error)) from error
