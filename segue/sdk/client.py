"""The client SDK: follow topics over WebSocket and stay connected (design 4.1).

    async with segue.Client("ws://127.0.0.1:7700", token) as client:
        await client.subscribe("hm://presence/user/bob/")
        async for event in client:
            print(event.kind, event.payload)

**Tasks.** One background task connects, reads and connects again. Another one pulls notifications if they are wanted. Any task of the
application may call the methods. One task at a time may iterate over the events, and one over the notifications.

**Cancelling.** Any await may be cancelled. That stops the waiting, and takes neither an event nor an answer from anybody else.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

from infra.kernel.backoff import Rng
from segue.sdk.address import doors
from segue.sdk.client_listeners import ClientListeners
from segue.sdk.client_options import ClientOptions
from segue.sdk.client_state import Phase, State
from segue.sdk.client_topics import ClientTopics
from segue.sdk.errors import Misuse
from segue.sdk.event_reader import EventReader
from segue.sdk.keeper import ConnectionKeeper
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
from segue.sdk.position_file import PositionFile
from segue.sdk.position_saver import PositionSaver
from segue.sdk.recoverer import Recoverer
from segue.sdk.token_source import Token, TokensFor
from segue.sdk.watchers import TopicWatcher, Watchers

LAST_TOPICS: Final = 500


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
        self._listeners = ClientListeners(
            on_state=on_state,
            on_offloaded=on_offloaded,
            on_ended=on_ended,
            on_friends=on_friends,
            on_gap=on_gap,
            on_announcement=on_announcement,
        ).or_logged()
        self._watchers = Watchers(lambda topic: topic in (self._keeper.of_friends or ()))
        self._saver = None if position_file is None else PositionSaver(position_file, options.positions_every_s)
        self._recoverer = Recoverer(None if self._saver is None else self._saver.kept)
        self._events = EventReader(options.inbox_bytes, self._recoverer, self._watchers, self._saver)
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
        self._topics = ClientTopics(self._keeper, self._recoverer, self._watchers)
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
        Topics in `rejected` are not followed, unless they were before and their code lets them be asked for again: those stay. It waits
        for a connection, and asks again if that breaks.

        Raises Stalled, and Refused; then none of the new topics is followed. Cancelling stops the waiting only; unsubscribe to stop
        following.
        """
        return await self._topics.subscribe(_listed(topics), wait, lasting=lasting)

    async def follow(self, whom: Whom = "friends", wait: Wait = "local") -> Installed:
        """Follows all friends and their playlists from now on, over every reconnect: whoever they are from time to time.

        A friend is a user whom the user follows. Whom they begin to follow, on whatever device, is heard within a second; whom they
        follow no longer, or may not see, is heard no more. `topics` has those that are followed now, and `on_friends` is told of changes.
        Returns as `subscribe` does, when those are installed that there are now. It waits for a connection, and asks again if that breaks.

        Raises Stalled, and Refused: `unavailable` where the site has no social service. Who followed friends before goes on.
        """
        return await self._topics.follow(whom, wait)

    async def unfollow(self, whom: Whom = "friends") -> None:
        """Follows friends no longer. What was subscribed by name goes on. Raises Refused and Stalled."""
        await self._topics.unfollow(whom)

    @property
    def topics(self) -> frozenset[str]:
        """The topics that are followed: those that were subscribed, and those of friends."""
        return self._topics.followed

    async def unsubscribe(self, topics: str | Iterable[str]) -> None:
        """Stops following `topics`: none of their events arrives after it returns. Raises Refused and Stalled.

        What is followed because it is of a friend goes on. So does what a watcher hears of, such as a `PlaylistReplica`, for that alone.
        """
        await self._topics.unsubscribe(_listed(topics))

    async def watch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear of `topic` from now on, over every reconnect. Raises Refused where it may not be followed, and Stalled.

        If the application has not subscribed the topic itself, it is subscribed without `lasting`. Its events go to watchers only, unless
        it is of a friend, too, and friends are followed.
        """
        await self._topics.watch(topic, watcher)

    async def unwatch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear no more of `topic`. If nobody else follows it here, it is unsubscribed. Raises as `unsubscribe`."""
        await self._topics.unwatch(topic, watcher)

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
        return frozenset(self._topics.offloaded)

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
        return await self._events.next()

    async def _deliver(self, message: Event | Pulled | News, size_bytes: int) -> None:
        match message:
            case Event() if message.topic.startswith(INBOXES):
                self._feed.deliver(message)
            case Event():
                await self._events.hear(message, size_bytes)
            case Offloaded():
                self._topics.move(message)
                self._listeners.offloaded(message)
            case Ended():
                self._topics.drop(message)
                self._listeners.ended(message)
            case FriendNews():
                if self._topics.befriend(message):
                    self._listeners.friends(message)
            case Gap():
                self._watchers.missed(message.topics)
                self._listeners.gap(message)
            case Announcement():
                self._listeners.announcement(message)
            case Pulled():
                self._feed.deliver(message)

    def _end(self, error: Exception | None) -> None:
        self._events.end(error or StopAsyncIteration())
        self._feed.end(error or StopAsyncIteration())

    def _tell(self, state: State) -> None:
        if state.phase is not Phase.CONNECTED:
            self._topics.offloaded.clear()  # a new connection is told of each topic that is out once it is subscribed again
        if state.phase is Phase.CONNECTED:
            self._feed.connected()
            if state.installed is None or state.installed.recovered is not True:
                self._watchers.missed()
        elif state.phase is not Phase.CLOSED:
            self._feed.lost()
        self._listeners.state(state)


def _listed(topics: str | Iterable[str]) -> list[str]:
    return [topics] if isinstance(topics, str) else list(dict.fromkeys(topics))
