"""Events whose messages take time."""

import numpy as np
import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED
from overlay.simulator.latency.latency import by_link, constant
from overlay.simulator.poldercast.options import SpreadOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from tests.support.even_workload import even_workload


def test_everybody_gets_it_and_not_before_any_path_is_that_short(converged: PolderCastOverlay) -> None:
    """P2P-10: with links of 10 to 150 ms, after as many of them as the first copy took hops."""
    members = converged.members(5)
    done = converged.publish(5, members[0], by_link(10, 150, seed=1))
    assert done.arrival_us is not None
    assert np.flatnonzero(done.arrival_us >= 0).tolist() == members
    assert done.arrival_us[members[0]] == 0
    assert (done.arrival_us[members] >= 10_000 * done.hops[members]).all()
    assert (done.arrival_us[members] <= 150_000 * done.hops[members]).all()
    assert done.copies.sum() == done.messages


def test_with_equal_links_hops_tell_the_time(converged: PolderCastOverlay) -> None:
    members = converged.members(7)
    done = converged.publish(7, members[-1], constant(20))
    assert done.arrival_us is not None
    assert done.arrival_us[members].tolist() == (20_000 * done.hops[members]).tolist()


@pytest.mark.parametrize("fanout", [2, 5])
def test_compiled_and_interpreted_arrive_at_the_same_time(fanout: int) -> None:
    """OV-1. Some are dead, so some copies are lost."""
    found = []
    for execution in (INTERPRETED, COMPILED):
        system = PolderCastOverlay(
            even_workload(nodes=50, topics=4, each=2, seed=1), 3, how=SpreadOptions(fanout=fanout), execution=execution
        )
        system.run(10)
        system.leave(range(0, 50, 9))
        done = system.publish(2, system.members(2)[0], by_link(10, 100, jitter=0.1, seed=2))
        assert done.arrival_us is not None
        found.append((done.arrival_us.tolist(), done.hops.tolist(), done.copies.tolist()))
    assert found[0] == found[1]
    assert max(found[0][0]) > 0


def test_without_latencies_nothing_is_said_of_time(converged: PolderCastOverlay) -> None:
    assert converged.publish(5, converged.members(5)[0]).arrival_us is None
