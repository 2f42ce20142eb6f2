"""How nodes get to know the first others."""

from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import views


def test_at_the_beginning_everybody_knows_random_live_others_and_nothing_of_rings(circle: OverlayWorkload) -> None:
    """PC 6.2."""
    away = set(range(0, 400, 3))
    system = PolderCastOverlay(circle, 1, away=away)
    for node in range(400):
        cyclon, vicinity, rings = views(system, node)
        assert (vicinity, rings) == ([], [])
        assert len(set(cyclon)) == len(cyclon) == (0 if node in away else 20)
        assert not {node, *away} & set(cyclon)


def test_in_a_small_world_everybody_knows_everybody() -> None:
    system = PolderCastOverlay(even_workload(nodes=5, topics=2, each=1, seed=1), 1)
    assert [sorted(views(system, node)[0]) for node in range(5)] == [[each for each in range(5) if each != node] for node in range(5)]


def test_who_comes_for_the_first_time_is_introduced_and_finds_its_rings(circle: OverlayWorkload) -> None:
    """PC 5.4."""
    away = set(range(0, 400, 4))
    system = PolderCastOverlay(circle, 1, away=away)
    system.run(40)
    system.come(away)
    assert all(0 < len(views(system, node)[0]) <= 20 for node in away)
    assert not any(node in views(system, node)[0] for node in away)
    system.run(60)
    assert not system.rings().missing.any()


def test_who_comes_back_remembers_whom_it_knew(circle: OverlayWorkload) -> None:
    system = PolderCastOverlay(circle, 1)
    system.run(10)
    before = views(system, 9)
    system.leave([9])
    system.run(3)
    system.come([9])
    assert views(system, 9) == before


def test_who_has_lost_everybody_is_introduced_again() -> None:
    system = PolderCastOverlay(even_workload(nodes=60, topics=3, each=2, seed=1), 1)
    friends = set(views(system, 0)[0])
    system.leave({*range(1, 60)} - friends)
    system.leave([0])
    system.run(2)
    system.leave(friends)
    system.come({*range(1, 60)} - friends)
    system.come([0])
    system.run(30)
    known = views(system, 0)[0]
    assert known
    assert not set(known) & friends


def test_the_last_one_there_is_alone_and_that_is_no_error() -> None:
    system = PolderCastOverlay(even_workload(nodes=4, topics=2, each=2, seed=1), 1)
    system.leave([1, 2, 3])
    system.run(30)
    assert views(system, 0) == [[], [], []]
    assert system.publish(0, 0).hops.tolist() == [0, -1, -1, -1]
