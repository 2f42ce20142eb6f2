"""Social as a whole: a real role, its HTTP door, links in memory to a playlist service and an access point, a real intake."""

import json
from typing import Any

import msgspec
import pytest

from infra.kernel.errors import Refused
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.loops import METRICS as LOOPS
from services.social.metrics import METRICS
from tests.services.scripted_service import ScriptedService
from tests.services.social.house import FACEBOOK, JOINED, PAGE, House
from tests.support.eventually import eventually
from tests.support.samples import service_token, user_token


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
    house.playlist = ScriptedService(house.network, "playlist", "sto/l1", lambda call: b"{}")
    async with house.playlist:
        await house.quiet()
        assert set(house.shares()) == {("follow-owner", "ann", "bob"), ("unfollow-owner", "ann", "cyd")}
    assert house.told() == []


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
    assert await house.ask("ann", "GET", "/links") == (200, {"links": [{"provider": FACEBOOK, "contacts": 2, "verified": True}]})
    assert await house.ask("ann", "DELETE", f"/links/{FACEBOOK}") == (204, None)
    assert await house.ask("ann", "GET", "/links") == (200, {"links": []})
    await house.link("new")
    assert (house.told(), await house.friends("ann")) == ([], {"bob": True})


async def test_whoever_claims_another_persons_address_keeps_nobody_out_and_is_made_nobodys_friend(house: House) -> None:
    """A claim counts when a service vouches for it, and only then."""
    await house.start()
    await house.list_contacts("eve", "bob", me="ann")
    await house.link("bob", "ann")
    await house.link("ann", "bob")
    assert await house.friends("bob") == {"ann": True}
    assert await house.friends("ann") == {"bob": True}
    assert await house.friends("eve") == {"bob": False}
    assert house.told() == [("bob", "ann"), ("eve", "bob")]
    listed = {"links": [{"provider": FACEBOOK, "contacts": 1, "verified": False}]}
    assert await house.ask("eve", "GET", "/links") == (200, listed)


async def test_an_address_book_of_ones_own_makes_friends_of_those_who_know_each_other_and_else_followers(house: House) -> None:
    """SB-4, SB-5: whoever only knows somebody's address is not followed by them."""
    await house.start()
    for user in ("ann", "bob", "cyd"):
        await house.link(user)
    await house.list_contacts("ann", "bob", "cyd", "late")
    await house.list_contacts("bob", "ann")
    assert await house.friends("ann") == {"bob": True, "cyd": False}
    assert (await house.friends("bob"), await house.friends("cyd")) == ({"ann": True}, {})
    await house.link("late")
    assert (await house.friends("ann"), await house.friends("late")) == ({"bob": True, "cyd": False, "late": False}, {})
    assert house.told() == [("ann", "late")]


async def test_who_a_user_is_elsewhere_is_said_by_the_services_of_the_option_alone(house: House) -> None:
    await house.start(vouchers=["accounts"])
    book = {"me": "id of ann"}
    for path, method, body in (("/users/ann/links/facebook", "PUT", book), ("/users/ann/links/facebook", "DELETE", None)):
        for token in (service_token("operator"), service_token("playlist"), user_token("ann")):
            status, error = await house.ask("", method, path, body, token=token)
            assert (status, error["code"]) == (403, "forbidden")
        assert (await house.ask("", method, path, body, token=service_token("accounts")))[0] < 300


async def test_a_service_that_takes_back_its_word_is_believed_too(house: House) -> None:
    await house.start()
    await house.link("ann", "bob")
    assert await house.ask("", "DELETE", "/users/ann/links/facebook", token=service_token("operator")) == (204, None)
    await house.link("bob", "ann")
    assert (await house.friends("ann"), await house.ask("ann", "GET", "/links")) == ({}, (200, {"links": []}))


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
    await house.ask("", "PUT", f"/users/new/links/{FACEBOOK}", {"me": "id of new"}, token=service_token("operator"))
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
    # The token of a monitor lies on machines that only read figures (DPS-25).
    status, error = await house.ask("", "GET", "/users/ann/friends", token=service_token("monitor"))
    assert (status, error["code"]) == (403, "forbidden")
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


async def test_a_house_without_neighbours_promises_them_nothing(house: House) -> None:
    await house.start(playlist=[], wall="", notification=[])
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
    assert len(shown) == 6
    for method, path, body in shown:
        for name, value in (("{provider}", "address-book"), ("{client}", "desk"), ("{playlist}", "mix"), ("{user}", "ann")):
            path = path.replace(name, value)
        token = service_token("operator") if path.startswith("/v1/social/users/") else ""
        status, _ = await house.ask("ann", method, path.removeprefix("/v1/social"), body, token=token)
        assert status in (200, 202)
