"""What operators want of the ring goes to the broker that issues views, whichever broker they ask (DPS-15, DPS-17)."""

import asyncio
from typing import Any

import msgspec
import pytest

from broker.server import Broker
from infra.kernel.frames import Heartbeat, Reply, RingWish, View
from segue.sdk.errors import ConnectionLost, Refused
from segue.sdk.operator import Operator
from tests.support.cluster import Cluster
from tests.support.peer import Peer
from tests.support.samples import service_token
from tests.support.user import feed

BOTH = {"b1": 256, "b2": 256}
USERS = [f"u{n}" for n in range(12)]


async def change(c: Cluster, goal: dict[str, int], before: dict[str, int] = BOTH, **how: Any) -> tuple[int, Any]:
    return await c.operate("POST", "/v1/ring", {"site": "sto", "goal": goal, "before": before}, **how)


async def there(c: Cluster) -> dict[str, int]:
    """Waits until the ring is where it is to go for all brokers, and all have said that they are done; returns the shares."""
    brokers: list[Broker] = c.of("broker", "sto")
    await c.until(lambda: len({each.view() for each in brokers}) == 1 and brokers[0].view().is_there)
    await c.until(lambda: all(each.mesh.membership.done() >= {*each.view().slots} for each in brokers))
    return brokers[0].view().share_of


def two_of_one_number(c: Cluster) -> list[set[View]]:
    """Returns the views of which there is another one with the same number."""
    said = {each.frame.view for each in c.plan.log if isinstance(each.frame, Heartbeat)}
    alike = [{other for other in said if other.number == each.number} for each in said]
    return [each for each in alike if len(each) > 1]


def is_on_its_way(c: Cluster) -> bool:
    """Tells whether a broker has sent a wish to another one."""
    return any(isinstance(each.frame, RingWish) for each in c.plan.log)


def hears_late(c: Cluster, slot: str, *others: str) -> None:
    """Has the broker `slot` hear nothing of the site from now on, until `hears_again`."""
    for other in others:
        c.plan.hold(f"sto/{other}", f"sto/{slot}")


def hears_again(c: Cluster, slot: str, *others: str) -> None:
    for other in others:
        c.plan.release(f"sto/{other}", f"sto/{slot}")


@pytest.mark.parametrize("wish", ["another plan", "stop"])
async def test_what_is_wanted_of_another_broker_while_a_step_is_issued_makes_no_second_view_of_one_number(wish: str, tcp: bool) -> None:
    """DPS-1, DPS-13, DPS-17: of two views of one number only one holds, and numbers of topics that moved under the other were forgotten."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=[feed(user) for user in USERS], recover=True)
        await there(c)
        b1, b2 = c.roles["sto/b1"], c.roles["sto/b2"]
        # As after some time: both count on from the view, and not from when they were started.
        b1.mesh.offer(View(b1.view().number + 3_600_000, b1.view().slots))
        await there(c)
        for user in USERS:
            await c.play(user)
        hears_late(c, "b2", "b1", "a1")
        assert (await change(c, {"b2": 0}))[0] == 200
        assert b2.view().number < b1.view().number, "b2 has not heard of it yet"
        path, body = ("", {"goal": {"b1": 0}, "before": BOTH}) if wish != "stop" else ("/stop", {})
        asked = asyncio.create_task(c.operate("POST", f"/v1/ring{path}", {"site": "sto", **body}, broker=1))
        await c.until(lambda: is_on_its_way(c))
        hears_again(c, "b2", "b1", "a1")
        status, answer = await asked
        shares = await there(c)
        assert not two_of_one_number(c)
        if wish == "stop":
            assert (status, {each["slot"]: each["goal"] for each in answer["slots"]}) == (200, shares)
        else:
            assert (status, answer["code"], shares) == (409, "conflict", BOTH | {"b2": 0})
        for user in USERS:
            await c.play(user)
        await ann.heard(2 * len(USERS))
        for user in USERS:
            first, second = ann.of(user)
            assert second.get("after", [second["epoch"], second["seq"] - 1]) == [first["epoch"], first["seq"]], "nothing may be missing"


async def test_of_two_operators_who_ask_two_brokers_at_once_one_is_told_so() -> None:
    """DPS-15."""
    async with Cluster(sites=1, brokers=2) as c:
        await there(c)
        answers = await asyncio.gather(change(c, {"b1": 0}, broker=1), change(c, {"b2": 0}, broker=0))
        assert sorted(status for status, _ in answers) == [200, 409]
        goal = next({each["slot"]: each["goal"] for each in said["slots"]} for status, said in answers if status == 200)
        assert await there(c) == goal
        assert not two_of_one_number(c)


async def test_where_the_broker_that_issues_views_dies_with_a_wish_who_asked_is_told_to_ask_again(tcp: bool) -> None:
    """DPS-8, DPS-15: in a bounded time; the next one takes it."""
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c:
        full = await there(c)
        c.plan.hold("sto/b3", "sto/b1")
        asked = asyncio.create_task(change(c, {"b3": 0}, full, broker=2))
        await c.until(lambda: is_on_its_way(c))
        await c.crash("sto/b1")
        status, answer = await asked
        assert (status, answer["code"]) == (503, "unavailable")
        assert "b1 of sto, which issues views, has not answered" in answer["reason"]
        c.plan.release("sto/b3", "sto/b1")
        await c.settle()
        rest = {"b2": 256, "b3": 256}
        status, answer = await change(c, {"b3": 0}, rest, broker=1)
        assert (status, answer["broker"]) == (200, "b3")
        assert await there(c) == rest | {"b3": 0}


async def test_a_broker_that_cannot_reach_the_one_that_issues_views_says_which_that_is() -> None:
    async with Cluster(sites=1, brokers=2) as c:
        await there(c)
        b2: Broker = c.roles["sto/b2"]
        link = b2.mesh.client.links.pop("b1")
        status, answer = await change(c, {"b2": 0}, broker=1)
        assert (status, answer["code"]) == (503, "unavailable")
        assert "b1 of sto, which issues views, cannot be reached from b2" in answer["reason"]
        b2.mesh.client.links["b1"] = link


async def test_where_the_broker_that_issues_views_is_of_an_older_version_it_has_to_be_asked_itself() -> None:
    async with Cluster(sites=1, brokers=2) as c:
        await there(c)
        view = c.roles["sto/b2"].view()
        link = c.roles["sto/b2"].mesh.client.links["b1"]
        link.peer = msgspec.structs.replace(link.peer, tags=46)
        status, answer = await change(c, {"b2": 0}, broker=1)
        assert (status, answer["code"]) == (503, "unavailable")
        assert "b1 of sto, which issues views, is of an older version: ask it at its own door" in answer["reason"]
        assert c.roles["sto/b2"].view() == view
        assert (await change(c, {"b2": 0}, broker=0))[0] == 200


async def test_a_broker_that_does_not_issue_views_takes_no_wish_of_another_one() -> None:
    """DPS-17: whoever brings one may not know who does."""
    async with Cluster(sites=1, brokers=3) as c:
        await there(c)
        await c.crash("sto/b3")
        await c.settle()
        b2: Broker = c.roles["sto/b2"]
        async with Peer(c, "broker", "sto/b3") as b3:
            await b3.dial("sto/b2")
            view = b2.view()
            b3.send("sto/b2", RingWish(7, {"b1": 0}, view.goal_of))
            await c.until(lambda: bool(b3.of(Reply)))
            assert b3.of(Reply) == [Reply(7, "unavailable", "b1 issues views at sto, not b2; try again", b"")]
            assert b2.view() == view


async def test_a_wish_counts_under_the_view_that_came_before_it_in_the_same_batch() -> None:
    """DPS-17: otherwise there are two views of one number."""
    async with Cluster(sites=1, brokers=3) as c:
        await there(c)
        await c.crash("sto/b3")
        await c.settle()
        await there(c)
        b1: Broker = c.roles["sto/b1"]
        async with Peer(c, "broker", "sto/b3") as b3:
            await b3.dial("sto/b1")
            view = b1.view()
            b3.send("sto/b1", Heartbeat(View(view.number + 1, view.slots)))
            b3.send("sto/b1", RingWish(7, {"b1": 0}, view.goal_of))
            await c.until(lambda: bool(b3.of(Reply)))
            assert b3.of(Reply) == [Reply(7, "", "", b"")]
            assert b1.view().number >= view.number + 2
            assert not two_of_one_number(c)


async def test_where_all_brokers_leave_nobody_takes_a_wish() -> None:
    async with Cluster(sites=1, brokers=1) as c:
        await there(c)
        c.roles["sto/b1"].mesh.leave()
        status, answer = await change(c, {"b1": 0}, {"b1": 256})
        assert (status, answer["code"]) == (503, "unavailable")
        assert "nobody issues views at sto" in answer["reason"]


async def test_the_sdk_tells_a_conflict_that_another_broker_has_found_from_one_that_cannot_be_asked() -> None:
    """DPS-15: the first is final, the second is worth another try."""
    async with Cluster(sites=1, brokers=2) as c:
        await there(c)
        b2: Broker = c.roles["sto/b2"]
        async with Operator(f"http://{b2.address}", service_token("operator")) as operator:
            with pytest.raises(Refused, match="the ring of sto is to go to b1 256, b2 256, not to b1 256, b2 128") as refused:
                await operator.change_ring("sto", {"b2": 0}, BOTH | {"b2": 128})
            assert refused.value.code.name == "conflict"
            state = await operator.change_ring("sto", {"b2": 0}, BOTH)
            assert (state.broker, state.goal_of) == ("b2", BOTH | {"b2": 0})
            assert (await operator.stop_ring("sto")).broker == "b2"
            link = b2.mesh.client.links.pop("b1")
            with pytest.raises(ConnectionLost, match="b1 of sto, which issues views, cannot be reached from b2"):
                await operator.stop_ring("sto")
            b2.mesh.client.links["b1"] = link
