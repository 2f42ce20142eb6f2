"""The client SDK: follow topics over WebSocket and stay connected (design 4.1).

    async with segue.Client("ws://127.0.0.1:7700", token) as client:
        await client.subscribe("hm://presence/user/bob/")
        async for event in client:
            print(event.kind, event.payload)

**Tasks.** One background task connects, reads and connects again. Another one pulls notifications if they are wanted. Any task of the
application may call the methods. One task at a time may iterate over the events, and one over the notifications.

**Cancelling.** Any await may be cancelled. That stops the waiting, and takes neither an event nor an answer from anybody else.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

from infra.kernel.backoff import Rng
from segue.sdk.address import doors
from segue.sdk.client_options import ClientOptions
from segue.sdk.client_state import Phase, State
from segue.sdk.errors import ConnectionLost, Misuse, Refused, refusal
from segue.sdk.inbox import Inbox
from segue.sdk.keeper import PASSING, ConnectionKeeper
from segue.sdk.mark_file import MarkFile
from segue.sdk.messages import (
    Announcement,
    Device,
    Ended,
    Event,
    FriendNews,
    Gap,
    Installed,
    Limits,
    News,
    Offloaded,
    Private,
    Wait,
    Whom,
    topic_batches,
)
from segue.sdk.notification_feed import INBOXES, NotificationFeed
from segue.sdk.notification_messages import Action, History, LastEvents, Marks, Notification, NotificationPage, PastEvent, Pulled
from segue.sdk.outage import Outage
from segue.sdk.position_file import PositionFile
from segue.sdk.position_saver import PositionSaver
from segue.sdk.recoverer import Recoverer
from segue.sdk.token_source import Token, TokensFor
from segue.sdk.watchers import TopicWatcher, Watchers

LAST_TOPICS: Final = 500
_LOG: Final = logging.getLogger("segue.sdk.client")


class Client:
    """A connection to Segue that comes back by itself, with all its topics.

    - `urls`: one access point, or several that are tried in turn.
    - `token`: a JWT, or a function (plain or async) that returns one. The function is called before every connection, and when most of
      a token's life is over: then the session goes on with the new one. What it raises ends the client, except ConnectionLost, which
      means: try again later. With a JWT alone the client ends when that expires: it raises Refused with the code `token-expired`.
    - `client`: the name of this device. The server keeps a seen mark for each.
    - `device`: its class, "desktop" or "mobile".
    - `user`: the user for whom the token is. The server refuses a token that is for another user.
    - `on_state`: is called with every State; what it raises is logged. Without it, the beginning of each outage is logged as a warning,
      which Python prints unless it is told otherwise.
    - `on_offloaded`: is called when followed topics leave real time or come back. The topics that are out now are in `offloaded`.
    - `on_ended`: is called when the user may not see followed topics any more. They are followed no longer, also after a reconnect.
      Without it, they are logged as a warning.
    - `on_friends`: is called when topics of friends are followed from now on, or no longer; see `follow`. What it raises is logged.
    - `on_gap`: is called when something of followed topics may be missing, with the topics and the reason: what they show should be
      fetched anew. Without it, they are logged as a warning.
    - `private`: nobody sees what the user plays on this connection, nor on those that come after it.
    - `on_announcement`: is called with what an operator tells everybody. What it raises is logged.
    - `subscription_tokens`: a function (plain or async) from topics to the tokens that allow to follow them, at a site whose policy
      wants them. It is called before each subscribe, also after a reconnect.
    - `mark_file`: keeps the place where this device goes on after a restart. Without it the server's seen mark of `client` does, which is
      up to a second older.
    - `position_file`: keeps how far the application has come in its topics, so that the next process gets what was missed meanwhile.
    - `options`: times and bounds.
    - `rng`: the randomness of the delays between tries.

    Events are real time. What is published while the client is away comes when it is back, as far as the server keeps it: the State
    CONNECTED says in `installed` whether that was all, and each event in `gap` what is missing before it. None comes twice. Notifications
    are stored: each comes at least once to each device, and `notifications` shows it once.

    A code that forbids reconnecting, such as that of a bad token, ends the client. Every call that waits then raises Refused.
    """

    def __init__(
        self,
        urls: str | Iterable[str],
        token: Token,
        *,
        client: str = "python",
        device: Device = "desktop",
        user: str | None = None,
        on_state: Callable[[State], None] | None = None,
        on_offloaded: Callable[[Offloaded], None] | None = None,
        on_ended: Callable[[Ended], None] | None = None,
        on_friends: Callable[[FriendNews], None] | None = None,
        on_gap: Callable[[Gap], None] | None = None,
        private: bool = False,
        on_announcement: Callable[[Announcement], None] | None = None,
        subscription_tokens: TokensFor | None = None,
        mark_file: MarkFile | None = None,
        position_file: PositionFile | None = None,
        options: ClientOptions | None = None,
        rng: Rng | None = None,
    ) -> None:
        options = options or ClientOptions()
        self._on_state = on_state or Outage(_LOG.warning)
        self._on_offloaded = on_offloaded
        self._on_ended = on_ended or _warn_of_ended
        self._on_friends = on_friends
        self._on_gap = on_gap or _warn_of_gap
        self._on_announcement = on_announcement
        self._offloaded: set[str] = set()
        self._inbox = Inbox(options.inbox_bytes)
        self._watchers = Watchers()
        self._is_iterated = False
        self._saver = None if position_file is None else PositionSaver(position_file, options.positions_every_s)
        self._recoverer = Recoverer(None if self._saver is None else self._saver.kept)
        self._keeper = ConnectionKeeper(
            doors(urls, schemes=("ws", "wss"), path="/v1/connect"),
            token,
            {"client": client, "device": device} | ({} if user is None else {"user": user}) | ({"private": True} if private else {}),
            options,
            deliver=self._deliver,
            tell=self._tell,
            end=self._end,
            recoverer=self._recoverer,
            rng=rng,
            tokens_for=subscription_tokens,
        )
        self._feed = NotificationFeed(self._keeper, options, mark_file, rng)

    async def __aenter__(self) -> Self:
        """Connects. Raises Refused, and ConnectionLost if no access point welcomes the client within `open_timeout_s`."""
        await self._keeper.start()
        if self._saver is not None:
            self._saver.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnects for good. What has arrived can still be taken; then iteration ends. May be called twice.

        It waits a second at most until the server has heard which notifications were taken.
        """
        try:
            await self._feed.close()
        finally:
            await self._keeper.close()
            if self._saver is not None:
                await self._saver.close()

    async def subscribe(self, topics: str | Iterable[str], wait: Wait = "local", *, lasting: bool = True) -> Installed:
        """Follows `topics` from now on, over every reconnect. Returns how far the subscription is installed.

        With `wait` "local" it returns when the brokers of this site hold the subscription, with "all" when those of every live site do.
        Without `lasting` no service remembers it: who follows a playlist only to show it for a while gets no notifications about it later.
        Topics in `rejected` are not followed. It waits for a connection, and asks again if that breaks.

        Raises Stalled, and Refused; then none of the new topics is followed. Cancelling stops the waiting only; unsubscribe to stop
        following.
        """
        wanted, followed = _listed(topics), self._keeper.topics
        new = [topic for topic in wanted if topic not in followed]
        followed.update(dict.fromkeys(wanted))
        self._keeper.passing.difference_update(wanted if lasting else ())
        self._keeper.passing.update(() if lasting else new)
        self._watchers.share(wanted)
        try:
            installed = await self._install(wanted, wait)
        except Refused:
            await self.unsubscribe(new)  # a part, sent in a message of its own, may have been accepted
            raise
        self._keeper.forget(rejected.topic for rejected in installed.rejected)
        return installed

    async def follow(self, whom: Whom = "friends", wait: Wait = "local") -> Installed:
        """Follows all friends and their playlists from now on, over every reconnect: whoever they are from time to time.

        A friend is a user whom the user follows. Whom they begin to follow, on whatever device, is heard within a second; whom they
        follow no longer, or may not see, is heard no more. `topics` has those that are followed now, and `on_friends` is told of changes.
        Returns as `subscribe` does, when those are installed that there are now. It waits for a connection, and asks again if that breaks.

        Raises Stalled, and Refused: `unavailable` where the site has no social service.
        """
        if self._keeper.of_friends is None:
            # Of another process, whose positions were kept: if they are of friends still, what was missed comes.
            kept = [topic for topic in self._recoverer.kept_of_friends() if topic not in self._keeper.topics]
            self._keeper.of_friends = dict.fromkeys(kept)
        while True:
            connection = await self._keeper.connected()
            try:
                return await self._keeper.follow(connection, wait, whom)
            except ConnectionLost:
                await connection.replaced.wait()
            except Refused:
                self._keeper.of_friends = None
                raise

    async def unfollow(self, whom: Whom = "friends") -> None:
        """Follows friends no longer. What was subscribed by name goes on. Raises Refused and Stalled."""
        gone, self._keeper.of_friends = self._keeper.of_friends or {}, None
        self._forget_of_friends(gone)
        with contextlib.suppress(ConnectionLost):
            await self._keeper.now().unfollow(whom)

    @property
    def topics(self) -> frozenset[str]:
        """The topics that are followed: those that were subscribed, and those of friends."""
        return frozenset(self._keeper.topics) | frozenset(self._keeper.of_friends or ())

    async def unsubscribe(self, topics: str | Iterable[str]) -> None:
        """Stops following `topics`: none of their events arrives after it returns. Raises Refused and Stalled.

        What is followed because it is of a friend goes on.
        """
        unwanted = _listed(topics)
        passing = [topic for topic in unwanted if topic in self._keeper.passing]
        for topic in unwanted:
            self._keeper.topics.pop(topic, None)
        self._keeper.passing.difference_update(passing)
        self._offloaded.difference_update(topic for topic in unwanted if not self._keeper.is_followed(topic))
        try:
            with contextlib.suppress(ConnectionLost):  # the access point forgot them together with the connection
                await self._keeper.now().unsubscribe([topic for topic in unwanted if topic not in passing])
                await self._keeper.now().unsubscribe(passing, fields=PASSING)
        finally:
            self._recoverer.forget(topic for topic in unwanted if not self._keeper.is_followed(topic))

    async def watch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear of `topic` from now on, over every reconnect. Raises Refused where it may not be followed, and Stalled.

        If the application does not follow the topic itself, it is subscribed without `lasting`, and its events go to watchers only.
        """
        is_followed = self._keeper.is_followed(topic) and not self._watchers.is_alone(topic)
        self._watchers.add(topic, watcher, alone=not is_followed)
        try:
            if not is_followed:
                self._keeper.topics[topic] = None
                self._keeper.passing.add(topic)
            installed = await self._install([topic], "local") if not is_followed else None
        except BaseException:
            await self.unwatch(topic, watcher)
            raise
        for rejected in installed.rejected if installed is not None else ():
            await self.unwatch(topic, watcher)
            raise refusal(rejected.code, rejected.reason)

    async def unwatch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear no more of `topic`. If nobody else follows it here, it is unsubscribed. Raises as `unsubscribe`."""
        was_alone = self._watchers.is_alone(topic)
        if not self._watchers.remove(topic, watcher) and was_alone:
            await self.unsubscribe(topic)

    async def act(self, kind: str, **fields: Any) -> None:
        """Tells the user's friends what the user does: `act("play", artist="Björk")`. It is told at most once, and never kept for later.

        Raises Refused and Stalled. Raises ConnectionLost when there is no connection, and when it breaks before the answer: then nobody
        knows whether it was told.
        """
        if reserved := fields.keys() & {"op", "id"}:
            raise Misuse(f"{', '.join(sorted(reserved))}: a name of the protocol; call this field of the act something else")
        await self._keeper.now().act({"kind": kind, **fields})

    async def set_private(self, on: bool, *, hours: float | None = None) -> int:
        """Begins or ends a private session of this device: nobody sees what the user plays on it.

        It lasts for `hours`, or until it is said otherwise, also over reconnects. Returns until when, in ms since 1970; 0: it is not
        private. What was played before is told no more. Raises as `act`.
        """
        message = {"op": "private", "on": on} | ({} if hours is None else {"hours": hours})
        return (await self._keeper.now().call(Private, message)).until_ms

    async def ping(self) -> int:
        """Returns the clock of the access point, in ms since 1970. Raises ConnectionLost and Stalled."""
        return await self._keeper.now().ping()

    @property
    def offloaded(self) -> frozenset[str]:
        """The followed topics that are out of real time now, as far as this connection was told. It is empty without a connection."""
        return frozenset(self._offloaded)

    def notifications(self) -> AsyncIterator[Notification]:
        """Returns an iterator over the user's stored notifications: each once, ascending by mark, whether it came live or was pulled.

        From the first call on, gaps are pulled, and what was taken is told to the server as seen. Break and go on as often as you like, in
        one task at a time. The iterator ends, or raises, as the events do.

        An application that follows topics must take their events in another task: notifications come behind them on the same socket.
        """
        if self._keeper.is_started:
            self._feed.start()
        return self._feed

    @property
    def unread(self) -> int:
        """How many notifications a bell shows as unread. It is right after each pull and after each change of the marks."""
        return self._feed.bell.unread

    @property
    def read_mark(self) -> int:
        """The mark up to which the user has read, on whatever device."""
        return self._feed.bell.read

    def seen(self, mark: int) -> None:
        """Says that the application has dealt with everything up to `mark`. The server is told within `seen_every_s`.

        Raises Misuse without `ClientOptions(seen_by_hand=True)`.
        """
        self._feed.see(mark)

    async def read(self, mark: int | None = None) -> Marks:
        """Says that the user has read everything up to `mark`; without it, all there is. Returns the marks.

        All devices of the user are told. It may be repeated, for the read mark only rises. Raises Refused and Stalled. Raises
        ConnectionLost when there is no connection, and when it breaks before the answer.
        """
        return await self._feed.read(mark)

    async def list_notifications(
        self, *, archived: bool = False, limit: int = 50, before: int | None = None, epoch: int | None = None
    ) -> NotificationPage:
        """Returns a page of the user's stored notifications, newest first, whatever this device has seen. Raises as `read`.

        - `archived`: those that are archived, or the others.
        - `limit`: how many at most.
        - `before`: the `next` of the page before it, and `epoch` the epoch of that page.
        """
        message: dict[str, Any] = {"op": "list", "archived": archived, "limit": limit}
        if before is not None:
            message |= {"before": before} | ({} if epoch is None else {"epoch": epoch})
        return await self._keeper.now().call(NotificationPage, message)

    async def change_notifications(self, action: Action, marks: Iterable[int]) -> Marks:
        """Does `action` with the notifications at `marks`: "read", "unread", "archive", "unarchive" or "delete".

        All devices of the user are told. It may be repeated. Returns the marks, with those that were `rejected`: they stand for nothing
        that is there. Raises as `read`. `NotificationInbox` keeps a view that follows such changes.
        """
        return await self._feed.change(action, list(marks))

    @property
    def feed(self) -> NotificationFeed:
        """The feed of notifications, for other parts of the SDK."""
        return self._feed

    async def history(self, topic: str, *, limit: int = 50, before: str | None = None) -> History:
        """Returns a page of the stored events of `topic`, newest first.

        `limit` is the length of the page, `before` the `next` of the page before it. Raises as `read`.
        """
        page = {"topic": topic, "limit": limit} | ({} if before is None else {"before": before})
        return await self._keeper.now().call(History, {"op": "history", **page})

    async def last(self, topics: str | Iterable[str]) -> list[PastEvent]:
        """Returns the last event of each of `topics` that has one. Raises as `read`.

        They are friend feeds, such as `hm://presence/user/bob/`.
        """
        connection = self._keeper.now()
        limits = connection.welcome.limits
        batches = topic_batches(_listed(topics), Limits(limits.message_bytes, min(LAST_TOPICS, limits.topics_per_message)))
        answers = [await connection.call(LastEvents, {"op": "last", "topics": batch}) for batch in batches]
        return [event for answer in answers for event in answer.events]

    def __aiter__(self) -> Self:
        """Returns the client, an iterator over the events. Break and iterate again as often as you like, in one task at a time."""
        return self

    async def __anext__(self) -> Event:
        """Returns the next event. Raises Refused when the server forbids coming back. Cancelling it takes no event."""
        if not self._keeper.is_started:
            raise Misuse("not connected; write `async with segue.Client(...) as client:`")
        if self._is_iterated:
            raise Misuse("two tasks iterate over one client, so each event would reach only one of them; use one client each")
        self._is_iterated = True
        try:
            event = await self._inbox.get()
        finally:
            self._is_iterated = False
        if self._saver is not None:
            self._saver.kept.taken(event)
        return event

    async def _install(self, topics: list[str], wait: Wait) -> Installed:
        while True:
            connection = await self._keeper.connected()
            try:
                return await self._keeper.subscribe(connection, topics, wait)
            except ConnectionLost:
                await connection.replaced.wait()

    async def _deliver(self, message: Event | Pulled | News, size_bytes: int) -> None:
        if isinstance(message, Offloaded):
            self._offload(message)
        elif isinstance(message, Ended):
            self._drop(message)
        elif isinstance(message, Announcement):
            self._announced(message)
        elif isinstance(message, Gap):
            self._miss(message)
        elif isinstance(message, FriendNews):
            self._befriend(message)
        elif isinstance(message, Pulled) or message.topic.startswith(INBOXES):
            self._feed.deliver(message)
        else:
            await self._hear(message, size_bytes)

    async def _hear(self, message: Event, size_bytes: int) -> None:
        is_alone = self._watchers.is_alone(message.topic)
        if not is_alone:
            await self._inbox.room()  # first: a position never moves past an event that nobody gets
        event = self._recoverer.take(message)
        if event is None:
            return
        self._watchers.heard(event)
        if not is_alone:
            self._inbox.put(event, size_bytes)
        elif self._saver is not None:
            self._saver.kept.taken(event)

    def _offload(self, news: Offloaded) -> None:
        self._offloaded.update(self.topics & set(news.left))  # what was unsubscribed meanwhile is of no interest
        self._offloaded.difference_update(news.back)
        if self._on_offloaded is not None:
            try:
                self._on_offloaded(news)
            except Exception:
                _LOG.exception("on_offloaded failed")

    def _drop(self, news: Ended) -> None:
        ended = [each.topic for each in news.topics]
        self._keeper.forget(ended)
        self._watchers.ended(news)
        self._offloaded.difference_update(ended)
        try:
            self._on_ended(news)
        except Exception:
            _LOG.exception("on_ended failed")

    def _befriend(self, news: FriendNews) -> None:
        if self._keeper.of_friends is None:
            return  # it was on its way when friends were followed no longer
        self._keeper.of_friends.update(dict.fromkeys(news.topics))
        self._recoverer.begin(news.topics)
        for topic in news.left:
            self._keeper.of_friends.pop(topic, None)
        self._forget_of_friends(news.left)
        if self._on_friends is not None:
            try:
                self._on_friends(news)
            except Exception:
                _LOG.exception("on_friends failed")

    def _forget_of_friends(self, topics: Iterable[str]) -> None:
        gone = [topic for topic in topics if not self._keeper.is_followed(topic)]
        self._recoverer.forget(gone)
        self._offloaded.difference_update(gone)

    def _miss(self, news: Gap) -> None:
        self._watchers.missed(news.topics)
        try:
            self._on_gap(news)
        except Exception:
            _LOG.exception("on_gap failed")

    def _announced(self, message: Announcement) -> None:
        if self._on_announcement is not None:
            try:
                self._on_announcement(message)
            except Exception:
                _LOG.exception("on_announcement failed")

    def _end(self, error: Exception | None) -> None:
        self._inbox.end(error or StopAsyncIteration())
        self._feed.end(error or StopAsyncIteration())

    def _tell(self, state: State) -> None:
        if state.phase is not Phase.CONNECTED:
            self._offloaded.clear()  # a new connection is told of each topic that is out once it is subscribed again
        if state.phase is Phase.CONNECTED:
            self._feed.connected()
            if state.installed is None or state.installed.recovered is not True:
                self._watchers.missed()
        elif state.phase is not Phase.CLOSED:
            self._feed.lost()
        try:
            self._on_state(state)
        except Exception:
            _LOG.exception("on_state failed")


def _warn_of_ended(news: Ended) -> None:
    for each in news.topics:
        _LOG.warning("%s is followed no longer (%s: %s)", each.topic, each.code, each.reason)


def _warn_of_gap(news: Gap) -> None:
    _LOG.warning("something of %s may be missing (%s)", " ".join(news.topics), news.reason)


def _listed(topics: str | Iterable[str]) -> list[str]:
    return [topics] if isinstance(topics, str) else list(dict.fromkeys(topics))
