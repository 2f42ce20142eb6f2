"""Who may see what, as social answers it from what users did and set: the whole table, and what changes it."""

from itertools import product

import msgspec
import pytest

from infra.kernel.access import AccessFacts, Listening, Relation, Visibility, verdict
from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, Topic, parse_topic
from tests.services.social.house import House
from tests.support.eventually import eventually

PLAYING, MIX = parse_topic("hm://presence/user/ann/"), parse_topic("hm://playlist/user/ann/playlist/mix/")
JOINED, ARTIST = parse_topic("hm://notifications/feed/ann%friend-joined/"), parse_topic("hm://notifications/feed/ann%new-album/")
INBOX = parse_topic("hm://notifications/inbox/ann/")
TOPICS = {Kind.USER: PLAYING, Kind.PLAYLIST: MIX, Kind.SOCIAL: JOINED, Kind.ARTIST: ARTIST, Kind.INBOX: INBOX}
ASKERS = {
    "ann": Relation.SELF,
    "friend": Relation.FRIENDS,
    "fan": Relation.FOLLOWER,
    "idol": Relation.STRANGER,  # ann follows them, and not the other way round
    "nobody": Relation.STRANGER,
    "blocked": Relation.BLOCKED,
    "blocker": Relation.BLOCKED,
}


async def may_see(house: House, user: str, *topics: Topic) -> list[int]:
    return msgspec.msgpack.decode(await house.call(user, "may-see", msgspec.msgpack.encode(topics)), type=list[int])


async def relate(house: House) -> None:
    """Makes `ASKERS` what they are to ann."""
    await house.befriend("friend", "ann")
    await house.befriend("fan", "ann")
    await house.befriend("ann", "friend", "idol")
    await house.ask("ann", "PUT", "/blocks/blocked")
    await house.ask("blocker", "PUT", "/blocks/ann")


async def test_every_kind_every_relation_every_setting(house: House) -> None:
    """AUTH-1, AUTH-2, AUTH-3, AUTH-4, AUTH-5, AUTH-6, AUTH-9: what social answers is what the policy says, row by row."""
    await house.start()
    await relate(house)
    for listening, visibility in product(Listening, Visibility):
        await house.ask("ann", "PUT", "/privacy", {"listening": listening})
        await house.ask("ann", "PUT", "/playlists/mix", {"visibility": visibility})
        for asker, relation in ASKERS.items():
            rules = [verdict(kind, AccessFacts(relation, listening, visibility)) for kind in TOPICS]
            assert await may_see(house, asker, *TOPICS.values()) == [0 if rule is None else rule.number for rule in rules], (
                asker,
                listening,
            )
        for kind, topic in TOPICS.items():
            rules = [verdict(kind, AccessFacts(relation, listening, visibility)) for relation in ASKERS.values()]
            expected = bytes(0 if rule is None else rule.number for rule in rules)
            assert await house.call("ann", "who-may-see", msgspec.msgpack.encode((topic, list(ASKERS)))) == expected


async def test_blocking_ends_what_both_follow_of_each_other_and_neither_follows_again(house: House) -> None:
    """AUTH-4: and the refusal reads the same for both."""
    await house.start()
    await house.befriend("ann", "bob", "cyd")
    await house.befriend("bob", "ann")
    for _ in range(2):
        assert await house.ask("ann", "PUT", "/blocks/bob") == (204, None)
    assert await house.ask("ann", "GET", "/blocks") == (200, {"blocked": ["bob"], "next": None})
    assert await house.ask("bob", "GET", "/blocks") == (200, {"blocked": [], "next": None})
    assert (await house.friends("ann"), await house.friends("bob")) == ({"cyd": False}, {})
    answers = [await house.ask(user, "PUT", f"/friends/{other}") for user, other in (("ann", "bob"), ("bob", "ann"))]
    assert [(status, error["code"]) for status, error in answers] == [(403, "forbidden")] * 2
    assert answers[0][1]["reason"].replace("bob", "ann") == answers[1][1]["reason"]
    await house.quiet()
    assert {("unfollow-owner", "ann", "bob"), ("unfollow-owner", "bob", "ann")} <= set(house.shares())
    assert await house.ask("ann", "DELETE", "/blocks/bob") == (204, None)
    assert (await house.friends("ann"), await house.friends("bob")) == ({"cyd": False}, {})
    await house.befriend("bob", "ann")


async def test_who_blocks_each_other_is_not_made_a_friend_by_an_address_book(house: House) -> None:
    """AUTH-4."""
    await house.start()
    await house.ask("ann", "PUT", "/blocks/bob")
    await house.link("ann", "bob", "cyd")
    await house.link("bob", "ann")
    await house.link("cyd", "ann")
    assert (await house.friends("ann"), await house.friends("bob")) == ({"cyd": True}, {})
    assert house.told() == [("ann", "cyd")]


async def test_editors_see_a_private_playlist_and_edit_it_and_nobody_else_does(house: House) -> None:
    """AUTH-6, AUTH-7."""
    await house.start()
    await relate(house)
    await house.ask("ann", "PUT", "/playlists/mix", {"visibility": "private"})
    for editor in ("nobody", "blocked"):
        status, access = await house.ask("ann", "PUT", f"/playlists/mix/editors/{editor}")
        assert status == 200
    assert access == {"playlist": "mix", "visibility": "private", "editors": ["blocked", "nobody"]}

    async def edits(user: str) -> int:
        return msgspec.msgpack.decode(await house.call(user, "may-edit", msgspec.msgpack.encode(MIX)), type=int)

    assert [await may_see(house, user, MIX) for user in ASKERS] == [[0], [6], [6], [6], [0], [4], [4]]
    assert [await edits(user) for user in ASKERS] == [0, 6, 6, 6, 0, 4, 4]
    await house.ask("ann", "PUT", "/playlists/mix", {"visibility": "followers"})
    assert [await edits(user) for user in ASKERS] == [0, 7, 7, 6, 0, 4, 4]
    for editor in ("nobody", "blocked"):
        await house.ask("ann", "DELETE", f"/playlists/mix/editors/{editor}")
    assert [await edits(user) for user in ASKERS] == [0, 0, 0, 6, 6, 4, 4]
    assert await house.ask("ann", "GET", "/playlists/mix") == (200, {"playlist": "mix", "visibility": "followers", "editors": []})


async def test_what_is_not_set_is_as_the_options_say(house: House) -> None:
    await house.start(default_listening=Listening.EVERYONE, default_playlist=Visibility.PRIVATE)
    assert await may_see(house, "bob", PLAYING, MIX) == [0, 6]
    assert await house.ask("ann", "GET", "/privacy") == (200, {"listening": "everyone", "private": []})
    assert (await house.ask("ann", "GET", "/playlists/mix"))[1]["visibility"] == "private"


async def test_services_learn_who_of_many_sees_a_topic_and_who_follows_its_owner(house: House) -> None:
    """AUTH-5, AUTH-6: the audience of a notification, in one call."""
    await house.start()
    await relate(house)
    await house.ask("ann", "PUT", "/playlists/mix", {"visibility": "followers"})
    asked = msgspec.msgpack.encode((MIX, list(ASKERS)))
    assert list(await house.call("ann", "who-sees", asked)) == [1, 3, 3, 0, 0, 0, 0]
    asked = msgspec.msgpack.encode((PLAYING, list(ASKERS)))
    assert list(await house.call("ann", "who-sees", asked)) == [1, 3, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("op", ["may-see", "may-edit", "who-sees"])
@pytest.mark.parametrize("body", [b"", b"[", msgspec.msgpack.encode(["a"]), msgspec.msgpack.encode([[b"Uann"] * 2001, []])])
async def test_a_question_that_cannot_be_understood_is_refused(house: House, op: str, body: bytes) -> None:
    """AUTH-10."""
    await house.start()
    with pytest.raises(Refused, match="bad-field"):
        await house.call("ann", op, body)


@pytest.mark.parametrize("topics", [[b"Uann"] * 2001, [b"Uann", b"x"], [b"Uann", b"U"], [b"U" + b"a" * 129]])
async def test_too_many_topics_and_what_is_no_topic_are_refused(house: House, topics: list[bytes]) -> None:
    """AUTH-10."""
    await house.start()
    with pytest.raises(Refused, match="topic"):
        await house.call("bob", "may-see", msgspec.msgpack.encode(topics))
    assert await may_see(house, "bob", *[Topic(b"Aa%new-album")] * 2000) == [0] * 2000


async def test_every_change_is_told_to_who_has_asked_and_to_nobody_before(house: House) -> None:
    """AUTH-4 to AUTH-8: which pairs must be asked about again."""
    await house.start()
    await house.befriend("ann", "zoe")
    assert await may_see(house, "bob", PLAYING) == [5]
    assert house.point.barred == []

    async def told(method: str, path: str, body: object = None, user: str = "ann") -> set[tuple[str, str]]:
        house.point.barred.clear()
        assert (await house.ask(user, method, path, body))[0] < 300
        await eventually(lambda: bool(house.point.barred))
        return set(house.point.barred)

    both = {("ann", "bob"), ("bob", "ann")}
    assert await told("PUT", "/friends/bob") == both
    assert await told("DELETE", "/friends/bob") == both
    assert await told("PUT", "/blocks/bob") == both
    assert await told("DELETE", "/blocks/bob") == both
    assert await told("PUT", "/privacy", {"listening": "everyone"}) == {("ann", "-")}
    assert await told("PUT", "/playlists/mix", {"visibility": "public"}) == {("ann", "-")}
    assert await told("PUT", "/playlists/mix/editors/bob") == {("ann", "bob")}
    assert await told("DELETE", "/playlists/mix/editors/bob") == {("ann", "bob")}
    assert await told("PUT", "/private/desk", {}) == {("ann", "ann")}
    assert await told("DELETE", "/private/desk") == {("ann", "ann")}
    house.point.barred.clear()
    await house.link("ann")
    await house.list_contacts("bob", "ann")
    assert set(house.point.barred) == both


async def test_a_device_is_private_until_it_is_ended_or_the_hours_have_passed(house: House) -> None:
    """AUTH-8: as a client asks, and as an access point asks when the device comes back."""
    await house.start()
    assert await house.ask("ann", "PUT", "/private/desk%201", {}) == (200, {"client": "desk 1", "until_ms": None})
    status, phone = await house.ask("ann", "PUT", "/private/phone", {"hours": 2})
    assert (status, phone["client"]) == (200, "phone")
    shown = {"listening": "friends", "private": [{"client": "desk 1", "until_ms": None}, phone]}
    assert await house.ask("ann", "GET", "/privacy") == (200, shown)
    assert await house.ask("ann", "DELETE", "/private/desk%201") == (204, None)
    assert (await house.ask("ann", "GET", "/privacy"))[1]["private"] == [phone]
    assert await house.private("ann", "phone") == phone["until_ms"]
    assert await house.private("ann", "desk 1") == await house.private("bob", "phone") == 0
    answer = await house.say("ann", "tv", "private", b'{"op":"private","id":7,"on":true}')
    assert msgspec.json.decode(answer) == {"op": "private", "id": 7, "on": True, "until_ms": (1 << 53) - 1}
    assert await house.private("ann", "tv") == (1 << 53) - 1
    answer = await house.say("ann", "tv", "private", b'{"op":"private","id":"x","on":false}')
    assert msgspec.json.decode(answer) == {"op": "private", "id": "x", "on": False, "until_ms": 0}
    for wrong in (b"{}", b'{"on":true,"hours":0}', b'{"on":true,"hours":1e999}', b'{"on":1}', b"\xff"):
        with pytest.raises(Refused, match="bad-"):
            await house.say("ann", "tv", "private", wrong)
    with pytest.raises(Refused, match="bad-field"):
        await house.say("ann", "", "private", b'{"on":true}')
