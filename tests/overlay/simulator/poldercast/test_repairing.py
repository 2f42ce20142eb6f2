"""Repair by neighbours in an overlay with freeriders."""

import numpy as np
import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.counters import CONTROL, KINDS
from overlay.simulator.errors import OverlayError
from overlay.simulator.harm import Misdeed, misdeeds
from overlay.simulator.latency.latency import constant
from overlay.simulator.poldercast.measuring import unwanted
from overlay.simulator.poldercast.options import SpreadOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from tests.support.even_workload import even_workload


def overlay(repairs: int, *, compiled: bool = False) -> PolderCastOverlay:
    """Returns an overlay of 80 nodes, a third of them freeriders, whose rings are complete."""
    system = PolderCastOverlay(
        even_workload(nodes=80, topics=6, each=2, seed=2),
        2,
        how=SpreadOptions(repairs=repairs, sources="none"),
        execution=COMPILED if compiled else INTERPRETED,
    )
    system.run(30)
    system.misbehave(misdeeds(80, 0.33, Misdeed.FREERIDES, 1))
    return system


def missed(system: PolderCastOverlay) -> int:
    """Returns how many deliveries an event on each topic misses."""
    return int(np.asarray(system.publish_each().missed).sum())


def test_what_freeriders_keep_back_is_pulled_from_neighbours() -> None:
    """OV-5: each round brings more, and nobody gets what they do not want."""
    without, two, ten = (overlay(rounds) for rounds in (0, 2, 10))
    lacks = [missed(system) for system in (without, two, ten)]
    assert lacks[0] > 30
    assert lacks[0] > lacks[1] > lacks[2]
    assert lacks[2] <= 0.05 * lacks[0]
    assert unwanted(ten.state) == 0
    assert sum(numbers(ten.messages)[CONTROL::KINDS]) > sum(numbers(without.messages)[CONTROL::KINDS])


def test_one_event_is_repaired_as_all_are_and_repairs_have_no_times() -> None:
    """OV-5."""
    system = overlay(10)
    topic = max(range(6), key=lambda each: len(system.members(each)))
    done = system.publish(topic, system.members(topic)[0], constant(10))
    plain = overlay(0).publish(topic, system.members(topic)[0], constant(10))
    assert done.arrival_us is not None
    assert plain.arrival_us is not None
    reached = done.hops >= 0
    assert reached.sum() > (plain.hops >= 0).sum()
    assert (done.arrival_us[reached] == -1).any()
    assert set(np.flatnonzero(reached)) <= set(system.members(topic))


def test_compiled_and_interpreted_repairs_are_the_same() -> None:
    """OV-1."""
    slow, fast = overlay(2), overlay(2, compiled=True)
    found = [[numbers(each) for each in system.publish_each()] for system in (slow, fast)]
    assert found[0] == found[1]
    assert numbers(slow.messages) == numbers(fast.messages)


def test_rounds_below_none_are_refused() -> None:
    with pytest.raises(OverlayError, match="repairs is -1: give the rounds of repair"):
        SpreadOptions(repairs=-1)
