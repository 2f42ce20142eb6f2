"""The ring of a site, as operators see and change it, in a whole cluster (DPS-15)."""

from typing import Any

import msgspec
import pytest

from broker.server import Broker
from infra.kernel.frames import OLD_TAG
from tests.support.cluster import Cluster
from tests.support.peer import Peer

FULL = {"b1": 256, "b2": 256, "b3": 256}
USERS = [f"u{n}" for n in range(12)]


async def change(c: Cluster, goal: dict[str, int], before: dict[str, int] = FULL, **how: Any) -> tuple[int, Any]:
    return await c.operate("POST", "/v1/ring", {"site": "sto", "goal": goal, "before": before}, **how)


async def there(c: Cluster, shares: dict[str, int]) -> None:
    """Waits until every broker goes by these shares, and has said that it is done."""
    brokers: list[Broker] = c.of("broker", "sto")
    await c.until(lambda: all(each.view().share_of == shares and each.view().is_there for each in brokers))
    await c.until(lambda: all(each.mesh.membership.done() >= shares.keys() for each in brokers))


async def test_a_broker_is_drained_and_taken_in_again_by_any_broker_of_its_site_and_no_event_is_lost() -> None:
    """DPS-15: who is drained stays in the view, serves its door, and owns nothing."""
    async with Cluster(sites=2, brokers=3) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.follow(*USERS)
        status, state = await change(c, {"b2": 0}, broker=2)
        assert (status, state["site"], state["broker"]) == (200, "sto", "b3")
        assert {each["slot"]: each["goal"] for each in state["slots"]} == FULL | {"b2": 0}
        for name in USERS:
            await c.play(name, broker=1, n=1)
        await there(c, FULL | {"b2": 0})
        assert "sto/b2" not in {c.owner(name) for name in USERS}
        await c.settle()
        for name in USERS:
            await c.play(name, broker=1, n=2)
        assert (await change(c, {"b2": 256}, FULL | {"b2": 0}, broker=1))[0] == 200
        await there(c, FULL)
        assert "sto/b2" in {c.owner(name) for name in USERS}
        for name in USERS:
            await c.play(name, broker=1, n=3)
        for user in (ann, bob):
            await user.heard(3 * len(USERS))
            await user.fence()
            for name in USERS:
                assert [each["payload"]["n"] for each in user.events if f"/{name}/" in each["topic"]] == [1, 2, 3]


async def test_what_stands_when_it_is_stopped_is_valid_and_repeating_changes_nothing() -> None:
    """DPS-15."""
    async with Cluster(sites=1, brokers=3) as c:
        assert (await change(c, {"b2": 0}))[0] == 200
        status, state = await c.operate("POST", "/v1/ring/stop", {"site": "sto"})
        stands = {each["slot"]: each["share"] for each in state["slots"]}
        assert (status, stands) == (200, {each["slot"]: each["goal"] for each in state["slots"]})
        await there(c, stands)
        number = c.of("broker")[0].view().number
        assert (await c.operate("POST", "/v1/ring/stop", {"site": "sto"}))[1]["number"] == number
        assert (await change(c, stands, stands))[1]["number"] == number


async def test_the_state_says_what_is_followed_and_who_is_done() -> None:
    async with Cluster(sites=1, brokers=2) as c, c.user("ann") as ann:
        await ann.follow("dan", "eve")
        await there(c, {"b1": 256, "b2": 256})
        states = [(await c.operate("GET", "/v1/ring", broker=broker))[1] for broker in (0, 1)]
        assert sum(state["rows"] for state in states) >= 2
        assert max(state["topic_bytes"] for state in states) > 0
        for state in states:
            assert (state["configured"], state["steps"], state["lag_s"], state["waits_for"]) == (["b1", "b2"], 8, 0.0, [])
            assert state["slots"] == [{"slot": slot, "share": 256, "goal": 256, "done": True} for slot in ("b1", "b2")]


async def test_an_aggregator_that_never_says_that_it_is_done_is_named_and_holds_the_ring_up_only_while_it_is_there() -> None:
    """DPS-15: who waits, and for whom."""
    async with Cluster(sites=1, brokers=2) as c:
        await there(c, {"b1": 256, "b2": 256})
        async with Peer(c, "aggregator", "sto/mute") as mute:
            await mute.dial("sto/b1")
            await c.until(lambda: len(c.roles["sto/b1"].subscribers.everyone) == 2)
            assert (await change(c, {"b2": 0}, {"b1": 256, "b2": 256}, broker=1))[0] == 200
            await c.until(lambda: c.roles["sto/b1"].subscribers.unsettled() == ["aggregator sto/mute"])
            stands = c.roles["sto/b1"].view()
            state = (await c.operate("GET", "/v1/ring"))[1]
            assert (state["waits_for"], state["slots"][0]["done"]) == (["aggregator sto/mute"], False)
            assert (stands.share_of["b2"] > 0, c.roles["sto/b1"].view()) == (True, stands)
        await there(c, {"b1": 256, "b2": 0})


@pytest.mark.parametrize(
    ("goal", "before", "status", "code", "why"),
    [
        ({"b9": 0}, FULL, 400, "bad-field", "there is no slot 'b9' at sto; there are b1, b2, b3"),
        ({"b1": 0}, FULL | {"b9": 256}, 400, "bad-field", "there is no slot 'b9' at sto"),
        (dict.fromkeys(FULL, 0), FULL, 400, "bad-field", "nobody at sto would own any topic"),
        ({"b2": 0}, FULL | {"b2": 128}, 409, "conflict", "is to go to b1 256, b2 256, b3 256, not to b1 256, b2 128"),
        ({"b2": 0}, {}, 409, "conflict", "not to nothing: look again"),
        ({"b2": 257}, FULL, 400, "bad-field", "<= 256"),
        ({"b2": -1}, FULL, 400, "bad-field", ">= 0"),
        ({"b2": "all"}, FULL, 400, "bad-field", "int"),
    ],
)
async def test_a_change_that_cannot_be_meant_is_refused_and_nobody_notices(
    goal: dict[str, int], before: dict[str, int], status: int, code: str, why: str
) -> None:
    """Slots that do not exist, shares of 0 everywhere, two plans at once, one of yesterday."""
    async with Cluster(sites=1, brokers=3) as c:
        view = c.of("broker")[0].view()
        said, answer = await change(c, goal, before)
        assert (said, answer["code"]) == (status, code), answer
        assert why in answer["reason"]
        assert c.of("broker")[0].view() == view


async def test_who_is_not_there_cannot_be_given_a_share_and_another_site_is_asked_there() -> None:
    async with Cluster(sites=2, brokers=2) as c:
        await c.leave("sto/b2")
        await c.until(lambda: c.of("broker", "sto")[0].view().slots == ("b1",))
        status, answer = await change(c, {"b2": 256}, {"b1": 256})
        assert (status, answer["code"]) == (400, "bad-field")
        assert "b2 of sto is not in the view; start it first" in answer["reason"]
        status, answer = await change(c, {"b1": 0}, {}, site="lon")
        assert (status, answer["code"]) == (400, "bad-field")
        assert "this is a broker of lon; ask one of 'sto'" in answer["reason"]


async def test_where_somebody_knows_nothing_of_shares_the_ring_stays_whole() -> None:
    async with Cluster(sites=1, brokers=2) as c:
        b1: Broker = c.of("broker")[0]
        link = next(iter(b1.subscribers.everyone)).link
        link.peer = msgspec.structs.replace(link.peer, tags=OLD_TAG)
        await c.until(lambda: not b1.mesh.membership.can_step(b1.links.now_s))
        status, answer = await change(c, {"b2": 0}, {"b1": 256, "b2": 256})
        assert (status, answer["code"]) == (503, "unavailable")


async def test_a_change_is_a_line_of_the_audit_log(tmp_path: Any) -> None:
    async with Cluster(sites=1, brokers=2, audit=tmp_path / "audit.jsonl") as c:
        await change(c, {"b2": 0}, {"b1": 256, "b2": 256})
        await c.operate("POST", "/v1/ring/stop", {"site": "sto"})
    lines = (tmp_path / "audit.jsonl").read_text(encoding="utf-8")
    assert '"ring"' in lines
    assert "b2=0" in lines
    assert '"ring-stop"' in lines


async def test_with_no_steps_who_comes_waits_until_somebody_says_what_it_shall_have() -> None:
    """DPS-15: `join_steps = 0` leaves it to plans."""

    def planned(options: Any) -> Any:
        return msgspec.structs.replace(options, join_steps=0) if hasattr(options, "join_steps") else options

    async with Cluster(sites=1, brokers=2, change=planned) as c:
        await c.crash("sto/b2")
        await c.settle()
        await c.restart("sto/b2")
        await there(c, {"b1": 256, "b2": 0})
        assert (await change(c, {"b2": 256}, {"b1": 256, "b2": 0}))[0] == 200
        await there(c, {"b1": 256, "b2": 256})
