"""The feed of notifications between the socket and the application. It pulls when its `Bell` says so, and gives out the bell's items.

One background task pulls and tells the seen mark. It starts when the application wants notifications for the first time.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterable
from typing import Any, Final, Protocol, Self

import msgspec

from infra.kernel.backoff import Rng
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import ConnectionLost, Misuse, ProtocolError, Refused, SegueError, Stalled
from segue.sdk.keeper import ConnectionKeeper
from segue.sdk.mark_file import MarkFile, Place
from segue.sdk.messages import Event
from segue.sdk.notification_messages import Action, InEpoch, Marks, Notification, Pulled, ReadElsewhere
from segue.sdk.notifications import Bell, NextPull

INBOXES: Final = "hm://notifications/inbox/"
GOODBYE_S: Final = 1.0
_LOG: Final = logging.getLogger("segue.sdk.client")


class InboxEar(Protocol):
    """A part of the SDK that hears what the server says of the inbox, whoever asked."""

    def came(self, items: Iterable[Notification], epoch: int | None) -> None:
        """Takes notifications that came live, or were pulled."""

    def heard(self, news: ReadElsewhere) -> None:
        """Takes what the server says of the marks and of changes."""

    def connected(self) -> None:
        """Takes note that the client is connected again."""


class NotificationFeed:
    """An asynchronous iterator over the notifications of a client: each once, ascending by mark, live or pulled.

    At most `inbox_items` of the options wait for the application; what does not fit is pulled later. With `mark_file` a device that
    restarts goes on where it stood. It asks by way of `keeper`; `rng` spreads its tries. `ears` hear all that is said of the inbox.
    """

    def __init__(self, keeper: ConnectionKeeper, options: ClientOptions, mark_file: MarkFile | None, rng: Rng | None) -> None:
        place = mark_file.load() if mark_file else None
        self.bell = Bell(options, *place or ())
        self.ears: list[InboxEar] = []
        self._keeper = keeper
        self._options = options
        self._mark_file = mark_file
        self._rng = rng or random.Random()
        self._failures = 0
        self._changed = asyncio.Event()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._end: BaseException | None = None
        self._is_iterated = False

    def deliver(self, message: Event | Pulled) -> None:
        """Takes what the server says of notifications without a call: an event of the user's inbox, or the pull at hello."""
        match message:
            case Pulled():
                self._pulled(message)
            case Event():
                try:
                    self._take_in(message)
                except msgspec.ValidationError as error:
                    _LOG.warning("a live copy that cannot be read was passed over; if it was an item, it shows as a gap: %s", error)
        self._wake()

    def connected(self) -> None:
        """Takes note that a connection was welcomed."""
        self.bell.connected(asyncio.get_running_loop().time())
        for ear in self.ears:
            ear.connected()
        self._changed.set()

    def lost(self) -> None:
        """Takes note that the connection ended."""
        self.bell.lost()

    def end(self, error: BaseException) -> None:
        """Ends the feed: no further notification comes. Iteration raises `error` as soon as the queue is empty."""
        self._end = self._end or error
        if self._task is not None:
            self._task.cancel()
        self._wake()

    async def close(self) -> None:
        """Tells the seen mark a last time, if that can be done within a second, and ends the background task."""
        if self._task is None or self._end is not None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(TimeoutError, SegueError):
            async with asyncio.timeout(GOODBYE_S):
                await self._tell_seen(float("inf"))

    def start(self) -> None:
        """Starts the background task, for the application wants notifications: gaps are pulled, and the seen mark is told."""
        if self._task is None and self._end is None:
            self._task = asyncio.create_task(self._run())

    def see(self, mark: int) -> None:
        """Takes note that the application has dealt with everything up to `mark`. Raises Misuse without `seen_by_hand`."""
        if not self._options.seen_by_hand:
            raise Misuse("notifications count as seen when they are taken; write ClientOptions(seen_by_hand=True) to say it yourself")
        self.bell.see(mark)
        self._keep_mark()

    async def read(self, mark: int | None) -> Marks:
        """Moves the user's read mark to `mark`, or to the end without it. Returns the marks. Raises ConnectionLost, Refused and Stalled."""
        held = self.bell.held
        marks = await self._keeper.now().call(Marks, {"op": "read"} | ({} if mark is None else self._at(mark)))
        self.bell.marked(marks, held)
        self._changed.set()
        return marks

    async def change(self, action: Action, marks: list[int]) -> Marks:
        """Does `action` with the items at `marks`. Returns the marks. Raises ConnectionLost, Refused and Stalled."""
        held = self.bell.held
        message: dict[str, Any] = {"op": "change", "action": action, "marks": marks} | _of(self.bell.epoch)
        answer = await self._keeper.now().call(Marks, message)
        self.bell.marked(answer, held)
        self._changed.set()
        return answer

    def __aiter__(self) -> Self:
        """Returns the feed. One task at a time may iterate."""
        return self

    async def __anext__(self) -> Notification:
        """Returns the next notification. Raises Refused when the server forbids coming back. Cancelling it takes none."""
        if not self._keeper.is_started:
            raise Misuse("not connected; write `async with segue.Client(...) as client:`")
        if self._is_iterated:
            raise Misuse("two tasks iterate over the notifications of one client, so each would reach only one of them")
        self.start()
        self._is_iterated = True
        try:
            return await self._next()
        finally:
            self._is_iterated = False

    async def _next(self) -> Notification:
        while (item := self.bell.take()) is None:
            if self._end is not None:
                raise self._end
            self._arrived.clear()
            await self._arrived.wait()
        self._keep_mark()
        return item

    def _keep_mark(self) -> None:
        self._changed.set()
        if self._mark_file is None or self.bell.seen is None:
            return
        try:
            self._mark_file.save(Place(self.bell.seen, self.bell.epoch))
        except OSError as error:
            _LOG.error("the mark is not kept, so the next process shows again what this one has shown: %s", error)

    def _take_in(self, event: Event) -> None:
        match event.kind:
            case "notification":
                item, epoch = msgspec.convert(event.payload, Notification), msgspec.convert(event.payload, InEpoch).epoch
                self.bell.live(item, epoch)
                for ear in self.ears:
                    ear.came([item], epoch)
            case "marks":
                news = msgspec.convert(event.payload, ReadElsewhere)
                self.bell.read_elsewhere(news)
                for ear in self.ears:
                    ear.heard(news)

    def _wake(self) -> None:
        self._changed.set()
        self._arrived.set()

    async def _run(self) -> None:
        try:
            await self._keep_up()
        except Exception as error:  # a defect: the application must see it
            self.end(error)

    async def _keep_up(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._changed.clear()
            try:
                await self._pull(loop.time())
                await self._tell_seen(loop.time())
            except ConnectionLost:
                self.bell.lost()  # `connected` wakes us
            except (Refused, Stalled, ProtocolError) as error:
                self._failed(error, loop.time())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(self.bell.next_due_s()):
                    await self._changed.wait()

    async def _pull(self, now_s: float) -> None:
        while pull := self.bell.pull_due(now_s):
            since = {} if pull.since is None else {"since": pull.since} | _of(pull.epoch)
            answer = await self._keeper.now().call(Pulled, {"op": "pull", "limit": pull.limit} | since)
            self._failures = 0
            self._pulled(answer, pull)
            self._arrived.set()

    def _pulled(self, answer: Pulled, pull: NextPull | None = None) -> None:
        self.bell.pulled(answer, pull)
        for ear in self.ears:
            ear.came(answer.items, answer.epoch)
            ear.heard(ReadElsewhere(answer.read, answer.unread, answer.epoch, answer.changed))

    async def _tell_seen(self, now_s: float) -> None:
        held = self.bell.held
        if mark := self.bell.seen_due(now_s):
            self.bell.marked(await self._keeper.now().call(Marks, {"op": "seen"} | self._at(mark)), held)

    def _at(self, mark: int) -> dict[str, int]:
        """Returns a mark with the epoch to which it belongs, as a request names them."""
        return {"mark": mark} | _of(self.bell.epoch)

    def _failed(self, error: Exception, now_s: float) -> None:
        delay_s = self._options.backoff.delay_s(self._failures, self._rng)
        self._failures += 1
        _LOG.info("notifications: %s; asked again in %.1f s", error, delay_s)
        self.bell.failed(now_s + delay_s)


def _of(epoch: int | None) -> dict[str, int]:
    return {} if epoch is None else {"epoch": epoch}
