"""What must hold when somebody comes back: which reasons are none."""

from contextlib import nullcontext
from math import inf
from typing import Any

import pytest

from broker.window_bounds import WindowBounds

from .oracle import Acceptance, Follower, Position, SimulationOracle, Violated
from .process import SimulatedProcess
from .returns import Return, check_gap, check_return
from .room import ENOUGH, Room

KEPT = WindowBounds().events


def a_return(oracle: SimulationOracle, published_s: list[float], *, is_disturbed: bool = False) -> Return:
    """Returns the return of somebody at 30 s, who had their point at 20 s. Events of their topic were published at `published_s`."""
    for now_s in published_s:
        oracle.accepted[oracle.published("t1", "sto")] = Acceptance(now_s, now_s)
    was = Follower("ann", "sto/p1", SimulatedProcess("sto/p1"), wants={"t1"}, lost_s=25.0)
    was.positions["t1"] = position = Position("a point", 20.0, "sto")
    back = Follower("ann", "sto/p1", SimulatedProcess("sto/p1"))
    back.go_on_from(was)
    return Return(was, back, frozenset({"t1"}), position, asked_s=30.0, wrong_s=-10.0, is_disturbed=is_disturbed, faults=0, window_s=20.0)


def told(reason: str) -> dict[str, Any]:
    """Returns the answer that something of the topic is missing for a `reason`."""
    return {"recovered": False, "lost": [{"topic": "hm://playlist/user/ann/playlist/t1/", "reason": reason}]}


@pytest.mark.parametrize("more", [0, 1])
def test_more_than_is_kept_of_a_topic_is_too_much_and_as_much_as_that_is_not(more: int) -> None:
    """DPS-5: it is said where it is so, though nothing went wrong and the point is not old."""
    oracle = SimulationOracle()
    its = a_return(oracle, [26.0] * (KEPT + more))
    with nullcontext() if more else pytest.raises(Violated, match="too-much, which is never so here"):
        check_return(oracle, its, told("too-much"), {"point"})


@pytest.mark.parametrize("is_disturbed", [True, False])
def test_what_was_published_long_before_a_point_is_not_too_much_unless_something_went_wrong(is_disturbed: bool) -> None:
    """DPS-5: what other sites accepted may come late while links are cut."""
    oracle = SimulationOracle()
    its = a_return(oracle, [5.0] * (KEPT + 1), is_disturbed=is_disturbed)
    with nullcontext() if is_disturbed else pytest.raises(Violated, match="too-much, which is never so here"):
        check_return(oracle, its, told("too-much"), {"point"})


@pytest.mark.parametrize(("apart_s", "said"), [(18.0, {"point"}), (0.0, {"since"}), (40.0, {"point", "since"})])
def test_a_split_is_told_only_where_a_site_was_split_since_somebody_had_their_point(apart_s: float, said: set[str]) -> None:
    """DPS-19: numbers may be as old as the life."""
    its = a_return(SimulationOracle(), [], is_disturbed=True)._replace(apart_s=apart_s)
    with nullcontext() if apart_s != 18.0 else pytest.raises(Violated, match="no site was split since 19 s"):
        check_return(SimulationOracle(), its, told("split"), said)
    with pytest.raises(Violated, match="no site was split since 0 s"):
        check_return(SimulationOracle(), its._replace(apart_s=-inf), told("split"), said - {"point"})


def test_a_point_of_another_site_tells_no_broker_since_when_a_split_concerns_somebody() -> None:
    """DPS-19: a site was apart at 18 s, and they come there with a point of 20 s, one of another site. Nobody there knows what it means."""
    here = a_return(SimulationOracle(), [], is_disturbed=True)._replace(apart_s=18.0)
    there = here._replace(back=Follower("ann", "lon/p1", SimulatedProcess("lon/p1")))
    check_return(SimulationOracle(), there, told("split"), {"point"})
    check_return(SimulationOracle(), there, told("split"), {"point", "since"})
    with pytest.raises(Violated, match="no site was split since 0 s"):
        check_return(SimulationOracle(), there._replace(apart_s=-inf), told("split"), {"point"})
    with pytest.raises(Violated, match="no site was split since 19 s"):
        check_return(SimulationOracle(), here, told("split"), {"point", "since"})


@pytest.mark.parametrize("reason", ["split", "owner-lost"])
def test_nobody_hears_of_a_split_while_no_site_is_split(reason: str) -> None:
    """DPS-19: whatever else went wrong."""
    follower = Follower("ann", "sto/p1", SimulatedProcess("sto/p1"), follows={"t1"}, recovers=True)
    check_gap(follower, ["t1"], reason, is_calm=False, is_apart=True)
    with nullcontext() if reason != "split" else pytest.raises(Violated, match="no site was split, and ann hears"):
        check_gap(follower, ["t1"], reason, is_calm=False, is_apart=False)


@pytest.mark.parametrize("room", [ENOUGH, ENOUGH._replace(broker_bytes=600, events=3)])
def test_what_full_links_lost_before_a_connection_ended_shows_in_numbers_and_is_not_owed_to_who_comes_back(room: Room) -> None:
    """DPS-12: where there is room for all, whoever followed while nothing went wrong has it."""
    oracle = SimulationOracle()
    its = a_return(oracle, [15.0])._replace(room=room)
    its.was.whole_since_s["t1"] = 10.0
    with nullcontext() if room.gaps else pytest.raises(Violated, match="nothing of t1 is missing, and lacks"):
        check_return(oracle, its, {"recovered": True, "lost": []}, {"point"})
