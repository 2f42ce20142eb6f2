"""Quasar as an overlay: who publishes, and what is refused."""

import numpy as np

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.harm import Misdeed, misdeeds
from overlay.simulator.latency.latency import by_link
from overlay.simulator.neighbours import NeighbourGraph
from overlay.simulator.quasar.overlay import QuasarOverlay
from overlay.simulator.quasar.runs import groups
from overlay.simulator.system import NOT_REACHED


def test_nobody_gets_an_event_before_the_first_update() -> None:
    system = QuasarOverlay(groups(60, [5], 1), 1)
    done = system.publish(0, system.members(0)[0])
    assert (done.hops >= 0).sum() == 1
    assert done.messages == 0


def line(nodes: int) -> NeighbourGraph:
    """Returns a graph in which each node is linked to the next one: every way is known."""
    offsets, ends, back = [0], list[int](), list[int]()
    for node in range(nodes):
        ends += [other for other in (node - 1, node + 1) if 0 <= other < nodes]
        offsets.append(len(ends))
    for node in range(nodes):
        for other in ends[offsets[node] : offsets[node + 1]]:
            back.append(offsets[other] + ends[offsets[other] : offsets[other + 1]].index(node))
    return NeighbourGraph(COMPILED.buffer(offsets), COMPILED.buffer(ends), COMPILED.buffer(back))


def chain_of_nodes(nodes: int, members: list[int]) -> QuasarOverlay:
    """Returns Quasar on a line of nodes, of which some are members of the one group."""
    workload = groups(nodes, [2], 1)
    system = QuasarOverlay(workload, 1, graph=line(nodes))
    for node in range(nodes):
        system.change_topics(node, [0] if node in members else [])
    for _ in range(4):
        system.cycle()
    return system


def test_whoever_is_away_at_the_beginning_tells_nothing() -> None:
    system = QuasarOverlay(groups(60, [5], 1), 1, away=range(30))
    system.cycle()
    ends, heard = numbers(system.graph.ends), numbers(system.state.heard)
    assert all((when == 1) == (end >= 30) for end, when, owner in zip(ends, heard, owners(system), strict=True) if owner >= 30)


def owners(system: QuasarOverlay) -> list[int]:
    """Returns the node at the near end of each link."""
    offsets = np.asarray(system.graph.offsets)
    found: list[int] = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()
    return found


def test_a_freerider_gets_events_and_publishes_its_own_and_nothing_comes_over_it() -> None:
    """On a line, with members at 0, 3 and 6: over the member 3, or the forwarder 4, there is the only way."""
    for freerider, reached in ((3, [0, 3]), (4, [0, 3]), (1, [0]), (8, [0, 3, 6])):
        system = chain_of_nodes(9, [0, 3, 6])
        flags = np.zeros(9, np.int64)
        flags[freerider] = int(Misdeed.FREERIDES)
        system.misbehave(flags)
        done = system.publish(0, 0)
        assert [node for node in (0, 3, 6) if done.hops[node] != NOT_REACHED] == reached, freerider
        # A poll of the member 6 comes to the member 3 first, which answers unless it is the freerider.
        assert (system.publish(0, 0, polls=1).hops[6] == NOT_REACHED) == (freerider in (1, 3))
    own = chain_of_nodes(9, [0, 3, 6])
    own.misbehave(np.array([int(Misdeed.FREERIDES)] + [0] * 8))
    assert (own.publish(0, 0).hops[[0, 3, 6]] >= 0).all()


def test_freeriders_cost_coverage() -> None:
    """The more, the more; nobody else is reached for it."""
    reached = []
    for share in (0.0, 0.1, 0.3):
        system = QuasarOverlay(groups(400, [60], 1), 1)
        for _ in range(4):
            system.cycle()
        system.misbehave(misdeeds(400, share, Misdeed.FREERIDES, 2))
        done = [system.publish(0, publisher) for publisher in system.members(0)]
        assert all(not (np.delete(each.hops, system.members(0)) >= 0).any() for each in done)
        reached.append(sum(int((each.hops >= 0).sum()) for each in done))
    assert reached[0] > reached[1] > reached[2]


def test_liars_lead_events_astray() -> None:
    """On a line with members at 0 and 3: a liar at 2 tells of itself alone, or of the dead."""
    honest = chain_of_nodes(9, [0, 3])
    assert (honest.publish(0, 0).hops[3], honest.tallies[1] > 0) == (3, True)
    system = chain_of_nodes(9, [0, 3])
    system.misbehave(np.array([0, 0, int(Misdeed.OFFERS_ITSELF)] + [0] * 6))
    for _ in range(4):
        system.cycle()
    before = numbers(system.tallies)[1]
    system.publish(0, 0)
    # Node 1 hears nothing of the group behind the liar; node 2 itself still knows.
    trails = numbers(system.tallies)[1] - before
    assert level_of_group(system, 2) == [False] * 4
    assert level_of_group(honest, 2) == [False, True, True, True]
    assert trails < numbers(honest.tallies)[1]
    for lie, forgets in ((Misdeed.NONE, True), (Misdeed.OFFERS_THE_DEAD, False), (Misdeed.LIES_ABOUT_AGES, False)):
        system = chain_of_nodes(9, [0, 3])
        system.misbehave(np.array([0, 0, int(lie)] + [0] * 6))
        system.leave([0, 3])
        for _ in range(20):
            system.cycle()
        assert (not any(level_of_group(system, 2))) is forgets, lie


def level_of_group(system: QuasarOverlay, node: int) -> list[bool]:
    """Returns of each level of what `node` tells whether the group is in it."""
    state, rules = system.state, system.rules
    place = [state.places[system.nodes * rules.hashes + each] for each in range(rules.hashes)]
    begin = int(np.asarray(state.wells)[np.asarray(system.graph.ends) == node][0])
    levels = (begin + level * rules.words for level in range(rules.depth + 1))
    return [all(state.filters[first + at // 62] >> (at % 62) & 1 for at in place) for first in levels]


def test_no_message_passes_between_the_sides_of_a_divided_network() -> None:
    system = QuasarOverlay(groups(200, [60], 1), 1)
    side = np.array([node % 2 for node in range(200)], np.int8)
    for _ in range(4):
        system.cycle()
    system.divide(side)
    for cycle in range(8):
        done = system.publish(0, system.members(0)[cycle], polls=1)
        assert not done.copies[side != side[done.publisher]].any()
        system.cycle()
    system.divide(np.zeros(200, np.int8))
    for _ in range(4):
        system.cycle()
    done = system.publish(0, system.members(0)[0], polls=2)
    assert (done.hops[system.members(0)] >= 0).mean() > 0.95


def test_events_take_as_long_as_their_messages() -> None:
    """With the same time for each link that is hops times it; otherwise an event never comes sooner than over the shortest way."""
    for execution in (COMPILED, INTERPRETED):
        system = QuasarOverlay(groups(60, [12], 1), 1, execution=execution)
        for _ in range(4):
            system.cycle()
        publisher = system.members(0)[0]
        constant, drawn = system.publish(0, publisher, by_link(20, 20, seed=1)), system.publish(0, publisher, by_link(10, 150, seed=1))
        for done in (constant, drawn):
            assert done.arrival_us is not None
            assert ((done.arrival_us >= 0) == (done.hops >= 0)).all()
        assert constant.arrival_us is not None
        assert drawn.arrival_us is not None
        has = constant.hops >= 0
        assert (constant.arrival_us[has] == 20_000 * constant.hops[has]).all()
        has = drawn.hops > 0
        assert (drawn.arrival_us[has] >= 10_000 * drawn.hops[has]).all()
        assert (drawn.arrival_us[has] <= 150_000 * drawn.hops[has]).all()
        assert system.publish(0, publisher).arrival_us is None
