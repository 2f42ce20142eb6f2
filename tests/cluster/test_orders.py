"""Orders of operators in whole clusters: one broker is asked, and every access point of every site answers (issue: server API)."""

import json
from pathlib import Path
from typing import Any

import msgspec

from infra.kernel.orders import POINT_S
from tests.support.cluster import Cluster
from tests.support.user import feed

DISCONNECTED = 4005


async def test_the_sessions_of_a_user_are_told_from_all_sites(tcp: bool) -> None:
    """Site, access point, device, since when, topics with their number, and what waits."""
    async with Cluster(sites=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", "sto", 1) as one, c.user("ann", "lon", device="mobile", client="phone") as two, c.user("bob"):
            await one.follow("dan", "eve")
            status, found = await c.operate("GET", "/v1/sessions?user=ann", site="lon")
            assert (status, found["sessions"], found["partial"], found["missing"]) == (200, 2, False, [])
            rows = {row["session"]: row for row in found["listed"]}
            here, there = rows[one.welcome["session"]], rows[two.welcome["session"]]
            assert (here["site"], here["node"], here["device"], here["topic_count"]) == ("sto", "ap2", "desktop", 2)
            assert (there["site"], there["device"], there["client"], there["topics"]) == ("lon", "mobile", "phone", [])
            assert sorted(here["topics"]) == [feed("dan"), feed("eve")]
            assert here["since_ms"] >= one.welcome["time_ms"] - 1000
            assert here["waiting_bytes"] == 0


async def test_a_user_is_sent_away_everywhere_and_a_session_alone() -> None:
    async with Cluster(sites=2) as c, c.user("ann", "sto") as one, c.user("ann", "lon") as two, c.user("bob", "lon") as bob:
        done = await c.operate("POST", "/v1/sessions/disconnect", {"session": two.welcome["session"]})
        assert done == (200, {"sessions": 1, "partial": False, "missing": []})
        await two.ended()
        assert one.closed is None
        status, answer = await c.operate("POST", "/v1/sessions/disconnect", {"user": "ann", "may_return": False})
        assert (status, answer["sessions"]) == (200, 1)
        said = await one.answer(lambda message: message["op"] == "error")
        assert (said["code"], said["reconnect"]) == ("disconnected", False)
        await one.ended()
        assert one.closed is not None
        assert one.closed[0] == DISCONNECTED
        await bob.fence()
        assert bob.closed is None


async def test_a_subscription_is_ended_and_the_client_is_told_which_and_why() -> None:
    async with Cluster(sites=2) as c, c.user("ann", "lon") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.follow("dan", "eve")
        status, answer = await c.operate("POST", "/v1/sessions/unsubscribe", {"user": "ann", "topic": feed("dan")})
        assert (status, answer["sessions"]) == (200, 1)
        ended = await ann.answer(lambda message: message["op"] == "ended")
        assert [(each["topic"], each["code"]) for each in ended["topics"]] == [(feed("dan"), "forbidden")]
        await c.settle()
        await c.play("dan", n=1)
        await c.play("eve", n=2)
        await bob.heard(2)
        assert [event["payload"]["n"] for event in await ann.heard(1)] == [2]


async def test_everybody_is_told_once_also_those_of_some_sites_only() -> None:
    async with Cluster(sites=2, accesspoints=2, aggregators=2) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "lon", 1) as bob:
            status, answer = await c.operate("POST", "/v1/announcements", {"text": "down at noon", "data": {"at": 12}})
            assert (status, answer["sessions"]) == (200, 2)
            for user in (ann, bob):
                said = await user.answer(lambda message: message["op"] == "announcement")
                assert (said["text"], said["data"]) == ("down at noon", {"at": 12})
            assert (await c.operate("POST", "/v1/announcements", {"text": "lon only", "sites": ["lon"]}))[1]["sessions"] == 1
            await bob.answer(lambda message: message["op"] == "announcement")
            for user in (ann, bob):
                await user.fence()
                assert user.answers == []


async def test_announcements_are_limited_and_a_site_that_is_not_there_is_refused() -> None:
    async with Cluster(sites=1) as c:
        assert (await c.operate("POST", "/v1/announcements", {"text": "x", "sites": ["nowhere"]}))[1]["code"] == "bad-field"
        codes = [await c.operate("POST", "/v1/announcements", {"text": "x"}) for _ in range(7)]
        assert [status for status, _ in codes] == [200] * 6 + [429]
        assert codes[-1][1]["code"] == "rate-limited"


async def test_what_some_readers_cannot_read_is_told_to_nobody() -> None:
    """An operator's data goes to every client, so it keeps the bounds of all JSON that is passed on (DPS-26)."""
    async with Cluster(sites=1) as c, c.user("ann") as ann:
        deep: dict[str, Any] = {}
        for _ in range(40):
            deep = {"a": deep}
        status, answer = await c.operate("POST", "/v1/announcements", {"text": "x", "data": deep})
        assert (status, answer["code"]) == (400, "bad-json")
        await ann.fence()
        assert ann.answers == []


async def test_who_does_not_answer_is_named_and_the_others_count() -> None:
    """A site that is cut off, and an access point that hangs: the answer is partial, and nothing hangs."""
    async with Cluster(sites=3, accesspoints=2) as c, c.user("ann", "sto") as ann, c.user("ann", "ash") as far:
        c.partition("sto", "lon")
        await c.settle()
        c.plan.hold(c.aggregator_of("sto", 1), "sto/ap2")
        status, found = await c.operate("GET", "/v1/sessions?user=ann")
        assert (status, found["partial"], found["missing"]) == (200, True, ["lon", "sto/ap2"])
        assert {row["session"] for row in found["listed"]} == {ann.welcome["session"], far.welcome["session"]}
        assert POINT_S < 2
        c.plan.release(c.aggregator_of("sto", 1), "sto/ap2")
        c.heal()
        await c.settle()


async def test_every_change_is_a_line_in_the_audit_log_and_no_line_says_a_secret(tmp_path: Path) -> None:
    """Who, what, on whom, when, from where, and what became of it; also of a change that was refused."""
    path = tmp_path / "audit.jsonl"
    async with Cluster(sites=1, audit=path) as c, c.user("ann"):
        await c.operate("POST", "/v1/sessions/disconnect", {"user": "ann"})
        await c.operate("POST", "/v1/bans", {"user": "bob", "seconds": 60})
        await c.operate("POST", "/v1/bans/lift", {"user": "bob"})
        await c.operate("POST", "/v1/revocations", {"jti": "t-1"})
        await c.operate("POST", "/v1/announcements", {"text": "PAYLOAD-OF-MINE"})
        await c.operate("POST", "/v1/revocations", {"user": "ann", "until": 1})
        await c.operate("GET", "/v1/sessions?user=ann")
    lines: list[dict[str, Any]] = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    assert [(line["what"], line["on"], line["result"]) for line in lines] == [
        ("disconnect", "user ann", "ok"),
        ("ban", "user bob", "ok"),
        ("unban", "user bob", "ok"),
        ("revoke", "token t-1", "ok"),
        ("announce", "everybody", "ok"),
        ("revoke", "user ann", "bad-field"),
    ]
    assert {(line["who"], line["from"]) for line in lines} == {("operator", "127.0.0.1")}
    assert all(line["token_id"] and line["ts"].endswith("Z") for line in lines)
    assert "PAYLOAD-OF-MINE" not in json.dumps(lines)
