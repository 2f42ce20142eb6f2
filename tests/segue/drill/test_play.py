"""Rows on a small cluster in this process."""

import random
from typing import Any

import msgspec
import pytest

from infra.kernel.loss_reasons import LossReason
from segue.drill import play as playing
from segue.drill.load import COPIED, NO_WINDOW, WINDOW
from segue.drill.local_nodes import LocalNodes
from segue.drill.nodes import KEPT, SHAPE, DrillWindows
from segue.drill.play import DrillOutcome, play
from segue.drill.rows import SCANT, TOLD, TOLD_AT_ONCE, DrillPromise, DrillRow, DrillStep
from segue.drill.tellings import DueTelling

USUAL = DrillPromise()
SMALL = msgspec.structs.replace(SHAPE, accesspoints=1)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("CALM_S", 0.2), ("QUIET_S", 2.0), ("WELL_S", 0.0), ("AWAY_S", (0.0, 0.1))):
        monkeypatch.setattr(playing, name, seconds)


async def played(*steps: DrillStep, promise: DrillPromise = USUAL, **row: Any) -> DrillOutcome:
    return await play(DrillRow("row", "something", steps, promise, **{"shape": SMALL, **row}), LocalNodes, 1)


async def test_a_site_that_is_cut_off_misses_events_without_a_window_and_numbers_show_it() -> None:
    cut = DrillStep("cut", "sto", "lon"), DrillStep("wait", seconds=3.5)
    outcome = await played(*cut, DrillStep("mark"), DrillStep("heal"), DrillStep("wait", seconds=3.0), promise=DrillPromise(again_s=4.0))
    assert outcome.measured[NO_WINDOW].missing > 10
    assert outcome.measured[WINDOW].missing == 0
    assert outcome.is_good
    assert outcome.seconds > 6.0


async def test_a_clock_an_hour_off_changes_nothing() -> None:
    outcome = await played(DrillStep("clock", "sto/b1", seconds=3600.0), DrillStep("wait", seconds=0.3), promise=DrillPromise(missing=0))
    assert outcome.is_good
    assert min(each.delivered for each in outcome.measured.values()) > 10
    assert not any(each.refused for each in outcome.measured.values())  # what was under way in the end was answered


async def test_an_aggregator_that_is_killed_is_back_at_its_name() -> None:
    gone = DrillStep("kill", "sto/a1"), DrillStep("wait", seconds=0.2), DrillStep("start", "sto/a1")
    outcome = await played(*gone)
    assert outcome.is_good


async def test_a_client_whose_access_point_is_killed_gets_what_it_missed_of_kinds_with_a_window() -> None:
    """DPS-5, DPS-32: 0 missing, and nobody is told that something may be; of the others each one hears that something may."""
    gone = DrillStep("kill", "sto/ap1"), DrillStep("wait", seconds=0.5), DrillStep("start", "sto/ap1"), DrillStep("wait", seconds=3.0)
    outcome = await played(*gone)
    assert outcome.measured[WINDOW].missing == outcome.measured[WINDOW].told == 0
    assert outcome.measured[NO_WINDOW].missing > 0
    assert outcome.measured[NO_WINDOW].told > 0
    assert outcome.is_good


async def test_at_random_everybody_is_back_in_the_end() -> None:
    async with LocalNodes(random.Random(2), SMALL) as nodes:
        await nodes.ready()
        before = sorted(nodes.names())
        await playing.at_random(nodes, random.Random(3), 1.0)
        assert sorted(nodes.names()) == before
        assert not nodes.links.cuts


def test_two_brokers_of_a_site_are_not_cut_from_each_other_at_random() -> None:
    pairs = playing.cuttable(["sto/b1", "sto/b2", "sto/a1", "lon/b1", "lon/ap1"])
    assert pairs == [("lon", "sto"), ("lon/ap1", "lon/b1"), ("sto/a1", "sto/b1"), ("sto/a1", "sto/b2")]


async def test_who_is_away_while_a_broker_is_restarted_gets_everything_when_they_are_back() -> None:
    """DPS-13, DPS-32: they are told that nothing is missing, and every event goes on from the one before."""
    away, back, restarted = DrillStep("away"), DrillStep("back"), (DrillStep("stop", "sto/b2"), DrillStep("start", "sto/b2"))
    promise = DrillPromise(missing=0, unrecovered=0, anew=0)
    outcome = await played(away, *restarted, DrillStep("settle", "sto"), back, promise=promise)
    assert outcome.broken(WINDOW) == []
    assert outcome.measured[WINDOW].delivered > outcome.measured[NO_WINDOW].delivered


async def test_who_is_away_while_a_broker_is_killed_is_told_that_something_may_be_missing() -> None:
    """DPS-8, DPS-32: the drill is able to fail."""
    gone = DrillStep("kill", "sto/b2"), DrillStep("wait", seconds=3.0), DrillStep("start", "sto/b2"), DrillStep("settle", "sto")
    outcome = await played(DrillStep("away"), *gone, DrillStep("back"))
    assert outcome.measured[WINDOW].unrecovered > 0


async def test_a_broker_that_comes_later_and_goes_again_is_not_noticed() -> None:
    """DPS-16, DPS-32: 0 lost, 0 twice."""
    grown = DrillStep("start", "sto/b2"), DrillStep("settle", "sto"), DrillStep("stop", "sto/b2"), DrillStep("settle", "sto")
    outcome = await played(*grown, promise=DrillPromise(missing=0), later=("sto/b2",))
    assert outcome.is_good
    assert min(each.delivered for each in outcome.measured.values()) > 10


def away(seconds: float) -> tuple[DrillStep, ...]:
    return (DrillStep("away"), DrillStep("wait", seconds=seconds), DrillStep("weigh"), DrillStep("back"))


async def test_who_is_away_for_longer_than_events_are_kept_is_told_so_at_once() -> None:
    """DPS-5, DPS-32: of all their topics, and nobody else is told anything."""
    windows = DrillWindows(msgspec.structs.replace(KEPT, seconds=0.5))
    tells = DueTelling(LossReason.EXPIRED, to="travellers")
    outcome = await played(*away(2.5), window=TOLD_AT_ONCE, tells=tells, windows=windows)
    assert outcome.is_good, outcome.measured
    assert [outcome.measured[kind].unrecovered for kind in (WINDOW, COPIED)] == [2, 2]


async def test_where_windows_have_too_little_memory_they_stay_in_their_bound_and_who_was_away_is_told() -> None:
    """DPS-2, DPS-5, DPS-32: within 5 %."""
    tells, promise = DueTelling(LossReason.EVICTED, to="travellers"), TOLD_AT_ONCE._replace(memory=105.0)
    outcome = await played(*away(4.0), window=promise, tells=tells, windows=SCANT)
    assert outcome.is_good, outcome.measured
    assert all(outcome.measured[kind].memory > 90.0 for kind in (WINDOW, COPIED))


async def test_another_reason_than_the_one_that_is_promised_breaks_the_promise() -> None:
    """DPS-32: the drill is able to fail."""
    tells = DueTelling(LossReason.TOO_MUCH, to="travellers")
    outcome = await played(*away(4.0), window=TOLD, tells=tells, windows=SCANT)
    for kind in (WINDOW, COPIED):
        assert outcome.broken(kind) == ["untold", "mistold"]


async def test_a_broker_that_dies_is_told_of_its_topics_alone_and_where_an_heir_has_them_nobody_notices() -> None:
    """DPS-8, DPS-18, DPS-32: and who was away recovers by the heir."""
    dead = (DrillStep("away"), DrillStep("mark"), DrillStep("kill", "sto/b1"), DrillStep("wait", seconds=2.5), DrillStep("back"))
    one_site = msgspec.structs.replace(SMALL, sites=SMALL.sites[:1], brokers=3)
    tells, kept = DueTelling(LossReason.OWNER_LOST, "sto", slots=("b1",)), DrillPromise(missing=0, told=0, unrecovered=0, anew=0)
    outcome = await played(*dead, window=TOLD, copied=kept, tells=tells, shape=one_site)
    assert outcome.is_good, outcome.measured
