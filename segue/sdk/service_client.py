"""What the clients of services have in common: how they ask over HTTP, page after page, at one address after the other."""

import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import quote

import aiohttp
import msgspec

from infra.kernel.http_error import JSON
from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason
from segue.sdk.address import doors
from segue.sdk.broker_answer import read_as
from segue.sdk.errors import ConnectionLost
from segue.sdk.http_connections import HttpConnections
from segue.sdk.page_walk import PageWalk
from segue.sdk.token_source import Token, fresh
from segue.sdk.trust import CaFile

TIMEOUT: Final = aiohttp.ClientTimeout(total=30, connect=5)
OK: Final = (200, 201, 202, 204)
NDJSON: Final = "application/x-ndjson"


class AnsweredPage(msgspec.Struct):
    """A page of a list. `next` is the cursor of the page after it; None behind the last one."""

    next: str | None


T = TypeVar("T")
P = TypeVar("P", bound=AnsweredPage)


class ServiceClient(HttpConnections):
    """A client of the services of one kind at `urls`, which are tried in turn, for whoever shows the token.

    All methods raise Refused when trying again cannot help, and ConnectionLost when no address answered. Cancelling leaves open whether
    it was done.

    - `token`: their JWT, or a function (plain or async) that is called for one at every request.
    - `ca_file`: the authorities that are believed at https addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for https addresses, instead.
    """

    path: ClassVar[str] = "/v1"
    """The path under which all is that the service answers."""
    timeout: ClassVar[aiohttp.ClientTimeout] = TIMEOUT
    """How long connecting and an answer may take, where the constructor is not told."""

    def __init__(self, urls: str | Iterable[str], token: Token, *, ca_file: CaFile = None, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(self.timeout, ca_file, tls)
        self._urls = doors(urls, schemes=("http", "https"), path=self.path)
        self._token = token

    async def _pages(self, kind: type[P], path: str) -> AsyncIterator[P]:
        """Yields each page of the list at `path`, read as `kind`."""
        walk, after = PageWalk(path), ""
        while True:
            page = await self._ask(kind, "GET", path, after=after)
            yield page
            if page.next is None:
                return
            after = walk.behind(page.next)

    async def _ask(self, kind: type[T], method: str, path: str, body: Any = None, *, is_repeatable: bool = True, **query: str) -> T:
        """Returns the answer of the first address that gives one.

        - `kind`: what its body is read as.
        - `method`, `path`, `body`, `query`: the request. A body that is bytes is NDJSON already.
        - `is_repeatable`: doing it twice is doing it once. What is not is sent to the next address only if this one was not reached.
        """
        lost: ConnectionLost | None = None
        for base in self._urls:
            try:
                return await self._try(kind, method, f"{base}/{path}" if path else base, body, query)
            except ConnectionLost as error:
                lost = error
                if not is_repeatable and not isinstance(error.__cause__, aiohttp.ClientConnectorError):
                    break  # it may have been done
        assert lost is not None
        raise lost

    async def _try(self, kind: type[T], method: str, url: str, body: Any, query: dict[str, str]) -> T:
        headers = {"Authorization": f"Bearer {await fresh(self._token)}"}
        if body is not None:
            headers["Content-Type"] = NDJSON if isinstance(body, bytes) else JSON
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        try:
            async with self._http.request(method, url, headers=headers, data=data, params=query, allow_redirects=False) as response:
                said = await bounded_body(response) or b"null"
                return read_as(kind, url, response.status, said, response.headers.get("Retry-After"), accepts=OK)
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"{url} did not answer: {network_reason(error)}") from error


def path_part(name: str) -> str:
    """Returns `name` as one part of a path, whatever characters it has."""
    return quote(name, safe="")
