"""The SDK for operators: who is here, who is sent away, who is kept out, and what everybody is told.

    async with segue.Operator("http://127.0.0.1:7710", token) as operator:
        await operator.revoke(user="ann")

Any broker of any site does it for all sites; the ring of a site is changed by a broker of that site.
"""

import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import aiohttp
import msgspec

from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason
from segue.sdk.address import doors
from segue.sdk.broker_answer import read_as
from segue.sdk.errors import ConnectionLost
from segue.sdk.http_connections import HttpConnections
from segue.sdk.operator_answers import (
    BanPage,
    MadeBan,
    MadeRevocation,
    OrderOutcome,
    RevocationPage,
    StandingBan,
    StandingRevocation,
    StandingRing,
    UserSessions,
)
from segue.sdk.page_walk import PageWalk
from segue.sdk.token_source import Token, fresh
from segue.sdk.trust import CaFile

TIMEOUT_S: Final = 10.0
A = TypeVar("A")


class Operator(HttpConnections):
    """An operator's way to the brokers.

    - `urls`: one broker or several, which are tried in turn.
    - `token`: the JWT of a service that is an operator, or a function (plain or async) that is called for one at every request.
    - `timeout_s`: how long a broker may take for an answer. It takes two seconds where an access point does not answer.
    - `ca_file`: the authorities that are believed at https addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for https addresses, instead.

    All methods raise Refused, and ConnectionLost when no broker answers. What was asked may have been done then; all of it but
    `announce` may be repeated. Lists raise ProtocolError where a broker's pages do not end.
    """

    def __init__(
        self,
        urls: str | Iterable[str],
        token: Token,
        *,
        timeout_s: float = TIMEOUT_S,
        ca_file: CaFile = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(aiohttp.ClientTimeout(total=timeout_s), ca_file, tls)
        self._urls = tuple(url.rstrip("/") for url in doors(urls, schemes=("http", "https"), path=""))
        self._token = token

    # Sessions.

    async def sessions(self, user: str) -> UserSessions:
        """Returns the sessions of `user` at all sites."""
        return await self._ask(UserSessions, "GET", "/v1/sessions", query={"user": user})

    async def disconnect(self, *, user: str | None = None, session: str | None = None, may_return: bool = True) -> OrderOutcome:
        """Ends all sessions of `user`, or the one whose id is `session`.

        Without `may_return` clients do not come back by themselves; those that ignore it, and people who start them again, do. To keep
        somebody out: `ban`.
        """
        body = _given(user=user, session=session) | {"may_return": may_return}
        return await self._ask(OrderOutcome, "POST", "/v1/sessions/disconnect", body)

    async def unsubscribe(self, user: str, topic: str) -> OrderOutcome:
        """Ends what `user` follows of `topic`, on every session. Clients are told; they may follow it again if the policy allows it."""
        return await self._ask(OrderOutcome, "POST", "/v1/sessions/unsubscribe", {"user": user, "topic": topic})

    async def announce(self, text: str, data: dict[str, Any] | None = None, sites: Iterable[str] = ()) -> OrderOutcome:
        """Tells `text`, and `data` for the application, to every session of all sites, or of `sites`."""
        body = {"text": text, "data": data or {}, "sites": list(sites)}
        return await self._ask(OrderOutcome, "POST", "/v1/announcements", body, is_repeatable=False)

    # Bans and revocations.

    async def ban(self, user: str, *, seconds: float | None = None, until: float | None = None) -> MadeBan:
        """Keeps `user` out for so many `seconds`, or until the Unix time `until`. Their sessions end."""
        return await self._ask(MadeBan, "POST", "/v1/bans", {"user": user} | _given(seconds=seconds, until=until))

    async def unban(self, user: str) -> MadeBan:
        """Lets `user` in again."""
        return await self._ask(MadeBan, "POST", "/v1/bans/lift", {"user": user})

    async def bans(self) -> AsyncIterator[StandingBan]:
        """Yields all bans that hold, by user."""
        walk, after = PageWalk("bans"), ""
        while True:
            page = await self._ask(BanPage, "GET", "/v1/bans", query={"after": after})
            for ban in page.bans:
                yield ban
            if not page.more:
                return
            after = walk.behind(page.bans[-1].user if page.bans else after)

    async def revoke(
        self,
        *,
        user: str | None = None,
        service: str | None = None,
        jti: str | None = None,
        issued_before: float | None = None,
        until: float | None = None,
    ) -> MadeRevocation:
        """Has tokens taken no more: those of `user`, those of `service`, or the one whose id is `jti`.

        - `issued_before`: the tokens that were issued before this Unix time; without it, before now.
        - `until`: when the last of them has expired; without it, after the longest life of a token.
        """
        body = _given(user=user, service=service, jti=jti, issued_before=issued_before, until=until)
        return await self._ask(MadeRevocation, "POST", "/v1/revocations", body)

    async def revocations(self) -> AsyncIterator[StandingRevocation]:
        """Yields all revocations that hold, by kind and name."""
        walk, after = PageWalk("revocations"), ""
        while True:
            page = await self._ask(RevocationPage, "GET", "/v1/revocations", query={"after": after})
            for revocation in page.revocations:
                yield revocation
            if not page.more:
                return
            last = page.revocations[-1] if page.revocations else None
            after = walk.behind(f"{last.kind} {last.name}" if last else after)

    # The ring.

    async def ring(self) -> StandingRing:
        """Returns the ring of the site of the broker that answers."""
        return await self._ask(StandingRing, "GET", "/v1/ring")

    async def change_ring(self, site: str, goal: Mapping[str, int], before: Mapping[str, int]) -> StandingRing:
        """Has the ring of `site`, of which the broker must be, go in steps where slots have the shares of `goal`, from 0 to 256.

        - `before`: the goal of each slot when this was decided. Raises Refused (`conflict`) if it is another one by now.
        """
        return await self._ask(StandingRing, "POST", "/v1/ring", {"site": site, "goal": dict(goal), "before": dict(before)})

    async def stop_ring(self, site: str) -> StandingRing:
        """Has the ring of `site`, of which the broker must be, stay where it is."""
        return await self._ask(StandingRing, "POST", "/v1/ring/stop", {"site": site})

    # Requests.

    async def _ask(
        self,
        kind: type[A],
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        query: dict[str, str] | None = None,
        is_repeatable: bool = True,
    ) -> A:
        """Returns the answer of the first broker that gives one."""
        target = f"{path}?{urlencode(query)}" if query else path
        headers = {"Authorization": f"Bearer {await fresh(self._token)}", "Content-Type": "application/json"}
        data = msgspec.json.encode(body) if body is not None else None
        troubles: list[str] = []
        for url in self._urls:
            try:
                async with self._http.request(method, f"{url}{target}", data=data, headers=headers, allow_redirects=False) as response:
                    retry_after = response.headers.get("Retry-After")
                    return read_as(kind, url, response.status, await bounded_body(response), retry_after, accepts=(200,))
            except (aiohttp.ClientError, OSError) as error:
                troubles.append(f"{url}: {network_reason(error)}")
                if not is_repeatable and not isinstance(error, aiohttp.ClientConnectorError):
                    break  # it may have been done
        raise ConnectionLost(f"no answer from {'; '.join(troubles)}")


def _given(**fields: object) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
