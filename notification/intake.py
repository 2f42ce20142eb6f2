"""Intake: what services want their followers to know becomes rows in the log, one for each follower (design 7, SB-37).

Accepted means stored. A request that was cut off or refused as unavailable is repeated with the same id. Then a follower who
has a row already gets no second item, because the worker knows what it decided; a follower who has none gets one. Any node
takes any notice; its rows are stored by the nodes that own the followers.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, kind_of

from .module_context import ModuleContext
from .notice import Header, Notice, NoticeRequest, Page, check, check_names
from .ownership.routes import Routes
from .shards import BULK_FROM
from .store import AGAIN, FRIEND, SENT
from .turns import Turns

# Requests that are being stored, or wait for one with the same id; more are refused as unavailable, and come back.
MAX_OPEN: Final = 512


class Receipt(msgspec.Struct, frozen=True):
    """The answer to a service. `accepted`: how many followers have a row; `duplicate`: the id was known."""

    id: str
    accepted: int
    duplicate: bool


class Intake:
    """The way in of notices; `accepted`, `rows` and `duplicates` count what came."""

    def __init__(self, module: ModuleContext, routes: Routes) -> None:
        self.accepted = self.rows = self.duplicates = 0
        self._module, self._store, self._routes = module, module.store, routes
        self._turns = Turns(MAX_OPEN)

    async def take(self, request: NoticeRequest, service: str) -> Receipt:
        """Takes one notice of `service` with its audience. Raises `Refused` and `Unavailable`."""
        pages = request.audience()
        if not pages:
            raise Refused("bad-field", "there is nobody to tell: name followers, or pages of them")
        for page in pages:
            check_names(page.followers)
        return await self.stream(request, _each(pages), service)

    async def stream(self, header: Header, pages: AsyncIterator[Page], service: str) -> Receipt:
        """Takes one notice of `service`: its `header`, then its audience page by page. The pages name nobody twice.

        Raises `Refused` and `Unavailable`.
        """
        notice = check(header, service, self._module.now_ms())
        async with self._turns.take(notice.id):  # the same notice twice at once: the second waits, and finds it done
            taken = await self._store.begin(notice)
            if taken.notice.digest != notice.digest:
                raise Refused("conflict", f"id {notice.id} was used for something else; give what is new a new id")
            if taken.followers is not None:
                self.duplicates += 1
                return Receipt(notice.id, taken.followers, duplicate=True)
            followers = await self._fan_out(notice, pages, 0 if taken.is_new else AGAIN)
            await self._store.complete(notice.id, followers)
        self.accepted += 1
        capture = self._module.context.capture
        if capture is not None and kind_of(notice.compact) is not Kind.PLAYLIST:  # those are published through a broker, too
            capture.publication(notice.compact, notice.kind)
        return Receipt(notice.id, followers, duplicate=not taken.is_new)

    async def _fan_out(self, notice: Notice, pages: AsyncIterator[Page], flags: int) -> int:
        """Stores a page after the other, so the pace of the store is that of the sender. Returns how many followers there are."""
        followers = 0
        async for page in pages:
            check_names(page.followers)
            users = list(dict.fromkeys(page.followers))
            if users:
                mine = flags | FRIEND * page.friend | SENT * page.sent
                await self._routes.append(users, notice.id, mine, followers + len(users) > BULK_FROM)
            followers += len(users)
            self.rows += len(users)
        return followers


async def _each(pages: Iterable[Page]) -> AsyncIterator[Page]:
    for page in pages:
        yield page
