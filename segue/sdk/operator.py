"""The SDK for operators: who is here, who is sent away, who is kept out, and what everybody is told.

    async with segue.Operator("http://127.0.0.1:7710", token) as operator:
        await operator.revoke(user="ann")

Any broker of any site does it for all sites; the ring of a site is changed by a broker of that site.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import aiohttp

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
from segue.sdk.service_client import ServiceClient


class Operator(ServiceClient):
    """An operator's way to the brokers. Its arguments and errors are those of every ServiceClient.

    - `token`: of a service that is an operator.

    Where no broker answered, what was asked may have been done; all of it but `announce` may be repeated. Lists raise ProtocolError where
    a broker's pages do not end.
    """

    # A broker takes two seconds where an access point does not answer.
    timeout = aiohttp.ClientTimeout(total=10.0)

    # Sessions.

    async def sessions(self, user: str) -> UserSessions:
        """Returns the sessions of `user` at all sites."""
        return await self._ask(UserSessions, "GET", "sessions", user=user)

    async def disconnect(self, *, user: str | None = None, session: str | None = None, may_return: bool = True) -> OrderOutcome:
        """Ends all sessions of `user`, or the one whose id is `session`.

        Without `may_return` clients do not come back by themselves; those that ignore it, and people who start them again, do. To keep
        somebody out: `ban`.
        """
        body = _given(user=user, session=session) | {"may_return": may_return}
        return await self._ask(OrderOutcome, "POST", "sessions/disconnect", body)

    async def unsubscribe(self, user: str, topic: str) -> OrderOutcome:
        """Ends what `user` follows of `topic`, on every session. Clients are told; they may follow it again if the policy allows it."""
        return await self._ask(OrderOutcome, "POST", "sessions/unsubscribe", {"user": user, "topic": topic})

    async def announce(self, text: str, data: dict[str, Any] | None = None, sites: Iterable[str] = ()) -> OrderOutcome:
        """Tells `text`, and `data` for the application, to every session of all sites, or of `sites`."""
        body = {"text": text, "data": data or {}, "sites": list(sites)}
        return await self._ask(OrderOutcome, "POST", "announcements", body, is_repeatable=False)

    # Bans and revocations.

    async def ban(self, user: str, *, seconds: float | None = None, until: float | None = None) -> MadeBan:
        """Keeps `user` out for so many `seconds`, or until the Unix time `until`. Their sessions end."""
        return await self._ask(MadeBan, "POST", "bans", {"user": user} | _given(seconds=seconds, until=until))

    async def unban(self, user: str) -> MadeBan:
        """Lets `user` in again."""
        return await self._ask(MadeBan, "POST", "bans/lift", {"user": user})

    async def bans(self) -> AsyncIterator[StandingBan]:
        """Yields all bans that hold, by user."""
        walk, after = PageWalk("bans"), ""
        while True:
            page = await self._ask(BanPage, "GET", "bans", after=after)
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
        return await self._ask(MadeRevocation, "POST", "revocations", body)

    async def revocations(self) -> AsyncIterator[StandingRevocation]:
        """Yields all revocations that hold, by kind and name."""
        walk, after = PageWalk("revocations"), ""
        while True:
            page = await self._ask(RevocationPage, "GET", "revocations", after=after)
            for revocation in page.revocations:
                yield revocation
            if not page.more:
                return
            last = page.revocations[-1] if page.revocations else None
            after = walk.behind(f"{last.kind} {last.name}" if last else after)

    # The ring.

    async def ring(self) -> StandingRing:
        """Returns the ring of the site of the broker that answers."""
        return await self._ask(StandingRing, "GET", "ring")

    async def change_ring(self, site: str, goal: Mapping[str, int], before: Mapping[str, int]) -> StandingRing:
        """Has the ring of `site`, of which the broker must be, go in steps where slots have the shares of `goal`, from 0 to 256.

        - `before`: the goal of each slot when this was decided. Raises Refused (`conflict`) if it is another one by now.
        """
        return await self._ask(StandingRing, "POST", "ring", {"site": site, "goal": dict(goal), "before": dict(before)})

    async def stop_ring(self, site: str) -> StandingRing:
        """Has the ring of `site`, of which the broker must be, stay where it is."""
        return await self._ask(StandingRing, "POST", "ring/stop", {"site": site})


def _given(**fields: object) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
