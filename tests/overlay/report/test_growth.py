"""Overlays that grow until their rings are complete enough."""

from overlay.report.growth import cycles_until, in_words
from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from tests.support.even_workload import even_workload


def test_it_ends_as_soon_as_no_more_rings_are_incomplete() -> None:
    system = PolderCastOverlay(even_workload(nodes=40, topics=8, each=2, seed=1), 1, execution=INTERPRETED)
    told: list[str] = []
    cycles = cycles_until(system, 0.0, 60, told.append)
    assert cycles is not None
    assert 0 < cycles == len(told)
    assert not system.rings().missing.any()
    assert cycles_until(system, 0.0, 60, told.append) == 0


def test_it_ends_in_time_without_that() -> None:
    system = PolderCastOverlay(even_workload(nodes=40, topics=8, each=2, seed=1), 1, execution=INTERPRETED)
    assert cycles_until(system, 0.0, 1, lambda _: None) is None
    assert (in_words(None), in_words(3)) == ("not reached", "3 cycles")
