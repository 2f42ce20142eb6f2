"""What operators decide of users and tokens: who is kept out, and what is revoked."""

from typing import Any

from infra.kernel.errors import Refused
from infra.kernel.json_text import typed
from infra.kernel.revocations import LAST_MS, Ban, Revocation

from . import operator_answers as bodies
from .operator_request import OperatorRequest, only_one
from .revocation_keeper import RevocationKeeper


class OperatorBans:
    """The bans and revocations that `keeper` keeps. A revocation that says no end holds for `longest_token_s`."""

    def __init__(self, keeper: RevocationKeeper, longest_token_s: float) -> None:
        self._keeper, self._longest_token_s = keeper, longest_token_s

    async def ban(self, asked: OperatorRequest) -> bodies.BanMade:
        """Keeps a user out for some time. Returns until when. Raises `Refused` if that would be over already."""
        request = typed(asked.body, bodies.BanRequest)
        asked.on.extend(("user", request.user))
        only_one(seconds=request.seconds, until=request.until)
        now_ms = self._keeper.book.now_ms
        until_ms = _ms(request.until) if request.until is not None else now_ms + _ms(request.seconds or 0.0)
        if until_ms <= now_ms:
            raise Refused("bad-field", "this ban would be over already; `until` is Unix time in seconds")
        await self._keeper.add(Ban(request.user, self._next_ms(request.user), min(until_ms, LAST_MS), 0))
        return bodies.BanMade(_ban_row(self._keeper.book.known.ban_of(request.user)), self._kept)

    async def lift(self, asked: OperatorRequest) -> bodies.BanMade:
        """Lets a user in again."""
        request = typed(asked.body, bodies.LiftRequest)
        asked.on.extend(("user", request.user))
        before = self._keeper.book.known.ban_of(request.user)
        if before is not None and before.until_ms > self._keeper.book.now_ms:
            await self._keeper.add(Ban(request.user, self._next_ms(request.user), 0, before.until_ms))
        return bodies.BanMade(None, self._kept)

    def _next_ms(self, user: str) -> int:
        """Returns the time of a decision about `user`, which is later than the last one even where a clock was ahead."""
        before = self._keeper.book.known.ban_of(user)
        return max(self._keeper.book.now_ms, before.at_ms + 1 if before is not None else 0)

    async def bans(self, asked: OperatorRequest) -> bodies.BanList:
        """Returns a page of who is kept out."""
        now_ms = self._keeper.book.now_ms
        bans = {each.user: each for each in self._keeper.book.known.bans() if each.until_ms > now_ms}
        page, more = asked.page(bans)
        return bodies.BanList([row for each in page if (row := _ban_row(each)) is not None], more)

    async def revoke(self, asked: OperatorRequest) -> bodies.RevocationMade:
        """Makes tokens worthless that were issued up to now, or up to a time. Returns what was made.

        Raises `Refused` if it would be over already.
        """
        request = typed(asked.body, bodies.RevocationRequest)
        kind, name = only_one(user=request.user, service=request.service, token=request.jti)
        asked.on.extend((kind, name))
        now_s = self._keeper.book.now_ms / 1000
        before_s = now_s if request.issued_before is None else request.issued_before
        until_s = now_s + self._longest_token_s if request.until is None else request.until
        if until_s <= now_s:
            raise Refused("bad-field", "this revocation would be over already; `until` is Unix time in seconds")
        made = Revocation(kind, name, _ms(before_s), min(_ms(until_s), LAST_MS))  # type: ignore[arg-type]  # one of the three
        await self._keeper.add(made)
        return bodies.RevocationMade(_revocation_row(made), self._kept)

    async def revocations(self, asked: OperatorRequest) -> bodies.RevocationList:
        """Returns a page of what is revoked."""
        now_ms = self._keeper.book.now_ms
        known = {" ".join(each.key): each for each in self._keeper.book.known.revocations() if each.until_ms > now_ms}
        page, more = asked.page(known)
        return bodies.RevocationList([_revocation_row(each) for each in page], more)

    @property
    def _kept(self) -> Any:
        return "disk" if self._keeper.is_kept else "memory"


def _ms(time_s: float) -> int:
    return int(time_s * 1000)


def _revocation_row(entry: Revocation) -> bodies.RevocationRow:
    return bodies.RevocationRow(entry.kind, entry.name, entry.before_ms / 1000, entry.until_ms / 1000)


def _ban_row(entry: Ban | None) -> bodies.BanRow | None:
    return bodies.BanRow(entry.user, entry.at_ms / 1000, entry.until_ms / 1000) if entry is not None else None
