"""Clients of the SDK that follow their friends, in a site with a social and a playlist service."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from accesspoint.options import AccessPointOptions
from segue import Client, Event, FriendNews, NotificationPreferences, SettingsClient
from segue.cluster.role_spec import RoleOptions
from services.playlist.core import STORED
from tests.support.cluster import Cluster
from tests.support.event_source import EventSource
from tests.support.eventually import eventually
from tests.support.promises import kept
from tests.support.samples import service_token
from tests.support.social_desk import SocialDesk
from tests.support.user import feed

MIX = "hm://playlist/user/bob/playlist/mix/"
SOON_S = 1.0


@asynccontextmanager
async def site(folder: Path, **shape: Any) -> AsyncIterator[Cluster]:
    """Yields a site where social says who sees what, linked to all access points."""
    async with Cluster(sites=1, state=folder, services=("playlist", "social"), policy="social", **shape) as c:
        await c.presence_knows()
        await c.until(lambda: all(point.core.calls.has(each) for point in c.of("accesspoint") for each in ("social", "playlist")))
        yield c


class Fan:
    """A client of the SDK that follows the friends of `user`, and keeps what it hears."""

    def __init__(self, c: Cluster, user: str, *, point: int = 0) -> None:
        self.events: list[Event] = []
        self.news: list[FriendNews] = []
        address = c.of("accesspoint")[point].address
        self.client = Client(
            f"ws://{address}", c.token(user), client=f"{user}-{point}", on_friends=self.news.append, on_ended=lambda news: None
        )

    async def __aenter__(self) -> "Fan":
        await self.client.__aenter__()
        await self.client.follow("friends")
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *exc: Any) -> None:
        await self.client.close()
        await self._reading

    async def _read(self) -> None:
        async for event in self.client:
            self.events.append(event)

    async def until(self, condition: Callable[[], bool]) -> float:
        """Waits until `condition` holds; returns how many seconds that took."""
        began = time.monotonic()
        await eventually(condition, lambda: f"topics {sorted(self.client.topics)}, heard {self.events}")
        return time.monotonic() - began

    async def follows(self, *topics: str) -> float:
        """Waits until exactly `topics` are followed; returns how many seconds that took."""
        return await self.until(lambda: self.client.topics == {*topics})

    def heard(self, topic: str) -> list[str]:
        """Returns the ids of the events of `topic` that have come."""
        return [event.id for event in self.events if event.topic == topic]


def desk(c: Cluster) -> SocialDesk:
    """Returns the desk of the social service."""
    return SocialDesk(c.http, c.of("social")[0].address, c.token)


async def ask(c: Cluster, user: str, method: str, path: str, body: Any = None) -> Any:
    """Asks the playlist service, as `user`."""
    status, answer = await c.request(user, method, "playlist", path, body)
    assert status < 300, answer
    return answer


async def make_mix(c: Cluster) -> None:
    await ask(c, "bob", "POST", "/v1/playlists", {"id": "mix", "name": "Mix", "tracks": ["t1"]})


async def enlisted(c: Cluster) -> None:
    """Returns when friends follow the playlists that there are: both services promise that, and do it behind their answers."""
    await kept(c.of("social")[0].work.stores.outbox)
    await kept(c.of("playlist")[0].work.stores.outbox, [STORED])


async def test_who_follows_friends_hears_of_them_and_their_playlists_and_of_each_change_once(tmp_path: Path) -> None:
    """SB-6, SB-8, SB-31: also where the playlist is followed by its name as well."""
    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        await make_mix(c)
        async with Fan(c, "ann") as ann, c.user("bob") as bob:
            await ann.follows(feed("bob"), MIX)
            await ann.client.subscribe(MIX)
            assert (await bob.ask("act", kind="play", track="1"))["op"] == "ok"
            await ask(c, "bob", "POST", "/v1/playlists/bob/mix/changes", {"change": {"op": "add", "tracks": ["t2"]}})
            await ann.until(lambda: len(ann.events) == 3)
            assert [event.payload["version"] for event in ann.events if event.topic == MIX] == [2]
            assert sorted(event.kind for event in ann.events if event.topic == feed("bob")) == ["play", "playlist"]


async def test_whoever_becomes_a_friend_on_another_device_is_heard_within_a_second_and_whoever_is_dropped_no_more(tmp_path: Path) -> None:
    """SB-6."""
    async with site(tmp_path) as c:
        await desk(c).follow("bob", "ann")
        async with Fan(c, "ann") as ann, c.user("bob") as bob:
            assert ann.client.topics == frozenset()
            await desk(c).follow("ann", "bob")
            assert await ann.follows(feed("bob")) < SOON_S
            await make_mix(c)
            assert await ann.follows(feed("bob"), MIX) < SOON_S
            await bob.ask("act", kind="play", track="1")
            await ann.until(lambda: any(event.kind == "play" for event in ann.events))
            await desk(c).unfollow("ann", "bob")
            assert await ann.follows() < SOON_S
            heard = len(ann.events)
            await bob.ask("act", kind="play", track="2")
            await ann.client.ping()
            assert len(ann.events) == heard


async def test_a_block_and_a_setting_end_it_and_what_was_named_stays_followed(tmp_path: Path) -> None:
    """AUTH-4, AUTH-5: a friend whom one may see again comes back."""
    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        await desk(c).befriend("ann", "cyd")
        async with Fan(c, "ann") as ann:
            await ann.follows(feed("bob"), feed("cyd"))
            await desk(c).show("bob", "nobody")
            assert await ann.follows(feed("cyd")) < SOON_S
            await desk(c).show("bob", "friends")
            assert await ann.follows(feed("bob"), feed("cyd")) < SOON_S
            await desk(c).show("cyd", "everyone")
            await ann.client.subscribe(feed("cyd"))
            await desk(c).unfollow("ann", "cyd")
            await ann.until(lambda: any(feed("cyd") in news.left for news in ann.news))
            assert feed("cyd") in ann.client.topics
            await desk(c).block("ann", "bob")
            assert await ann.follows(feed("cyd")) < SOON_S


async def test_a_linked_address_book_and_a_contact_who_joins_are_heard_without_a_new_connection(tmp_path: Path) -> None:
    """SB-4, SB-5: both ways, and the one who waited is told by one event."""
    async with site(tmp_path) as c:
        async with Fan(c, "ann") as ann, Fan(c, "bob") as bob, c.user("ann") as bell:
            await vouch(c, "ann", "ann@example.org", ["bob@example.org"])
            await vouch(c, "bob", "bob@example.org", ["ann@example.org"])
            assert await ann.follows(feed("bob")) < SOON_S
            assert await bob.follows(feed("ann")) < SOON_S
            await bell.heard(1)
            assert [event["payload"]["topic"] for event in bell.events] == ["hm://notifications/feed/ann%friend-joined/"]


async def vouch(c: Cluster, user: str, me: str, contacts: list[str]) -> None:
    headers = {"Authorization": f"Bearer {service_token('operator')}"}
    url = f"http://{c.of('social')[0].address}/v1/social/users/{user}/links/book"
    async with c.http.put(url, json={"me": me, "contacts": contacts}, headers=headers) as answer:
        assert answer.status == 202, await answer.text()


async def test_it_survives_a_reconnect_and_brings_what_was_missed_and_who_was_gained_meanwhile(tmp_path: Path) -> None:
    """SB-6, DPS-8."""
    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        await make_mix(c)
        async with Fan(c, "ann") as ann:
            await ann.follows(feed("bob"), MIX)
            await ask(c, "bob", "POST", "/v1/playlists/bob/mix/changes", {"change": {"op": "add", "tracks": ["t2"]}})
            await ann.until(lambda: len(ann.heard(MIX)) == 1)
            await ann.client.ping()
            for session in list(c.of("accesspoint")[0].core.sessions):
                session.abort()
            await ask(c, "bob", "POST", "/v1/playlists/bob/mix/changes", {"change": {"op": "add", "tracks": ["t3"]}})
            await desk(c).befriend("ann", "cyd")
            await ann.follows(feed("bob"), MIX, feed("cyd"))
            await ann.until(lambda: len(ann.heard(MIX)) == 2)
            assert [event.payload["version"] for event in ann.events if event.topic == MIX] == [2, 3]
            assert all(event.gap == 0 for event in ann.events)


async def test_what_stands_stands_while_social_is_lost_and_what_has_changed_comes_when_it_is_back(tmp_path: Path) -> None:
    """AUTH-10."""
    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        async with Fan(c, "ann") as ann:
            await ann.follows(feed("bob"))
            await c.crash("sto/social1")
            await c.play("bob", track="1")
            await ann.until(lambda: len(ann.heard(feed("bob"))) == 1)
            async with Fan(c, "ann") as second:
                assert (second.client.topics, second.news[-1].whole) == (frozenset(), False)
                await c.start("sto/social1")
                await desk(c).befriend("ann", "cyd")
                await second.follows(feed("bob"), feed("cyd"))
                await second.until(lambda: second.news[-1].whole)
                await ann.follows(feed("bob"), feed("cyd"))


async def test_nobody_who_does_not_ask_sees_anything_new(tmp_path: Path) -> None:
    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        async with c.user("ann") as ann:
            await desk(c).befriend("ann", "cyd")
            await ann.fence()
            assert ann.of("bob") == ann.of("cyd") == []
            assert c.of("accesspoint")[0].core.friends.rosters.asked == 0


async def test_who_is_followed_hears_of_it_once_and_not_at_all_where_they_have_switched_it_off(tmp_path: Path) -> None:
    async with site(tmp_path) as c, c.user("bob") as bell, c.user("cyd") as quiet:
        async with SettingsClient(f"http://{c.of('notification')[0].address}", c.token("cyd")) as settings:
            await settings.set_preferences(NotificationPreferences(channels={"new-follower": {"in-client": False}}))
        for followed in ("cyd", "bob"):
            await desk(c).follow("ann", followed)
            await desk(c).unfollow("ann", followed)
            await desk(c).follow("ann", followed)
        await desk(c).follow("dan", "bob")
        await bell.heard(2)
        await kept(c.of("social")[0].work.stores.outbox)
        told = [(event["payload"]["class"], event["payload"]["payload"]) for event in bell.events]
        assert sorted(told, key=str) == [("new-follower", {"user": "ann"}), ("new-follower", {"user": "dan"})]
        assert (await quiet.pull(since=0))["items"] == quiet.events == []


async def test_a_stream_without_a_websocket_follows_friends_too_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """SB-6, SB-31."""

    def stream(c: Cluster, last_id: str = "") -> EventSource:
        return EventSource(c.of("accesspoint")[0].address, c.token("ann"), [], follow="friends", last_id=last_id)

    async def add(c: Cluster, track: str) -> None:
        await ask(c, "bob", "POST", "/v1/playlists/bob/mix/changes", {"change": {"op": "add", "tracks": [track]}})

    async with site(tmp_path) as c:
        await desk(c).befriend("ann", "bob")
        await make_mix(c)
        await enlisted(c)
        async with stream(c) as source:
            assert {*(await source.next("followed"))["topics"]} == {feed("bob"), MIX}
            await source.next("subscribed")
            await add(c, "t2")
            assert (await version_of(source)) == 2
            here = await source.until_id()
        await add(c, "t3")
        async with stream(c, here) as source:
            heard = [await version_of(source)]
            while heard[-1] != 3:
                heard.append(await version_of(source))
            assert heard in ([3], [2, 3])
            assert (await source.next("subscribed"))["recovered"] is True
            await desk(c).befriend("ann", "cyd")
            while feed("cyd") not in (await source.next("followed"))["topics"]:
                pass
        async with stream(c, "7") as source:
            lost = await source.next("gap")
            assert (lost["reason"], {feed("bob"), MIX} <= {*lost["topics"]}) == ("expired", True)


async def test_friends_for_whom_a_connection_has_no_room_are_told_and_followed_when_there_is(tmp_path: Path) -> None:
    """DPS-26: a connection follows no more than it may."""

    def narrow(options: RoleOptions) -> RoleOptions:
        return (
            msgspec.structs.replace(options, max_topics=2, max_topics_per_message=2) if isinstance(options, AccessPointOptions) else options
        )

    async with site(tmp_path, change=narrow) as c:
        for friend in ("bob", "cyd", "dan"):
            await desk(c).befriend("ann", friend)
        async with Fan(c, "ann") as ann:
            point = c.of("accesspoint")[0]
            assert (len(ann.client.topics), ann.news[-1].beyond) == (2, 1)
            assert [point.counters()[f"accesspoint_friend_topics{name}"] for name in ("", "_beyond")] == [2, 1]
            (left,) = {feed("bob"), feed("cyd"), feed("dan")} - ann.client.topics
            first = next(iter(ann.client.topics))
            await desk(c).unfollow("ann", first.split("/")[-2])
            await ann.until(lambda: left in ann.client.topics and first not in ann.client.topics)
            await ann.until(lambda: ann.news[-1].beyond == 0)
            assert point.counters()["accesspoint_rosters"] == 1
        await eventually(lambda: point.counters()["accesspoint_rosters"] == 0, "the roster is kept")


async def version_of(source: EventSource) -> int:
    """Returns the version of the playlist of the next event of it."""
    while (event := await source.next())["topic"] != MIX:
        pass
    return int(event["payload"]["version"])
