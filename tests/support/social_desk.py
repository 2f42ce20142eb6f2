"""What users say to a social service over HTTP: whom they follow and block, and who sees what."""

from typing import Any

import aiohttp

from .samples import user_token as sample_token


class SocialDesk:
    """The door of a social service at `address`. `token(user)` makes the token of a user."""

    def __init__(self, http: aiohttp.ClientSession, address: str, token: Any = sample_token) -> None:
        self._http, self._url, self._token = http, f"http://{address}/v1/social", token

    async def befriend(self, one: str, other: str) -> None:
        """Lets two follow each other."""
        await self.follow(one, other)
        await self.follow(other, one)

    async def follow(self, user: str, other: str) -> None:
        """Lets `user` follow `other`."""
        await self._say(user, "PUT", f"/friends/{other}")

    async def unfollow(self, user: str, other: str) -> None:
        """Ends that."""
        await self._say(user, "DELETE", f"/friends/{other}")

    async def block(self, user: str, other: str) -> None:
        """Lets `user` block `other`."""
        await self._say(user, "PUT", f"/blocks/{other}")

    async def unblock(self, user: str, other: str) -> None:
        """Ends that."""
        await self._say(user, "DELETE", f"/blocks/{other}")

    async def show(self, user: str, listening: str) -> None:
        """Sets who sees what `user` plays."""
        await self._say(user, "PUT", "/privacy", {"listening": listening})

    async def _say(self, user: str, method: str, path: str, body: Any = None) -> None:
        headers = {"Authorization": f"Bearer {self._token(user)}"}
        extra = {} if body is None else {"json": body}
        async with self._http.request(method, self._url + path, headers=headers, **extra) as answer:
            assert answer.status < 300, await answer.text()
