"""What files say of the world, as drivers take it."""

import numpy as np
import pytest

from overlay.report.surroundings import NONE, OverlaySurroundings
from overlay.simulator.churn.trace import ChurnTrace
from overlay.simulator.errors import OverlayError

TRACE = ChurnTrace(np.array([0, 0, 1000, 2500]), np.array([0, 2, 1, 0]), np.array([1, 1, 1, 0]))


def test_without_files_nothing_is_said() -> None:
    assert NONE.churn_by_cycle(3, 5) is None
    assert NONE.latency(5, 1) is None


def test_a_cycle_takes_as_much_of_the_churn_as_is_said() -> None:
    found = OverlaySurroundings(churn=TRACE, cycle_ms=1000).churn_by_cycle(3, 4)
    assert found is not None
    assert [each.tolist() for each in found.coming] == [[0, 2], [1], []]
    assert [each.tolist() for each in found.leaving] == [[], [], [0]]
    with pytest.raises(OverlayError, match="the overlay has nodes 0 to 1"):
        OverlaySurroundings(churn=TRACE).churn_by_cycle(3, 2)


def test_nodes_are_put_on_the_hosts_that_were_measured() -> None:
    found = OverlaySurroundings(network="mine", one_way_us=np.array([[5, 50], [50, 5]], np.int32)).latency(4, 1)
    assert found is not None
    assert found.hosts == 2
    assert sorted(found.host_of.tolist()) == [0, 0, 1, 1]
