"""A user's inbox on this device: loaded page by page, kept as it is on all devices, and what the user does with single notifications."""

import asyncio
import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self

from segue.sdk.client import Client
from segue.sdk.errors import ConnectionLost, ProtocolError, Refused, Stalled
from segue.sdk.inbox_view import InboxView
from segue.sdk.notification_messages import Action, Marks, Notification, ReadElsewhere

PAGE: Final = 50
MAX_PAGE: Final = 500
AGAIN_S: Final = 2.0
_LOG: Final = logging.getLogger("segue.sdk.client")


class NotificationInbox:
    """The inbox of a client's user: `async with segue.NotificationInbox(client) as inbox:` loads the newest page.

    `items` and `select` are right at any moment: what comes live, what is done here, and what is done on other devices. After a
    reconnect, and where news of a change was lost, it is loaded again. `changed` waits for the next of these.

    - `client`: is connected.
    - `page`: how many notifications one page has.
    """

    def __init__(self, client: Client, *, page: int = PAGE) -> None:
        self._client, self._page = client, page
        self._view = InboxView()
        self._stale, self._changed = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Loads the newest page. Raises ConnectionLost, Refused and Stalled."""
        self._client.feed.ears.append(self)
        try:
            await self._load(archived=False, anew=True, limit=self._page)
        except BaseException:
            self._client.feed.ears.remove(self)
            raise
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.feed.ears.remove(self)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def items(self) -> tuple[Notification, ...]:
        """All that is loaded, newest first: `read` and `archived` say how it is now."""
        return self._view.items

    def select(
        self, *, archived: bool | None = False, class_: str | None = None, unread: bool = False, text: str = ""
    ) -> tuple[Notification, ...]:
        """Returns what is loaded and fits, newest first.

        - `archived`: what is archived, or what is not; None: both.
        - `class_`: of this class only.
        - `unread`: only what is not read.
        - `text`: all words of it stand in what the notification says, in any case.
        """
        return self._view.select(archived=archived, class_=class_, unread=unread, text=text)

    def has_more(self, *, archived: bool = False) -> bool:
        """Returns whether there may be older ones: archived ones, or others."""
        return self._view.next.get(archived, 0) is not None

    async def more(self, *, archived: bool = False) -> None:
        """Loads the next page: of what is archived, or of the rest. Raises ConnectionLost, Refused and Stalled."""
        if self.has_more(archived=archived):
            await self._load(archived=archived, anew=False, limit=self._page)

    async def changed(self) -> None:
        """Waits until something of what is loaded has changed. Cancelling stops the waiting only."""
        await self._changed.wait()
        self._changed.clear()

    async def mark_read(self, *marks: int) -> Marks:
        """Marks these as read. Returns the marks, with what was rejected. Raises ConnectionLost, Refused and Stalled.

        The same goes for all that follow. At most 100 at once.
        """
        return await self._do("read", marks)

    async def mark_unread(self, *marks: int) -> Marks:
        """Marks these as unread, although the read mark is beyond them."""
        return await self._do("unread", marks)

    async def archive(self, *marks: int) -> Marks:
        """Archives these. They count as unread no more."""
        return await self._do("archive", marks)

    async def unarchive(self, *marks: int) -> Marks:
        """Takes these out of the archive."""
        return await self._do("unarchive", marks)

    async def delete(self, *marks: int) -> Marks:
        """Deletes these, for good and on all devices."""
        return await self._do("delete", marks)

    def came(self, items: Iterable[Notification], epoch: int | None) -> None:
        """Takes notifications that came live, or were pulled."""
        self._view.came(items, epoch)
        self._tell()

    def heard(self, news: ReadElsewhere) -> None:
        """Takes what the server says of the marks and of changes."""
        self._view.heard(news)
        self._tell()

    def connected(self) -> None:
        """Takes note that the client is connected again: what was told meanwhile is missing."""
        self._view.is_stale = True
        self._tell()

    async def _do(self, action: Action, marks: Iterable[int]) -> Marks:
        wanted = list(marks)
        answer = await self._client.change_notifications(action, wanted)
        rejected = {each.mark for each in answer.rejected}
        self._view.done(action, [mark for mark in wanted if mark not in rejected], answer.changed)
        self._tell()
        return answer

    async def _load(self, *, archived: bool, anew: bool, limit: int) -> None:
        before = None if anew else self._view.next.get(archived)
        page = await self._client.list_notifications(archived=archived, before=before, limit=limit, epoch=self._view.epoch)
        self._view.loaded(page, archived=archived, anew=anew)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        if self._view.is_stale:
            self._stale.set()

    async def _keep(self) -> None:
        while True:
            await self._stale.wait()
            self._stale.clear()
            try:
                await self._reload()
            except ConnectionLost:
                continue  # `connected` wakes us
            except (Refused, Stalled, ProtocolError) as error:
                _LOG.info("the inbox: %s; asked again in %.1f s", error, AGAIN_S)
                await asyncio.sleep(AGAIN_S)
                self._stale.set()

    async def _reload(self) -> None:
        """Loads as much as there was before."""
        with_archive = True in self._view.next
        limit = min(MAX_PAGE, max(self._page, len(self._view.items)))
        await self._load(archived=False, anew=True, limit=limit)
        if with_archive:
            await self._load(archived=True, anew=False, limit=limit)
