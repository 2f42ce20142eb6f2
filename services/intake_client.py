"""Client of the notification intake: one notification to an audience of any size, streamed (SB spec 3.7, 7).

The audience is an async iterator of pages; a page is fetched when the intake has taken the one before, so memory does not
grow with the audience. The intake knows a repetition by the notification's id.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import aiohttp
import msgspec

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused, Unavailable
from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason

IDLE_S: Final = 60.0
CONNECT_S: Final = 5.0
# With these statuses this very notification will never be taken. All others are a matter of time or of configuration.
FINAL: Final = (400, 403, 409, 413, 415)

_ENCODER: Final = msgspec.json.Encoder()


class OutgoingNotification(msgspec.Struct, frozen=True):
    """A notification on its way to an intake. `producer` is the artist or user whose followers get it; `payload` is a JSON object."""

    id: str
    topic: str
    kind: str
    payload: msgspec.Raw
    producer: str


class Audience(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page of followers.

    - `friend`: they are friends of the producer.
    - `sent`: they have the news through the engine already.
    """

    followers: Sequence[str]
    friend: bool = False
    sent: bool = False


async def alone(user: str, *, friend: bool = False) -> AsyncIterator[Audience]:
    """Yields the audience of what concerns `user` and nobody else; `friend`: they follow the producer."""
    yield Audience([user], friend=friend)


class IntakeReceipt(msgspec.Struct, frozen=True):
    """The answer of an intake: for how many followers it has stored something, and whether it knew the id already."""

    accepted: int
    duplicate: bool = False


class _Error(msgspec.Struct):
    code: str = ""
    reason: str = ""


class IntakeClient:
    """A client of the intakes at `urls`. It moves on to the next one after each failure.

    - `token`: makes a fresh service token.
    - `context`: makes the context in which intakes are called over https; without it, those are believed that the machine trusts.
    - `idle_s`: an intake that takes nothing for so long has failed.
    """

    def __init__(
        self,
        urls: Sequence[str],
        token: Callable[[], str],
        *,
        context: Callable[[], ssl.SSLContext] | None = None,
        idle_s: float = IDLE_S,
    ) -> None:
        self.accepted = 0
        self._urls = [url.rstrip("/") + "/v1/notifications" for url in urls]
        self._token, self._context, self._idle_s = token, context, idle_s
        self._turn = 0
        self._http: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Closes the connections. May be called twice."""
        if self._http is not None:
            await self._http.close()

    async def notify(self, notification: OutgoingNotification, audience: AsyncIterator[Audience]) -> IntakeReceipt:
        """Has `notification` stored for all followers in `audience`.

        Raises Refused when it will never be taken, and Unavailable when it was not taken now: repeat it with the same id, and
        nothing is lost or doubled. What `audience` raises becomes Unavailable, too. Cancelling leaves open what was taken.
        """
        if not self._urls:
            raise Unavailable("no notification intake is configured")
        url = self._urls[self._turn % len(self._urls)]
        try:
            receipt = await self._post(url, notification, audience)
        except Unavailable:
            self._turn += 1
            raise
        self.accepted += receipt.accepted
        return receipt

    async def _post(self, url: str, notification: OutgoingNotification, audience: AsyncIterator[Audience]) -> IntakeReceipt:
        headers = {"Authorization": f"Bearer {self._token()}", "Content-Type": "application/x-ndjson"}
        try:
            async with asyncio.timeout(self._idle_s) as idle:
                lines = _lines(notification, audience, lambda: idle.reschedule(asyncio.get_running_loop().time() + self._idle_s))
                async with self._session().post(url, data=lines, headers=headers, allow_redirects=False) as answer:
                    return _read(url, answer.status, await bounded_body(answer))
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise Unavailable(f"{url} did not take it: {network_reason(error)}") from error

    def _session(self) -> aiohttp.ClientSession:
        if self._http is None:  # it belongs to the loop that runs, not to the one of the constructor
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
            needs_tls = self._context is not None and any(url.startswith("https:") for url in self._urls)
            connector = aiohttp.TCPConnector(limit=0, ssl=self._context() if self._context is not None and needs_tls else True)
            self._http = aiohttp.ClientSession(timeout=timeout, connector=connector)
        return self._http


async def _lines(notification: OutgoingNotification, audience: AsyncIterator[Audience], alive: Callable[[], None]) -> AsyncIterator[bytes]:
    yield _ENCODER.encode(notification) + b"\n"
    async for page in audience:
        alive()
        yield _ENCODER.encode(page) + b"\n"
    alive()


def _read(url: str, status: int, body: bytes) -> IntakeReceipt:
    """Returns what an answer accepts. Raises Refused or Unavailable for one that accepts nothing."""
    try:
        if status == 202:
            return msgspec.json.decode(body, type=IntakeReceipt)
        error = msgspec.json.decode(body, type=_Error)
    except msgspec.DecodeError:
        error = _Error(reason=f"{body[:200]!r}")
    reason = f"{url} answered {status} {error.code}: {error.reason}"
    if status in FINAL:
        raise Refused(error.code if error.code in BY_NAME else "bad-request", reason)
    raise Unavailable(reason)
