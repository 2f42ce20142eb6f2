"""The decision service on links: whom it asks, whom it tells what, and what becomes of those that are late, new or wrong."""

import asyncio
import time

import msgspec
import pytest
from structlog.testing import capture_logs

from analytics.offloading.plan import PlanOptions
from analytics.planning.errors import PlanError
from infra.kernel.frames import MOST_NUMBER, Applied, Assignment, Deliver, Frame, Publish, Survey, Surveyed, Tally
from infra.kernel.topics import user_topic
from tests.support.assignments import assignment
from tests.support.decision_world import PLAN, DecisionWorld, followed, tally


def plan(**changes: object) -> PlanOptions:
    return msgspec.structs.replace(PLAN, **changes)


async def test_what_all_sites_tell_becomes_one_decision_that_all_are_told() -> None:
    """WA-29: the capacity is that of all brokers of all sites."""
    async with DecisionWorld(plan(capacity=6)) as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob", "eve"]), followed("cat", ["bob"])]
        w.peers["lon/ap1"].saying = [followed("ann", ["bob"]), followed("dan", ["bob", "eve"])]
        w.peers["sto/b1"].saying = [tally(bob=1), tally(bob=1)]
        w.peers["lon/b1"].saying = [tally(eve=4)]
        made = await w.decision.decide()
        assert (made.cost, made.value, made.topics) == (6, 3.0, 2)
        await w.until(lambda: all(peer.out == {"eve"} for peer in w.peers.values()))
        assert w.decision.counters()["decision_expected_deliveries"] == 6 <= w.decision.counters()["decision_capacity_deliveries"]


async def test_it_decides_once_a_period_by_itself() -> None:
    """WA-29: on schedule."""
    async with DecisionWorld(plan(period_s=0.05, survey_s=0.04, overlap_ms=0)) as w:
        await w.until(lambda: w.decision.rounds.done >= 3)
        surveys = [frame.n for frame in w.peers["sto/b1"].heard if isinstance(frame, Survey)]
        assert surveys == list(range(1, len(surveys) + 1))


async def test_links_that_have_followed_hear_changes_and_new_ones_the_whole() -> None:
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob", "eve"])]
        w.peers["sto/b1"].saying = [tally(bob=1, eve=1)]
        first = await w.decision.decide()
        await w.until(lambda: w.peers["lon/b1"].out == {"bob", "eve"})
        newcomer = await w.add("accesspoint", "lon/ap2")
        await w.until(lambda: newcomer.out == {"bob", "eve"})
        w.peers["sto/b1"].saying = [tally(eve=1)]
        second = await w.decision.decide()
        await w.until(lambda: all(peer.out == {"eve"} for peer in w.peers.values()))
        assert (second.epoch, second.base) == (first.epoch + 1, first.epoch)
        assert w.peers["lon/b1"].bases == newcomer.bases == [0, first.epoch]


async def test_a_broker_that_restarts_is_told_the_whole_at_once() -> None:
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob"])]
        w.peers["sto/b1"].saying = [tally(bob=1)]
        await w.decision.decide()
        await w.remove("lon/b1")
        await w.until(lambda: len(w.decision.links.links) == 3)
        await w.add("broker", "lon/b1")
        await w.until(lambda: w.peers["lon/b1"].out == {"bob"})


@pytest.mark.parametrize(("role", "name"), [("broker", "b1"), ("access point", "ap1")])
async def test_it_is_ready_while_any_broker_and_any_access_point_are_there(role: str, name: str) -> None:
    """With half of what there is to know nothing would ever leave."""
    async with DecisionWorld() as w:
        await w.remove(f"lon/{name}")
        await w.until(lambda: len(w.decision.links.links) == 3)
        assert w.decision.ready() is None
        await w.remove(f"sto/{name}")
        await w.until(lambda: w.decision.ready() == f"no link to any {role} yet")


@pytest.mark.parametrize(
    ("pairs", "events", "missing"), [(True, False, "events"), (False, True, "followers"), (True, True, None), (False, False, None)]
)
async def test_a_round_with_half_of_what_it_needs_warns(pairs: bool, events: bool, missing: str | None) -> None:
    """Another service may have the other half."""
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob"])] if pairs else []
        w.peers["sto/b1"].saying = [tally(bob=1)] if events else []
        with capture_logs() as lines:
            await w.decision.decide()
        assert [line["missing"] for line in lines if line["log_level"] == "warning"] == ([missing] if missing else [])


async def test_a_service_that_restarts_says_nothing_until_it_has_decided_and_then_the_whole_under_a_higher_epoch() -> None:
    """SB-68: epochs rise over restarts, or receivers would ignore everything."""
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob"])]
        w.peers["sto/b1"].saying = [tally(bob=1)]
        before = await w.decision.decide()
        await w.decision.close()
        for peer in w.peers.values():
            peer.heard.clear()
        await w.start()
        await w.linked()
        assert w.peers["lon/ap1"].bases == []
        w.peers["sto/ap1"].saying = [followed("ann", ["eve"])]
        w.peers["sto/b1"].saying = [tally(eve=1)]
        after = await w.decision.decide()
        await w.until(lambda: all(peer.out == {"eve"} for peer in w.peers.values()))
        assert after.epoch > before.epoch
        assert w.peers["lon/ap1"].bases == [0]


async def test_a_service_whose_clock_is_behind_goes_on_from_what_holds_anywhere() -> None:
    """SB-68: after a restart, in the first round; and later, when somebody turns up who has heard of a newer epoch."""
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob"])]
        w.peers["sto/b1"].saying = [tally(bob=1)]
        before = await w.decision.decide()
        await w.until(lambda: all(peer.assigned.epoch == before.epoch for peer in w.peers.values()))
        held = w.peers["lon/b1"].assigned
        await w.decision.close()
        w.wall = lambda: time.time() - 3600
        await w.start()
        await w.linked()
        w.peers["lon/b1"].assigned = held
        for peer in w.peers.values():
            peer.lost.clear()
        w.peers["sto/ap1"].saying = [followed("ann", ["eve"])]
        w.peers["sto/b1"].saying = [tally(eve=1)]
        after = await w.decision.decide()
        assert after.epoch == before.epoch + 1
        await w.until(lambda: all(peer.out == {"eve"} for peer in w.peers.values()))
        w.peers["lon/ap1"].assigned.offer(assignment(2 * after.epoch, user_topic("dan")))
        w.peers["sto/b1"].saying = [tally(eve=1)]
        last = await w.decision.decide()
        assert last.epoch == 2 * after.epoch + 1
        await w.until(lambda: all((peer.assigned.epoch, peer.out) == (last.epoch, {"eve"}) for peer in w.peers.values()))
        assert [peer.lost for peer in w.peers.values()] == [[]] * 4


async def test_who_is_late_is_left_out_and_what_he_says_late_counts_in_the_next_round() -> None:
    async with DecisionWorld(plan(survey_s=0.05)) as w:
        late = w.peers["lon/b1"]
        late.is_slow = True
        w.peers["sto/ap1"].saying = [followed("ann", ["bob", "eve"])]
        w.peers["sto/b1"].saying = [tally(bob=1)]
        assert (await w.decision.decide()).out == {user_topic("bob")}
        assert (w.decision.counters()["decision_late_total"], w.decision.rounds.done) == (1, 1)
        late.say(tally(eve=1), Surveyed(1))
        late.is_slow = False
        assert (await w.decision.decide()).out == {user_topic("eve")}
        assert w.decision.counters()["decision_late_total"] == 1


async def test_nobody_waits_for_a_peer_that_is_lost_during_a_survey() -> None:
    async with DecisionWorld(plan(survey_s=1000.0)) as w:
        w.peers["lon/b1"].is_slow = True
        deciding = w.decision.decide()
        await w.until(lambda: any(isinstance(frame, Survey) for frame in w.peers["lon/b1"].heard))
        await w.remove("lon/b1")
        await asyncio.wait_for(deciding, 30)
        assert w.decision.counters()["decision_late_total"] == 0


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("sto/b1", followed("ann", ["bob"])),
        ("sto/ap1", tally(bob=1)),
        ("sto/b1", Deliver([1], [b"{}"])),
        ("sto/ap1", Deliver([1], [b"{}"])),
        ("sto/b1", Publish(1, 0, [user_topic("bob")], [b""], [b"{}"])),
        ("sto/b1", Applied(1, {})),
        ("lon/ap1", Assignment(1, 0, True, [], [], 0, 0, "b3m", 1, 1, 0.0, 0.0, 0)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_a_peer_that_says_what_is_not_his_to_say_loses_its_link_and_nobody_else_does(name: str, frame: Frame) -> None:
    """SB-63: counts come from brokers, follows from access points, and events from nobody."""
    async with DecisionWorld() as w:
        peer = w.peers[name]
        peer.say(frame)
        await w.until(lambda: peer.lost != [])
        assert f"{type(frame).__name__} from a {peer.role} makes no sense here" in peer.lost[0]
        await w.linked()
        assert [other.name for other in w.peers.values() if other.lost] == [name]
        await w.decision.decide()


@pytest.mark.parametrize(("role", "name"), [("aggregator", "sto/a1"), ("accesspoint", "ash/ap1")])
async def test_only_access_points_of_known_sites_may_link(role: str, name: str) -> None:
    async with DecisionWorld() as w:
        refused = w.decision.links.refused
        await w.add(role, name)
        await w.until(lambda: w.decision.links.refused > refused)
        assert w.peers[name].link is None


async def test_a_round_that_cannot_be_computed_changes_nothing_and_the_next_one_may() -> None:
    async with DecisionWorld() as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob"])]
        w.peers["sto/b1"].saying = [Tally([user_topic("bob")], [MOST_NUMBER])]
        with pytest.raises(PlanError, match="plan on a shorter period"):
            await w.decision.decide()
        assert (w.decision.rounds.made, w.decision.rounds.failed, w.peers["sto/b1"].bases) == (None, 1, [])
        w.peers["sto/b1"].saying = [tally(bob=1)]
        assert (await w.decision.decide()).out == {user_topic("bob")}


async def test_a_call_during_a_round_gets_that_round() -> None:
    async with DecisionWorld() as w:
        assert w.decision.decide() is w.decision.decide()
        await w.decision.decide()
        assert w.decision.rounds.done == 1


async def test_the_fractional_metric_is_decided_on_when_asked_for() -> None:
    async with DecisionWorld(plan(metric="fb3m", capacity=3, threshold=4)) as w:
        w.peers["sto/ap1"].saying = [followed("ann", ["bob", "eve"]), followed("cat", ["bob"])]
        w.peers["sto/b1"].saying = [tally(bob=2, eve=3)]
        made = await w.decision.decide()
        assert (set(made.out), made.value) == ({user_topic("bob")}, 0.75)
        await w.until(lambda: w.peers["sto/b1"].out == {"bob"})
