"""A run from a cold start: its cycles, its table, its plots, its page."""

import pytest

from overlay.report.simulation import SimulatedCycle, SimulatedRun, page, plots, simulate, table
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.systems import new_system
from tests.support.even_workload import even_workload

WORKLOAD = even_workload(nodes=30, topics=10, each=3, seed=1)


def run(system: str, cycles: int) -> SimulatedRun:
    heard: list[SimulatedCycle] = []
    made = new_system(system, WORKLOAD, 3, INTERPRETED)
    found = simulate(system, made, "<some>", WORKLOAD, 3, cycles=cycles, events=5, told=heard.append)
    assert heard == found.cycles
    return found


@pytest.fixture(scope="module")
def polder() -> SimulatedRun:
    """PolderCast until its rings are complete."""
    return run("poldercast", 60)


def cycle(number: int, missed: float) -> SimulatedCycle:
    return SimulatedCycle(
        cycle=number, hit_ratio=1 - missed, missed_events=missed, hops=1, copies=1, unwanted_share=0, control_messages=1, control_bytes=9
    )


def test_rings_grow_from_nothing_and_the_run_ends_when_they_are_complete(polder: SimulatedRun) -> None:
    first, last = polder.cycles[0], polder.cycles[-1]
    assert (first.cycle, first.incomplete_rings, first.control_messages) == (0, 1, 0)
    assert (last.incomplete_rings, last.hit_ratio, last.missed_events, last.unwanted_share) == (0, 1, 0, 0)
    # Three modules ask and are asked once a cycle, in the mean.
    assert last.control_messages == pytest.approx(6, rel=0.1)
    assert 1 <= last.copies <= 3
    assert len(polder.cycles) < 60


def test_an_overlay_without_rings_ends_when_nobody_has_missed_anything_for_ten_cycles() -> None:
    found = run("scribe", 60)
    assert len(found.cycles) == 11
    assert all(each.incomplete_rings is None and each.hit_ratio == 1 for each in found.cycles)
    assert "From cycle 0 on all events reach everybody" in found.told
    assert len(table(found).head) == 8


def test_a_run_that_is_stopped_says_how_far_it_is() -> None:
    found = run("quasar", 1)
    assert [each.cycle for each in found.cycles] == [0, 1]
    assert found.complete_from in (None, 1)


@pytest.mark.parametrize(("missed", "since"), [([1, 0, 0], 1), ([1, 0, 0.1, 0], 3), ([0, 0], 0), ([0, 0.5], None)])
def test_complete_is_an_overlay_that_misses_nothing_from_then_on(missed: list[float], since: int | None) -> None:
    cycles = [cycle(at, share) for at, share in enumerate(missed)]
    found = SimulatedRun(system="s", name="n", nodes=2, topics=1, pairs=2, seed=1, events=1, cycles=cycles)
    assert found.complete_from == since
    assert ("From cycle" in found.told) == (since is not None)


def test_the_table_has_a_row_for_each_cycle_and_plots_show_no_share_of_zero(polder: SimulatedRun) -> None:
    found = table(polder)
    assert len(found.rows) == len(polder.cycles)
    assert {len(row) for row in found.rows} == {len(found.head)} == {9}
    assert found.rows[-1][-1] == 0
    assert [[key.label for key in plot.keys] for plot in plots(polder)] == [
        ["missed deliveries", "events that missed somebody", "incomplete rings"],
        ["hops", "copies per delivery"],
        ["bytes"],
    ]


def test_the_page_says_what_was_simulated_and_escapes_its_name(polder: SimulatedRun) -> None:
    text = page(polder)
    assert "poldercast on &lt;some&gt;" in text
    assert "30 nodes, 90 subscriptions, seed 3" in text
    assert text.count('<svg class="plot"') == 3
