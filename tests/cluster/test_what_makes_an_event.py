"""What makes an event: each action of a user, an artist or a newcomer, as clients of the SDK hear it and as brokers are told of it."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from infra.kernel.frames import Publish
from infra.kernel.topics import Topic, format_topic
from segue import Api, ApiUrls, Client
from segue.cluster.role_spec import RoleOptions
from services.artist.options import ArtistOptions
from services.playlist.core import LANES
from tests.support.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.promises import kept
from tests.support.samples import service_token
from tests.support.user import feed

ANN: Final = feed("ann")
MIX, NEW = "hm://playlist/user/ann/playlist/mix/", "hm://playlist/user/ann/playlist/new/"


class Ear:
    """A client of the SDK, and everything that it hears: `live` on topics that it follows, `bell` as notifications. Topic and kind.

    `mark` is that of the last notification.
    """

    def __init__(self, c: Cluster, user: str, device: str) -> None:
        url = f"ws://{c.of('accesspoint')[0].address}"
        self.client = Client(url, c.token(user), client=f"{user}-{device}", on_ended=lambda news: None)
        self.live: Counter[tuple[str, str]] = Counter()
        self.bell: Counter[tuple[str, str]] = Counter()
        self.mark = 0

    async def __aenter__(self) -> "Ear":
        await self.client.__aenter__()
        self._reading = [asyncio.create_task(self._hear()), asyncio.create_task(self._ring())]
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.client.close()
        await asyncio.gather(*self._reading)

    async def _hear(self) -> None:
        async for event in self.client:
            self.live[event.topic, event.kind] += 1

    async def _ring(self) -> None:
        async for notification in self.client.notifications():
            self.bell[notification.topic, notification.kind] += 1
            self.mark = notification.mark

    async def has_heard_all(self) -> bool:
        """Returns whether everything that is stored for the user has come, and what was sent to the client before."""
        await self.client.ping()
        stored = (await self.client.list_notifications(limit=1)).items
        return not stored or stored[0].mark <= self.mark


class Outcome(NamedTuple):
    """All that an action makes.

    - `told`: what the brokers are told, and by which role: (role, topic).
    - `live`: which topics and kinds are heard live by whom.
    - `bell`: the topic and kind of the item that whoever is named has in the bell.
    """

    told: list[tuple[str, str]]
    live: dict[str, list[tuple[str, str]]]
    bell: dict[str, tuple[str, str]]


class Town:
    """A site with all services. Ann and bob are friends, cyd follows ann's playlist and is no friend, and both of them follow an artist.

    Bob's client follows friends, cyd's names what it follows; eve is away, and follows what cyd follows.
    """

    def __init__(self, c: Cluster, catalogue: Path) -> None:
        self.c, self._catalogue = c, catalogue
        self.ears: dict[str, Ear] = {}
        self.apis: dict[str, Api] = {}
        self._before: Counter[tuple[str, str]] = Counter()

    async def open(self, stack: AsyncExitStack) -> None:
        """Has everybody follow what they follow, and listen."""
        door = {role: self.c.url(self.c.of(role)[0], "") for role in ("playlist", "social", "artist")}
        urls = ApiUrls(playlists=door["playlist"], social=door["social"], artists=door["artist"])
        for user in ("ann", "bob", "cyd", "eve"):
            self.apis[user] = await stack.enter_async_context(Api(urls, self.c.token(user)))
        ann, bob = self.apis["ann"], self.apis["bob"]
        await ann.social.follow("bob")
        await bob.social.follow("ann")
        await ann.playlists.create("Mix", id="mix", tracks=["t1", "t2"])
        await self.is_quiet()  # who follows it before it is told of is told of it
        for user in ("cyd", "eve"):
            await self.apis[user].playlists.follow("ann", "mix")
        for user in ("bob", "cyd", "eve"):
            await self.apis[user].artists.follow("bjork")
        await self.release("album", "old")  # the first run learns what is there, and tells nobody
        await self.is_quiet()
        for user in ("ann", "bob", "cyd"):
            await self.listen(stack, user)
        await self.ears["bob"].client.follow("friends")
        await self.ears["bob"].client.subscribe(NEW, lasting=False)
        await self.ears["cyd"].client.subscribe([ANN, MIX])
        await eventually(lambda: MIX in self.ears["bob"].client.topics, "bob does not hear of the playlist of a friend")
        await self.is_quiet()

    async def listen(self, stack: AsyncExitStack, user: str) -> Ear:
        """Returns a new device of `user`."""
        ear = await stack.enter_async_context(Ear(self.c, user, f"{len(self.ears)}"))
        self.ears.setdefault(user, ear)
        return ear

    async def release(self, kind: str, item: str) -> None:
        """Has the artist release an item, and artist monitoring look at the catalogue."""
        line = {"artist": "bjork", "name": "Björk", "type": kind, "id": item, "title": item}
        with self._catalogue.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        await self.c.of("artist")[0].work.job.run_once()

    async def act(self, kind: str) -> None:
        """Has ann's client say what ann does."""
        await self.ears["ann"].client.act(kind, track="t1")

    def forget(self) -> None:
        """Forgets what was heard and told so far."""
        self._before = self._told()
        for each in self.ears.values():
            each.live.clear()
            each.bell.clear()

    async def makes(self, what: str, outcome: Outcome) -> None:
        """Waits until all of `outcome` is there and nothing goes on; raises AssertionError if there is more than that."""
        told = Counter(outcome.told)
        live = {user: Counter(each) for user, each in outcome.live.items()}
        bell = {user: Counter([each]) for user, each in outcome.bell.items()}

        def heard() -> Any:
            return {user: each.live for user, each in self.ears.items() if each.live}

        def rung() -> Any:
            return {user: each.bell for user, each in self.ears.items() if each.bell}

        def all_there() -> bool:
            return (
                self._told() - self._before >= told
                and all(self.ears[user].live >= each for user, each in live.items())
                and all(self.ears[user].bell >= each for user, each in bell.items())
            )

        await eventually(all_there, lambda: f"{what}: {self._told() - self._before}, live {heard()}, bells {rung()}")
        await self.is_quiet()
        assert (what, self._told() - self._before) == (what, told)
        assert (what, heard()) == (what, live)
        assert (what, rung()) == (what, bell)

    def _told(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for crossing in self.c.plan.log:
            if isinstance(crossing.frame, Publish):
                role = self.c.roles[crossing.source].role
                found.update((role, format_topic(Topic(topic))) for topic in crossing.frame.topics)
        return found

    async def is_quiet(self) -> None:
        """Waits until every promise is kept, every item decided, and what was on its way to clients there."""
        await kept(self.c.of("playlist")[0].work.stores.outbox, LANES)
        await kept(self.c.of("social")[0].work.stores.outbox)
        figures = self.c.of("notification")[0].counters
        await eventually(lambda: figures()["notification_rows_total"] == figures()["notification_decided_total"], "rows are not decided")
        for each in self.ears.values():
            await eventually(each.has_heard_all, "a client does not hear all that is stored for its user")


@asynccontextmanager
async def town(folder: Path) -> AsyncIterator[tuple[Town, AsyncExitStack]]:
    """Yields a town where everybody listens."""
    catalogue = folder / "catalogue.jsonl"
    catalogue.touch()

    def reading(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, catalogue=str(catalogue), at="") if isinstance(options, ArtistOptions) else options

    services = ("playlist", "social", "artist")
    async with Cluster(sites=1, state=folder / "state", services=services, policy="social", change=reading) as c, AsyncExitStack() as stack:
        await c.presence_knows()
        await c.until(lambda: all(c.of("accesspoint")[0].core.calls.has(each) for each in services))
        found = Town(c, catalogue)
        await found.open(stack)
        yield found, stack


def inbox(user: str) -> tuple[str, str]:
    return "notification", f"hm://notifications/inbox/{user}/"


def listened(kind: str) -> Outcome:
    """Returns what an act of ann makes: one event for those who listen."""
    return Outcome([("presence", ANN)], {"bob": [(ANN, kind)]}, {})


def edited(topic: str, followers: list[str]) -> Outcome:
    """Returns what a change of a playlist makes: a line in ann's feed, an update for who is there, an item for each follower."""
    live = {"bob": [(ANN, "playlist"), (topic, "playlist")]} | ({"cyd": [(topic, "playlist")]} if "cyd" in followers else {})
    told = [("presence", ANN), ("playlist", topic), *map(inbox, followers)]
    return Outcome(told, live, dict.fromkeys(followers, (topic, "playlist")))


def released(type_: str, kind: str) -> Outcome:
    """Returns what a release makes: an item for each follower of the artist."""
    return Outcome([inbox("bob"), inbox("cyd")], {}, dict.fromkeys(("bob", "cyd"), (f"hm://notifications/feed/bjork%{type_}/", kind)))


async def test_each_action_makes_the_events_of_the_table_and_no_others(tmp_path: Path) -> None:
    """SB-8, SB-31: table 1.2, row by row; who is a friend and who is not hear each change once, live and in the bell."""
    async with town(tmp_path) as (it, stack):
        mine = it.apis["ann"].playlists
        both = ["bob", "cyd"]
        table: list[tuple[str, Callable[[], Awaitable[Any]], Outcome]] = [
            ("plays a track", lambda: it.act("play"), listened("play")),
            ("marks a favourite", lambda: it.act("favourite"), listened("favourite")),
            ("creates a playlist", lambda: mine.create("New", id="new"), edited(NEW, ["bob"])),
            ("adds a track", lambda: mine.add("ann", "mix", ["t3"]), edited(MIX, both)),
            ("moves a track", lambda: mine.reorder("ann", "mix", 2, 0, version=2), edited(MIX, both)),
            ("removes a track", lambda: mine.remove("ann", "mix", 0, version=3), edited(MIX, both)),
            ("renames it", lambda: mine.rename("ann", "mix", "Ours"), edited(MIX, both)),
            ("lets everybody edit it", lambda: mine.set_collaborative("ann", "mix", True), edited(MIX, both)),
            ("deletes it", lambda: mine.delete("ann", "mix"), edited(MIX, both)),
            ("an album comes out", lambda: it.release("album", "a1"), released("new-album", "album")),
            ("a track comes out", lambda: it.release("track", "t1"), released("new-track", "track")),
            ("an artist makes a playlist", lambda: it.release("playlist", "p1"), released("artist-playlist", "playlist")),
            ("the catalogue has nothing new", it.c.of("artist")[0].work.job.run_once, Outcome([], {}, {})),
        ]
        items: Counter[tuple[str, str]] = Counter()
        for what, act, outcome in table:
            it.forget()
            await act()
            await it.makes(what, outcome)
            items.update([outcome.bell["cyd"]] if "cyd" in outcome.bell else ())
        late, second = await it.listen(stack, "eve"), await it.listen(stack, "cyd")
        await eventually(lambda: late.bell >= items and second.bell >= items, lambda: f"{late.bell}, {second.bell}")
        await it.is_quiet()
        await eventually(second.has_heard_all, "the second device does not hear everything")
        assert (late.bell, second.bell, late.live) == (items, items, Counter())


async def test_a_contact_who_joins_makes_one_event_for_each_friend_who_waits_and_mutual_follows(tmp_path: Path) -> None:
    """SB-4, SB-5, SB-8: whoever joins is told of nobody, and those who know nothing of them are told nothing."""

    async def link(user: str, *contacts: str) -> None:
        url, body = f"{it.c.url(it.c.of('social')[0], '')}/v1/social/users/{user}/links/book", {"me": f"{user}@x", "contacts": contacts}
        async with it.c.http.put(url, json=body, headers={"Authorization": f"Bearer {service_token('operator')}"}) as answer:
            assert answer.status == 202, await answer.text()

    async with town(tmp_path) as (it, stack):
        eve = await it.listen(stack, "eve")
        await eve.client.follow("friends")
        for user in ("ann", "bob"):
            await link(user, "eve@x")
        await it.is_quiet()
        it.forget()
        await link("eve", "ann@x", "bob@x")
        bells = {user: (f"hm://notifications/feed/{user}%friend-joined/", "friend-joined") for user in ("ann", "bob")}
        await it.makes("a contact joins", Outcome([inbox("ann"), inbox("bob")], {}, bells))
        for user, others in (("eve", {"ann": True, "bob": True}), ("ann", {"bob": True, "eve": True}), ("bob", {"ann": True, "eve": True})):
            assert {each.user: each.mutual async for each in it.apis[user].social.friends()} == others
        await eventually(lambda: {ANN, feed("bob"), MIX} <= eve.client.topics, lambda: f"{eve.client.topics}")
        it.forget()
        await it.act("play")
        heard = {user: [(ANN, "play")] for user in ("bob", "eve")}
        await it.makes("plays a track", Outcome([("presence", ANN)], heard, {}))
