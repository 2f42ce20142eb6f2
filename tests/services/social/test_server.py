"""Social as a whole: a real role, its HTTP door, links in memory to a playlist service and an access point, a real intake."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from infra.kernel.errors import Refused
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.loops import METRICS as LOOPS
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from services.social.metrics import METRICS
from services.social.options import SocialOptions
from services.social.server import SocialService
from tests.services.artist.contract_intake import ContractIntake
from tests.services.artist.openapi_page import OpenapiPage
from tests.services.recording_intake import DEADLINE_S, eventually
from tests.services.scripted_service import ScriptedService
from tests.support.cluster import FAST
from tests.support.samples import SECRET, service_token, user_token

PAGE = OpenapiPage("openapi-social.json")
JOINED = "hm://notifications/feed/{}%friend-joined/"
FACEBOOK = "facebook"


class House:
    """A social service `role`. `point` is an access point that is linked to it, `playlist` the playlist service that it calls."""

    def __init__(self, folder: Path, intake: ContractIntake) -> None:
        self.intake, self.folder = intake, folder
        self.wall = folder / "wall.jsonl"
        self.network = MemoryNetwork()
        self.point = ScriptedService(self.network, "accesspoint", "sto/ap1")
        self.playlist = ScriptedService(self.network, "playlist", "sto/l1")
        self.role: SocialService

    async def start(self, **options: Any) -> None:
        """Starts the service, also anew after `role.close`."""
        wanted = {"playlist": ["sto/l1"], "wall": str(self.wall), "notification": [self.intake.url]} | options
        shape = SocialOptions(
            site="sto", node="f1", listen="sto/f1", door="127.0.0.1:0", link=FAST, path=str(self.folder / "state"), **wanted
        )
        verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        log = get_logger("social", "f1", "sto")
        self.role = SocialService(shape, Context(network=self.network, log=log, rng=random.Random(1)), verifier, service_token)
        await self.role.start()

    async def ask(self, user: str, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Returns status and document of `method` and `path` for `user`, which are as docs/openapi-social.json describes them."""
        headers = {"Authorization": f"Bearer {token or user_token(user)}"}
        extra = {} if body is None else {"json": body}
        url = f"http://{self.role.address}/v1/social{path}"
        async with aiohttp.ClientSession() as http, http.request(method, url, headers=headers, **extra) as answer:
            document = await answer.json() if answer.content_type == "application/json" else None
        PAGE.check_answer(method, f"/v1/social{path}", answer.status, document)
        return answer.status, document

    async def befriend(self, user: str, *friends: str) -> None:
        for friend in friends:
            assert (await self.ask(user, "PUT", f"/friends/{friend}"))[0] == 200

    async def link(self, user: str, *contacts: str, provider: str = FACEBOOK) -> None:
        """Links `user`, who is "id of user" at the provider. What follows from it has been done when this returns."""
        book = {"me": f"id of {user}", "contacts": [f"id of {contact}" for contact in contacts]}
        status, answer = await self.ask(user, "PUT", f"/links/{provider}", book)
        assert (status, answer) == (202, {"provider": provider, "contacts": len(set(contacts) - {user})})
        await self.quiet()

    async def friends(self, user: str) -> dict[str, bool]:
        """Returns whom `user` follows, and whether it is mutual; through pages."""
        found: dict[str, bool] = {}
        after: str | None = ""
        while after is not None:
            _, page = await self.ask(user, "GET", f"/friends?limit=2&after={after}")
            found |= {each["user"]: each["mutual"] for each in page["friends"]}
            after = page["next"]
        return found

    async def call(self, user: str, op: str, body: bytes) -> bytes:
        """Calls `op` for `user` with `body`, as an access point or another service does."""
        await eventually(lambda: not self.point.peers.missing())
        return await self.point.peers.call("social", user, op, body)

    async def quiet(self) -> None:
        """Waits until everything that was promised is done."""
        deadline_s = time.monotonic() + DEADLINE_S
        while await self.role.work.stores.outbox.undone(0, 1):
            assert time.monotonic() < deadline_s, "promises are not kept"
            await asyncio.sleep(0.001)

    def shares(self) -> list[tuple[str, str, str]]:
        """Returns who was made to follow, or not to follow, whose playlists."""
        return sorted((call.op, call.user, json.loads(call.body)["owner"]) for call in self.playlist.calls)

    def told(self) -> list[tuple[str, str]]:
        """Returns who was told that who has joined."""
        for head in self.intake.heads.values():
            (follower,) = self.intake.followers[head["id"]]
            assert (head["topic"], head["kind"], head["producer"]) == (JOINED.format(follower), "friend-joined", head["payload"]["user"])
        return sorted((next(iter(self.intake.followers[n])), head["payload"]["user"]) for n, head in self.intake.heads.items())

    def posts(self) -> list[tuple[str, str]]:
        """Returns what is on walls: user and kind."""
        lines = self.wall.read_text(encoding="utf-8").splitlines() if self.wall.exists() else []
        return [(post["user"], post["kind"]) for post in map(json.loads, lines)]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with ContractIntake() as intake:
        house = House(tmp_path, intake)
        async with house.point, house.playlist:
            house.point.dial("social", "sto/f1")
            yield house
            await house.role.close()


async def test_following_a_user_is_one_way_until_he_follows_back(house: House) -> None:
    await house.start()
    assert await house.ask("ann", "PUT", "/friends/bob") == (200, {"user": "bob", "mutual": False})
    assert await house.ask("bob", "PUT", "/friends/ann") == (200, {"user": "ann", "mutual": True})
    await house.befriend("ann", "cyd", "dan", "bob")
    assert await house.friends("ann") == {"bob": True, "cyd": False, "dan": False}
    for _ in range(2):
        assert await house.ask("ann", "DELETE", "/friends/bob") == (204, None)
    assert await house.friends("ann") == {"cyd": False, "dan": False}
    assert await house.friends("bob") == {"ann": False}


async def test_following_a_user_follows_his_playlists_by_default_and_ends_with_it(house: House) -> None:
    """SB-6: the playlist service is told, and told again when it was away."""
    await house.start()
    await house.playlist.__aexit__()
    await house.befriend("ann", "bob")
    await house.befriend("ann", "cyd")
    await house.ask("ann", "DELETE", "/friends/cyd")
    assert house.shares() == []
    house.playlist = ScriptedService(house.network, "playlist", "sto/l1")
    async with house.playlist:
        await house.quiet()
        assert set(house.shares()) == {("follow-owner", "ann", "bob"), ("unfollow-owner", "ann", "cyd")}
    assert house.intake.posts.total() == 0


async def test_linking_an_account_makes_friends_of_all_contacts_who_are_users_both_ways(house: House) -> None:
    """SB-4, SB-6."""
    await house.start()
    for user in ("bob", "cyd", "dan"):
        await house.link(user)
    await house.link("ann", "bob", "cyd", "nobody", "bob", "ann")
    assert await house.friends("ann") == {"bob": True, "cyd": True}
    assert await house.friends("bob") == await house.friends("cyd") == {"ann": True}
    assert await house.friends("dan") == {}
    pairs = [("ann", "bob"), ("ann", "cyd"), ("bob", "ann"), ("cyd", "ann")]
    assert house.shares() == [("follow-owner", user, owner) for user, owner in pairs]
    assert house.told() == []  # they did not wait for this user


async def test_when_a_contact_joins_later_each_friend_who_waited_is_told_once_and_both_follow_each_other(house: House) -> None:
    """SB-5, SB-8: one Social event per existing friend and no other; linking again tells nobody."""
    await house.start()
    for user in ("ann", "bob", "cyd"):
        await house.link(user, "new", "somebody else")
    await house.link("dan", "somebody else")
    for _ in range(2):
        await house.link("new", "ann", "bob")
        assert house.told() == [("ann", "new"), ("bob", "new"), ("cyd", "new")]
    assert await house.friends("new") == {"ann": True, "bob": True, "cyd": True}
    assert await house.friends("ann") == {"new": True}
    assert house.intake.posts.total() == 3
    assert set().union(*house.intake.flags.values()) == {(True, False)}


async def test_who_knows_each_other_at_two_providers_is_told_once(house: House) -> None:
    """SB-5."""
    await house.start()
    for provider in ("facebook", "address-book"):
        await house.link("ann", "new", provider=provider)
    for provider in ("facebook", "address-book"):
        await house.link("new", provider=provider)
    assert house.told() == [("ann", "new")]


async def test_a_friend_who_does_not_want_to_be_told_is_not_told(house: House) -> None:
    """SB-12: what an access point relays decides; the friendship comes about all the same."""
    await house.start()
    await house.link("ann", "new")
    await house.call("ann", "unfollow", msgspec.json.encode({"topics": [JOINED.format("ann")]}))
    await house.link("new")
    assert (house.told(), await house.friends("ann")) == ([], {"new": True})
    await house.link("bob", "newer")
    await house.call("bob", "unfollow", msgspec.json.encode({"topics": [JOINED.format("bob")]}))
    await house.call("bob", "follow", msgspec.json.encode({"topics": [JOINED.format("bob")]}))
    await house.link("newer")
    assert house.told() == [("bob", "newer")]


async def test_nobody_follows_who_of_others_friends_has_joined(house: House) -> None:
    await house.start()
    with pytest.raises(Refused, match="forbidden"):
        await house.call("eve", "follow", msgspec.json.encode({"topics": [JOINED.format("ann")]}))
    with pytest.raises(Refused, match="bad-topic"):
        await house.call("eve", "follow", msgspec.json.encode({"topics": ["hm://presence/user/ann/"]}))


async def test_a_friend_who_was_dropped_does_not_come_back_with_the_next_look_at_the_address_book(house: House) -> None:
    await house.start()
    await house.link("bob")
    await house.link("ann", "bob")
    await house.ask("ann", "DELETE", "/friends/bob")
    await house.link("ann", "bob", "cyd")
    assert await house.friends("ann") == {}


async def test_unlinking_forgets_and_friends_stay(house: House) -> None:
    await house.start()
    await house.link("bob")
    await house.link("ann", "bob", "new")
    assert await house.ask("ann", "GET", "/links") == (200, {"links": [{"provider": FACEBOOK, "contacts": 2}]})
    assert await house.ask("ann", "DELETE", f"/links/{FACEBOOK}") == (204, None)
    assert await house.ask("ann", "GET", "/links") == (200, {"links": []})
    await house.link("new")
    assert (house.told(), await house.friends("ann")) == ([], {"bob": True})


async def test_an_external_id_of_somebody_else_is_a_conflict(house: House) -> None:
    await house.start()
    await house.link("ann")
    status, error = await house.ask("eve", "PUT", f"/links/{FACEBOOK}", {"me": "ID of Ann", "contacts": ["id of bob"]})
    assert (status, error["code"]) == (409, "conflict")
    assert await house.ask("eve", "GET", "/links") == (200, {"links": []})


async def test_no_external_id_is_ever_on_the_disk(house: House) -> None:
    """Privacy: only hashes under the store's salt."""
    await house.start()
    await house.link("ann", "bob", "cyd")
    await house.link("bob", "ann")
    await house.role.close()
    for file in (house.folder / "state").iterdir():
        assert b"id of" not in file.read_bytes()


async def test_what_was_promised_before_a_crash_is_kept_after_it_and_once(house: House) -> None:
    """SB-5: the intake is away, then the service; each friend is told once all the same."""
    await house.start()
    for user in ("ann", "bob"):
        await house.link(user, "new")
    house.intake.down = 1000
    await house.ask("new", "PUT", f"/links/{FACEBOOK}", {"me": "id of new", "contacts": []})
    await eventually(lambda: house.intake.posts.total() >= 2)
    await house.role.close()
    assert house.told() == []
    house.intake.down = 0
    await house.start()
    await house.quiet()
    assert house.told() == [("ann", "new"), ("bob", "new")]


async def test_who_is_subscribed_to_a_users_feed_is_told_to_him_and_to_services(house: House) -> None:
    """SB-34: over HTTP and over links, with the same answer."""
    await house.start()
    for user in ("bob", "cyd", "dan"):
        await house.befriend(user, "ann")
    await house.befriend("ann", "eve")
    whole = (200, {"friends": ["bob", "cyd", "dan"], "next": None})
    assert await house.ask("ann", "GET", "/users/ann/friends") == whole
    assert await house.ask("", "GET", "/users/ann/friends", token=service_token("playlist")) == whole
    _, page = await house.ask("ann", "GET", "/users/ann/friends?limit=2")
    assert (page["friends"], page["next"] is None) == (["bob", "cyd"], False)
    answer = await house.call("playlist", "friends", msgspec.json.encode({"user": "ann", "after": page["next"], "limit": 1000}))
    assert msgspec.json.decode(answer) == {"friends": ["dan"], "next": None}
    asked = msgspec.msgpack.encode(["ann", ["bob", "eve", "dan", "nobody"]])
    assert await house.call("ann", "is-friend", asked) == bytes([1, 0, 1, 0])
    status, error = await house.ask("eve", "GET", "/users/ann/friends")
    assert (status, error["code"]) == (403, "forbidden")


@pytest.mark.parametrize("op", ["friends", "is-friend", "follow"])
async def test_a_call_that_cannot_be_understood_is_refused(house: House, op: str) -> None:
    await house.start()
    with pytest.raises(Refused, match="bad-field"):
        await house.call("ann", op, b"[")


async def test_only_users_who_opted_in_have_something_on_their_wall(house: House) -> None:
    """SB-34: friend events and what services send."""
    await house.start()
    await house.befriend("ann", "bob")
    assert await house.ask("ann", "PUT", "/wall", {"enabled": True}) == (200, {"enabled": True})
    await house.link("ann", "new")
    await house.link("eve", "new")
    await house.link("new")
    await house.befriend("ann", "bob", "cyd")
    await house.quiet()
    await house.quiet()
    assert sorted(house.posts()) == [("ann", "friend"), ("ann", "friend-joined")]
    for user in ("ann", "bob"):
        await house.call(user, "post", json.dumps({"id": f"p-{user}", "kind": "playlist", "payload": {"change": "add"}}).encode())
    await house.quiet()
    assert house.posts()[-1] == ("ann", "playlist")
    assert await house.ask("ann", "PUT", "/wall", {"enabled": False}) == (200, {"enabled": False})
    assert await house.ask("ann", "GET", "/wall") == (200, {"enabled": False})
    await house.befriend("ann", "dan")
    await house.quiet()
    assert len(house.posts()) == 3


async def test_who_opts_out_before_a_post_is_up_has_none(house: House) -> None:
    """SB-34: the wall cannot be written; meanwhile ann thinks better of it."""
    house.wall.mkdir()
    await house.start()
    await house.ask("ann", "PUT", "/wall", {"enabled": True})
    await house.befriend("ann", "bob")
    await eventually(lambda: house.role.counters()["social_outbox_retries_total"])
    await house.ask("ann", "PUT", "/wall", {"enabled": False})
    house.wall.rmdir()
    await house.quiet()
    assert house.posts() == []


WRONG = [
    ("PUT", "/friends/ann", None, "bad-field"),
    ("PUT", "/friends/a%20b", None, "bad-field"),
    ("GET", "/friends?limit=1001", None, "bad-field"),
    ("PUT", "/links/Face%20Book", {"me": "x", "contacts": []}, "bad-field"),
    ("PUT", "/links/facebook", {"me": "", "contacts": []}, "bad-field"),
    ("PUT", "/links/facebook", {"me": "x", "contacts": ["y"] * 5001}, "bad-field"),
    ("PUT", "/links/facebook", {"me": "x", "contacts": [], "salt": ""}, "bad-field"),
    ("PUT", "/wall", {"enabled": 1}, "bad-field"),
]


@pytest.mark.parametrize(("method", "path", "body", "code"), WRONG)
async def test_what_is_wrong_in_a_request_is_said(house: House, method: str, path: str, body: Any, code: str) -> None:
    await house.start()
    status, error = await house.ask("ann", method, path, body)
    assert (status, error["code"]) == (400, code)


async def test_more_friends_than_one_may_have_are_refused(house: House) -> None:
    await house.start(max_followed=2)
    await house.befriend("ann", "bob", "cyd")
    status, error = await house.ask("ann", "PUT", "/friends/dan")
    assert (status, error["code"]) == (400, "too-many-topics")


async def test_a_house_without_playlists_and_walls_promises_them_nothing(house: House) -> None:
    await house.start(playlist=[], wall="")
    await house.ask("ann", "PUT", "/wall", {"enabled": True})
    await house.befriend("ann", "bob")
    assert house.role.counters()["social_outbox_done_total"] == house.role.counters()["social_outbox_waiting"] == 0


async def test_all_of_it_on_cassandra(house: House, cassandra_store: Cassandra) -> None:
    """SB-4, SB-5, SB-6, SB-34, over a restart."""
    await house.start(store="cassandra", cassandra=cassandra_store.options)
    await house.link("ann", "new")
    await house.link("bob", "new", "ann")
    await house.ask("ann", "PUT", "/wall", {"enabled": True})
    await house.role.close()
    await house.start(store="cassandra", cassandra=cassandra_store.options)
    await house.link("new", "ann")
    await house.befriend("cyd", "ann")
    await house.quiet()
    await house.quiet()
    assert house.told() == [("ann", "new"), ("bob", "new")]
    assert await house.friends("ann") == {"bob": True, "new": True}
    assert len(house.shares()) == 7
    assert house.posts() == [("ann", "friend-joined")]
    status, page = await house.ask("ann", "GET", "/users/ann/friends")
    assert (status, sorted(page["friends"])) == (200, ["bob", "cyd", "new"])


async def test_everything_that_is_counted_is_described(house: House) -> None:
    await house.start()
    await eventually(lambda: house.role.ready() is None)
    assert house.role.counters().keys() == {metric.name for metric in (*METRICS, *LOOPS)}


async def test_every_request_that_is_shown_is_accepted(house: House) -> None:
    """docs/openapi-social.json."""
    await house.start()
    shown = list(PAGE.requests())
    assert len(shown) == 2
    for method, path, body in shown:
        status, _ = await house.ask("ann", method, path.removeprefix("/v1/social").replace("{provider}", "address-book"), body)
        assert status in (200, 202)
