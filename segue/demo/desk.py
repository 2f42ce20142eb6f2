"""The HTTP doors of the artist service and of the notification module, as their users and operators use them."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Self

import aiohttp

from infra.kernel.errors import SegueError
from segue.cluster.tokens import service_token, user_token

OPERATOR: Final = "operator"
POLL_S: Final = 0.02
JOB_S: Final = 60.0


class DeskError(SegueError):
    """A door that refused what the demo needs. The message says which, and what it answered."""


class Desk:
    """A client of both doors: `async with Desk(services, secret) as desk:`. `Cluster` has both arguments."""

    def __init__(self, services: Mapping[str, str], secret: bytes) -> None:
        self._artist, self._notification = services["artist"], services["notification"]
        self._user_token, self._service_token = partial(user_token, secret), partial(service_token, secret)
        self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=JOB_S))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def follow(self, user: str, artist_id: str) -> None:
        """Has `user` follow the artist from now on, connected or not. Raises DeskError."""
        await self._ask("PUT", f"{self._artist}/v1/artists/{artist_id}/follow", self._user_token(user))

    async def give_address(self, user: str, address: str) -> None:
        """Lets `user` be mailed at `address`. Raises DeskError."""
        await self._ask("PUT", f"{self._notification}/v1/me/preferences", self._user_token(user), {"email": address})

    async def take_pushes(self, user: str, subscription: dict[str, Any]) -> None:
        """Lets a phone of `user` take pushes by `subscription`. Raises DeskError."""
        await self._ask("POST", f"{self._notification}/v1/me/devices", self._user_token(user), subscription)

    async def look(self, user: str) -> None:
        """Has `user` look at their notifications. Raises DeskError."""
        await self._ask("GET", f"{self._notification}/v1/me/notifications", self._user_token(user))

    async def run_job(self) -> int:
        """Has the artist service look for new items in the catalogue. Returns how many it announced. Raises DeskError."""
        url, token = f"{self._artist}/v1/artists/run", self._service_token(OPERATOR)
        before = (await self._ask("GET", url, token))["last"]  # None before the first run of this process
        await self._ask("POST", url, token)
        while not _is_over(state := await self._ask("GET", url, token), before):  # noqa: ASYNC110 - it is another process's event
            await asyncio.sleep(POLL_S)
        return int(state["last"]["announced"])

    async def _ask(self, method: str, url: str, token: str, document: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        try:
            async with self._http.request(method, url, json=document, headers=headers) as answer:
                if answer.status >= 400:
                    raise DeskError(f"{method} {url} answered {answer.status}: {(await answer.text())[:200]}")
                return await answer.json() if answer.content_type == "application/json" else None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise DeskError(f"{method} {url} has no answer: {error}; is this machine very busy?") from error


def _is_over(state: dict[str, Any], before: dict[str, Any] | None) -> bool:
    """Returns whether a run that is not the one of `before` has ended. Raises DeskError when it has broken off."""
    last = state["last"]
    if state["running"] or last is None or (before is not None and last["run"] == before["run"]):
        return False
    if not last["finished"]:
        raise DeskError("the artist service's job broke off; what stopped it is in the log above")
    return True
