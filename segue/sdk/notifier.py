"""The SDK for services that tell followers what must not be lost (docs/notifications.md). It talks to notification modules.

    async with segue.Notifier("http://127.0.0.1:7720", token) as notifier:
        await notifier.notify("hm://notifications/feed/bjork%new-album/", "album", {"album": "Post"}, ["ann", "bob"])

Every notification has an id before its first try, and a module knows an id again. So a request that was not answered is sent to the next
address, and nobody is told twice.
"""

import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Final

import aiohttp
import msgspec

from segue.sdk.service_client import ServiceClient

PAGE: Final = 1000


class StoredNotification(msgspec.Struct, frozen=True):
    """The answer to a notification.

    - `id`: its id, with which it may be repeated.
    - `accepted`: for how many followers it is stored.
    - `duplicate`: whether it had been taken before; then nobody is told again.
    """

    id: str
    accepted: int
    duplicate: bool


class Notifier(ServiceClient):
    """A client of the intakes of notification modules, for one service. Its arguments and errors are those of every ServiceClient."""

    path = "/v1/notifications"
    # A long audience takes its time.
    timeout = aiohttp.ClientTimeout(total=600, connect=5)

    async def notify(
        self, topic: str, kind: str, payload: Mapping[str, Any], followers: Iterable[str], *, id: str | None = None
    ) -> StoredNotification:
        """Has a notification stored for `followers`: who is online hears it now, who is not finds it later.

        - `topic`: of the artist, the user or the playlist that it is about, which must belong to the service.
        - `kind`, `payload`: what happened.
        - `followers`: user names, as many as there are. They are told once, however often they are named.
        - `id`: a repetition with the same id tells nobody twice. None: a new one.
        """
        header = {"id": id or secrets.token_hex(8), "topic": topic, "kind": kind, "payload": payload}
        names = list(dict.fromkeys(followers))
        pages = ({"followers": names[at : at + PAGE]} for at in range(0, len(names), PAGE))
        return await self._ask(StoredNotification, "POST", "", b"\n".join(map(msgspec.json.encode, (header, *pages))))
