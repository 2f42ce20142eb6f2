"""Cycles: the same compiled and interpreted, and messages and views as they are to be."""

from collections import Counter

import numpy as np
import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.poldercast.cycle import ANSWER
from overlay.simulator.poldercast.options import Ages, PolderOptions
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.state import CYCLON, RINGS, VICINITY, PolderState
from overlay.simulator.workload import OverlayWorkload
from tests.support.even_workload import even_workload
from tests.support.polder_world import logged, views

ROOM = 2_000_000


def arrays(state: PolderState) -> dict[str, bytes]:
    """Returns every table of a state, as bytes."""
    return {name: np.asarray(getattr(state, name), np.int64).tobytes() for name in state._fields}


def test_a_seed_gives_the_same_bytes_and_another_one_others(circle: OverlayWorkload) -> None:
    """OV-2."""
    one, same, other = (PolderCastOverlay(circle, seed) for seed in (5, 5, 6))
    for system in (one, same, other):
        system.run(5)
    same.publish_each()  # measuring is no part of what the overlay does
    assert {name for name, table in arrays(one.state).items() if table != arrays(same.state)[name]} <= {"messages", "sizes", "streams"}
    assert one.state.streams[:400].tolist() == same.state.streams[:400].tolist()  # type: ignore[attr-defined,index]
    for table in ("ids", "cells", "slots", "priorities", "sent"):
        assert arrays(one.state)[table] != arrays(other.state)[table]


@pytest.mark.parametrize("ages", ["own", "module", "shared"])
def test_messages_and_views_keep_their_bounds(circle: OverlayWorkload, ages: Ages) -> None:
    """P2P-3: no more than g entries (and the sender's profile in Rings and Vicinity), no self in views, nobody twice."""
    system = PolderCastOverlay(circle, 1, PolderOptions(ages=ages), logs=ROOM)
    system.run(12)
    for message in logged(system):
        nodes = [node for node, _ in message.entries]
        own = int(message.kind not in (CYCLON, CYCLON + ANSWER))
        assert len(nodes) == len(set(nodes)) <= 10 + own
        assert all(age >= 0 for _, age in message.entries)
        if message.kind != CYCLON + ANSWER:
            assert message.entries[0] == (message.sender, 0)
    degrees = circle.topics_of.lengths.tolist()
    for node in range(circle.nodes):
        for module, most in ((CYCLON, 20), (VICINITY, 20), (RINGS, 4 * degrees[node])):
            found = views(system, node)[module]
            assert len(found) == len(set(found)) <= most
            assert node not in found


def test_a_node_asks_once_and_is_answered_once_with_each_module(circle: OverlayWorkload) -> None:
    """P2P-23: so it handles 12 messages in each cycle, in the mean."""
    system = PolderCastOverlay(circle, 1, logs=ROOM)
    system.run(12)
    kinds = Counter(message.kind for message in logged(system))
    assert kinds[CYCLON] == kinds[CYCLON + ANSWER] == kinds[VICINITY] == kinds[VICINITY + ANSWER] == 12 * 400
    assert kinds[RINGS] == kinds[RINGS + ANSWER] <= 12 * 400
    sent, received = numbers(system.state.sent), numbers(system.messages)[::4]
    assert sum(sent) == sum(received) == len(logged(system))
    counted = Counter(message.sender for message in logged(system))
    assert sent == [counted[node] for node in range(400)]


def test_without_vicinity_only_cyclon_and_rings_gossip(circle: OverlayWorkload) -> None:
    system = PolderCastOverlay(circle, 1, PolderOptions(with_vicinity=False), logs=ROOM)
    system.run(3)
    assert {message.kind % ANSWER for message in logged(system)} == {CYCLON, RINGS}


def test_everybody_acts_once_in_each_cycle_and_in_another_order() -> None:
    system = PolderCastOverlay(even_workload(nodes=30, topics=5, each=2, seed=1), 1, logs=ROOM)
    orders = []
    for _ in range(2):
        before = len(logged(system))
        system.cycle()
        orders.append([message.sender for message in logged(system)[before:] if message.kind == CYCLON])
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(30))
    assert orders[0] != orders[1]


def test_the_least_recently_refreshed_partner_is_asked() -> None:
    """P2P-6: of Cyclon, whose messages tell ages: nobody in the sender's view was older. A dead node answers nothing."""
    system = PolderCastOverlay(even_workload(nodes=60, topics=5, each=2, seed=1), 1, logs=ROOM)
    system.run(10)
    system.leave([3])
    asked = set()
    for _ in range(15):
        since = {
            node: {
                int(system.state.cells[4 * (system.state.homes[node] + at)]): int(
                    system.state.cells[4 * (system.state.homes[node] + at) + 2]
                )
                for at in range(system.state.counts[3 * node])
            }
            for node in range(60)
        }
        before = len(logged(system))
        system.cycle()
        new = logged(system)[before:]
        first = next(message for message in new if message.kind == CYCLON)
        # The first to act in a cycle has the view that it had after the last one.
        assert since[first.sender][first.receiver] == min(since[first.sender].values())
        asked |= {message.receiver for message in new if message.kind < ANSWER}
        assert 3 not in {message.sender for message in new}
    assert 3 in asked


def test_dead_nodes_vanish_from_all_views(circle: OverlayWorkload) -> None:
    """P2P-7: none after three times the size of the largest view."""
    system = PolderCastOverlay(circle, 3)
    system.run(25)
    dead = set(range(0, 400, 5))
    system.leave(dead)
    largest = max(len(view) for node in range(400) for view in views(system, node))
    held = []
    for _ in range(3 * largest):
        system.cycle()
        held.append(sum(len(dead & set(view)) for node in set(range(400)) - dead for view in views(system, node)))
        if not held[-1]:
            break
    assert held[-1] == 0
    assert held[0] > 1000


def test_half_of_all_nodes_die_at_once_and_the_others_stay_together(circle: OverlayWorkload) -> None:
    """P2P-8: by way of Cyclon's views alone, the live nodes are one component."""
    system = PolderCastOverlay(circle, 3)
    system.run(25)
    dead = set(range(0, 400, 2))
    system.leave(dead)
    for _ in range(2):
        reached, waiting = {1}, [1]
        links = {node: [each for each in views(system, node)[CYCLON] if each not in dead] for node in set(range(400)) - dead}
        for node, known in list(links.items()):
            for each in known:
                links[each].append(node)
        while waiting:
            new = set(links[waiting.pop()]) - reached
            reached |= new
            waiting += new
        assert reached == set(range(400)) - dead
        system.run(30)


def test_copies_may_make_ages_lower_only_where_the_rules_say_so(circle: OverlayWorkload) -> None:
    """P2P-25: the rules are three different overlays, of which the default finds the rings first."""
    missing = []
    for ages in ("own", "module", "shared"):
        system = PolderCastOverlay(circle, 3, PolderOptions(ages=ages))
        system.run(25)
        missing.append(int(system.rings().missing.sum()))
    assert missing[0] < missing[1]
    assert missing[0] < missing[2]


def test_priorities_of_their_time_give_rings_as_soon_as_those_of_now(circle: OverlayWorkload) -> None:
    """1: a view entry is a copy with the priorities of its time; kernels may use today's, for it changes next to nothing."""
    missing = []
    for priorities in ("now", "then"):
        found = []
        for seed in range(3):
            system = PolderCastOverlay(circle, seed, PolderOptions(priorities=priorities))
            system.run(15)
            found.append(int(system.rings().missing.sum()))
        missing.append(sum(found))
    assert missing[0] != missing[1]
    assert missing[0] == pytest.approx(missing[1], rel=0.25)


def test_compiled_and_interpreted_nodes_believe_the_same_of_others() -> None:
    """OV-1: with priorities of their time, topics that change, and announcements."""
    workload = even_workload(nodes=60, topics=20, each=3, seed=1)
    found = []
    for execution in (INTERPRETED, COMPILED):
        system = PolderCastOverlay(workload, 7, PolderOptions(priorities="then", announces=True), execution=execution, logs=ROOM)
        system.run(6)
        system.change_many({node: [node % 20, (node + 7) % 20, 3, 4, 5] for node in range(1, 60, 9)})
        system.run(6)
        found.append((logged(system), arrays(system.state)))
    assert found[0] == found[1]


def test_entries_of_marked_nodes_are_counted() -> None:
    """OV-5: against a count by hand."""
    system = PolderCastOverlay(even_workload(nodes=60, topics=8, each=3, seed=2), 2, execution=INTERPRETED)
    system.run(5)
    marked = np.arange(60) % 5 == 0
    held = system.held(marked)
    for module in range(3):
        seen = [view for node in range(60) if not marked[node] for view in [views(system, node)[module]]]
        assert held[module].tolist() == [sum(map(len, seen)), sum(marked[each] for view in seen for each in view)]
