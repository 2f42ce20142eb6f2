"""What nodes receive in a cycle: what is asked for, and what nobody wants."""

import pytest

from overlay.report.traffic import counted
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.scribe.overlay import ScribeOverlay
from tests.support.even_workload import even_workload

WORKLOAD = even_workload(nodes=30, topics=10, each=3, seed=1)


def test_of_poldercast_each_module_asks_and_answers_once_a_cycle_and_nothing_is_unwanted() -> None:
    """P2P-23, P2P-24: three questions and three answers are received in the mean, and as many are sent."""
    system = PolderCastOverlay(WORKLOAD, 1, execution=INTERPRETED)
    system.run(5)
    found = counted(system)
    assert found.control.mean() == pytest.approx(6, abs=0.1)
    assert not found.unwanted.any()
    assert not found.with_pastry.any()


def test_of_scribe_relays_want_nothing_of_what_they_pass_on() -> None:
    found = counted(ScribeOverlay(WORKLOAD, 1, execution=INTERPRETED))
    assert found.control.mean() > 6
    assert 0 < found.unwanted.max() <= 1
    assert (found.with_pastry >= found.unwanted).all()
    assert found.with_pastry.max() <= 1
