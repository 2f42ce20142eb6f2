"""The topics of a client: what it follows by name, because it is of friends, or for a watcher; and what is out of real time of that."""

import contextlib
from collections.abc import Awaitable, Callable, Iterable

from segue.sdk.connection import ClientConnection
from segue.sdk.errors import ConnectionLost, Refused, Stalled, refusal
from segue.sdk.keeper import PASSING, ConnectionKeeper
from segue.sdk.messages import Ended, FriendNews, Installed, Offloaded, RejectedTopic, Wait, Whom
from segue.sdk.recoverer import Recoverer
from segue.sdk.watchers import TopicWatcher, Watchers


class ClientTopics:
    """The topics of one client, over all its connections.

    - `keeper`: holds them for the next connection.
    - `recoverer`: knows how far each has come.
    - `watchers`: hear of single topics beside the application.
    """

    def __init__(self, keeper: ConnectionKeeper, recoverer: Recoverer, watchers: Watchers) -> None:
        self.offloaded: set[str] = set()
        self._keeper, self._recoverer, self._watchers = keeper, recoverer, watchers

    @property
    def followed(self) -> frozenset[str]:
        """The topics that are followed, for whatever reason."""
        return frozenset(self._keeper.topics) | frozenset(self._keeper.of_friends or ())

    # What the application asks.

    async def subscribe(self, wanted: list[str], wait: Wait, *, lasting: bool) -> Installed:
        """Follows `wanted`. Returns and raises as `Client.subscribe`."""
        followed = self._keeper.topics
        new = [topic for topic in wanted if topic not in followed]
        followed.update(dict.fromkeys(wanted))
        self._keeper.passing.difference_update(wanted if lasting else ())
        self._keeper.passing.update(() if lasting else new)
        watched = [topic for topic in wanted if self._watchers.has_named(topic)]
        self._watchers.share(wanted)
        try:
            installed = self._keeper.settled(await self._install(wanted, wait))
        except Refused:
            await self.unsubscribe([*new, *watched])  # a part, sent in a message of its own, may have been accepted
            raise
        rejected = [each.topic for each in installed.rejected]
        self._keeper.unname([topic for topic in rejected if topic in new])
        self._keep_for_watchers(topic for topic in rejected if topic in watched and self._watchers.hear(topic))
        return installed

    async def unsubscribe(self, unwanted: list[str]) -> None:
        """Stops following `unwanted`, but what is of friends. What watchers hear of goes on for them alone. Raises Refused and Stalled."""
        watched = [topic for topic in unwanted if topic in self._keeper.topics and self._watchers.hear(topic)]
        again = [topic for topic in watched if topic not in self._keeper.passing]  # or a service would remember it
        self._watchers.keep(watched)
        try:
            await self._leave([topic for topic in unwanted if topic not in watched or topic in again])
        finally:
            await self._watch_again(again)

    async def _watch_again(self, topics: list[str]) -> None:
        """Follows `topics` for watchers alone, who load what was missed meanwhile. What they may not follow now has ended for them."""
        if not topics:
            return
        self._keeper.topics.update(dict.fromkeys(topics))
        self._keep_for_watchers(topics)
        rejected: tuple[RejectedTopic, ...] = ()
        try:
            rejected = (await self._keeper.subscribe(self._keeper.now(), topics, "local")).rejected
        except Refused as refused:
            rejected = tuple(RejectedTopic(topic, refused.code.name, refused.reason) for topic in topics)
        except (ConnectionLost, Stalled):
            pass  # asked for with the next connection, or on its way
        self._keeper.unname([each.topic for each in rejected])
        self._watchers.ended(Ended(topics=tuple(each for each in rejected if not self._keeper.is_followed(each.topic))))
        self._watchers.missed(topics)

    def _keep_for_watchers(self, topics: Iterable[str]) -> None:
        kept = list(topics)
        self._watchers.keep(kept)
        self._keeper.passing.update(kept)

    async def _leave(self, unwanted: list[str]) -> None:
        """Stops following `unwanted` by name. Raises Refused and Stalled."""
        passing = [topic for topic in unwanted if topic in self._keeper.passing]
        for topic in unwanted:
            self._keeper.topics.pop(topic, None)
        self._keeper.passing.difference_update(passing)
        try:
            with contextlib.suppress(ConnectionLost):  # the access point forgot them together with the connection
                await self._keeper.now().unsubscribe([topic for topic in unwanted if topic not in passing])
                await self._keeper.now().unsubscribe(passing, fields=PASSING)
        finally:
            self._forget_gone(unwanted)

    async def follow(self, whom: Whom, wait: Wait) -> Installed:
        """Follows all friends and their playlists. Returns and raises as `Client.follow`."""
        begins = self._keeper.of_friends is None
        if begins:
            # Of another process, whose positions were kept: if they are of friends still, what was missed comes.
            kept = [topic for topic in self._recoverer.kept_of_friends() if topic not in self._keeper.topics]
            self._keeper.of_friends = dict.fromkeys(kept)
        try:
            return await self._once_connected(lambda connection: self._keeper.follow(connection, wait, whom))
        except Refused:
            if begins:  # otherwise those who are followed stay, and so does the wish
                self._keeper.of_friends = None
            raise

    async def unfollow(self, whom: Whom) -> None:
        """Follows friends no longer. Raises Refused and Stalled."""
        gone, self._keeper.of_friends = self._keeper.of_friends or {}, None
        self._forget_gone(gone)
        with contextlib.suppress(ConnectionLost):
            await self._keeper.now().unfollow(whom)

    async def watch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear of `topic`. Raises as `Client.watch`."""
        # Also where it is of a friend, who may be none any more before the watcher is done.
        named = topic not in self._keeper.topics or self._watchers.has_named(topic)
        self._watchers.add(topic, watcher, named=named)
        try:
            if named:
                self._keeper.topics[topic] = None
                self._keeper.passing.add(topic)
            installed = await self._install([topic], "local") if named else None
        except BaseException:
            await self.unwatch(topic, watcher)
            raise
        for rejected in installed.rejected if installed is not None else ():
            if topic in (self._keeper.of_friends or ()):
                return  # nobody can say so now, and it goes on as a friend's
            await self.unwatch(topic, watcher)
            raise refusal(rejected.code, rejected.reason)

    async def unwatch(self, topic: str, watcher: TopicWatcher) -> None:
        """Has `watcher` hear no more of `topic`. Raises Refused and Stalled."""
        was_named = self._watchers.has_named(topic)
        if not self._watchers.remove(topic, watcher) and was_named:
            await self._leave([topic])

    async def _install(self, topics: list[str], wait: Wait) -> Installed:
        return await self._once_connected(lambda connection: self._keeper.subscribe(connection, topics, wait))

    async def _once_connected(self, call: Callable[[ClientConnection], Awaitable[Installed]]) -> Installed:
        """Returns what `call` does, as soon as there is a connection, and again where that breaks."""
        while True:
            connection = await self._keeper.connected()
            try:
                return await call(connection)
            except ConnectionLost:
                await connection.replaced.wait()

    # What the server tells.

    def move(self, news: Offloaded) -> None:
        """Takes note of topics that left real time, or came back."""
        self.offloaded.update(self.followed & set(news.left))  # what was unsubscribed meanwhile is of no interest
        self.offloaded.difference_update(news.back)

    def drop(self, news: Ended) -> None:
        """Follows no longer what the user may not see any more."""
        ended = [each.topic for each in news.topics]
        self._keeper.forget(ended)
        self._watchers.ended(news)
        self.offloaded.difference_update(ended)

    def befriend(self, news: FriendNews) -> bool:
        """Takes note of topics that are of friends now, or no longer. Returns whether friends are followed still."""
        if self._keeper.of_friends is None:
            return False  # it was on its way when friends were followed no longer
        self._keeper.of_friends.update(dict.fromkeys(news.topics))
        self._recoverer.begin(news.topics)
        for topic in news.left:
            self._keeper.of_friends.pop(topic, None)
        self._forget_gone(news.left)
        return True

    def _forget_gone(self, topics: Iterable[str]) -> None:
        """Forgets where the client is in those of `topics` that nothing keeps."""
        gone = [topic for topic in topics if not self._keeper.is_followed(topic)]
        self._recoverer.forget(gone)
        self.offloaded.difference_update(gone)
