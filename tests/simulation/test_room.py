"""Room of simulated lives: what is little is so in production's options, and only then may something be missing for want of it."""

import random
from collections.abc import Set

import pytest

from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.topics import Kind, parse_topic

from .oracle import Follower, Violated
from .process import SimulatedProcess
from .returns import check_gap
from .room import ENOUGH, FEW_EVENTS, LITTLE_MEMORY, LITTLE_SHARE, Room, drawn_room
from .world import SimulatedWorld


def test_most_lives_have_enough_room_and_the_others_have_little_of_each_thing() -> None:
    rooms = [drawn_room(random.Random(seed)) for seed in range(2000)]
    assert 0.15 < sum(room != ENOUGH for room in rooms) / len(rooms) < LITTLE_SHARE + 0.05
    assert {room.events for room in rooms} == {*FEW_EVENTS}
    assert {room.window_bytes for room in rooms} == {*LITTLE_MEMORY}
    assert {room.has_full_links for room in rooms} == {False, True}


def test_brokers_and_aggregators_of_a_world_have_the_room_that_is_drawn() -> None:
    room = Room(3, 3_000, 600, 700, 1_000)
    options = [room.limited(each) for each in SimulatedWorld(1).options.values()]
    for each in options:
        if isinstance(each, BrokerOptions):
            assert (each.window_bytes, each.max_link_queue_bytes, {bounds.events for bounds in each.window.values()}) == (3_000, 600, {3})
            assert {*each.window} == {Kind.PLAYLIST, Kind.USER}
        elif isinstance(each, AggregatorOptions):
            assert each.max_link_queue_bytes == 700
    assert SimulatedWorld(1).room == ENOUGH  # without seeds that vary nothing does


@pytest.mark.parametrize(
    ("room", "gaps", "losses"),
    [
        (ENOUGH, set(), set()),
        (ENOUGH._replace(events=3), set(), set()),
        (ENOUGH._replace(window_bytes=3_000), set(), {"evicted", "owner-lost"}),
        (ENOUGH._replace(broker_bytes=600), set(), {"late"}),
        (ENOUGH._replace(broker_bytes=600, events=3), {"expired"}, {"expired", "late"}),
        (ENOUGH._replace(aggregator_bytes=600), {"too-much"}, {"too-much"}),
    ],
)
def test_something_may_be_missing_only_for_want_of_what_there_is_little_of(room: Room, gaps: Set[str], losses: Set[str]) -> None:
    assert (room.gaps, room.losses) == (gaps, losses)


def test_a_gap_for_want_of_room_is_told_only_where_there_is_little() -> None:
    """DPS-12"""
    follower = Follower("u0", "sto/ap1", SimulatedProcess("u0"))
    follower.recovers = True
    follower.follows = {"t1"}
    check_gap(follower, ["t1"], "too-much", is_calm=True, is_apart=False, room=ENOUGH._replace(aggregator_bytes=600))
    with pytest.raises(Violated, match="nothing is wrong"):
        check_gap(follower, ["t1"], "too-much", is_calm=True, is_apart=False)


@pytest.mark.parametrize(("more", "copies", "why"), [(-1, 0, "the window takes"), (0, 3_001, "copies for others take"), (0, 9, "")])
def test_a_broker_that_keeps_more_than_it_may_is_seen(more: int, copies: int, why: str) -> None:
    """DPS-2"""
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds()}, 3_000)
    window.record(1, b"as long as it is", b"sto", parse_topic("hm://playlist/user/ann/playlist/t1/"))
    assert len(window) == 1
    room = Room(window_bytes=window.used_bytes + more) if more else Room(window_bytes=3_000)
    assert room.exceeded(window, copies).startswith(why)
    assert bool(room.exceeded(window, copies)) == bool(why)
