"""All trees as a whole, beside what is read from the seats one by one."""

from overlay.simulator.scribe.forest import forest, outage
from overlay.simulator.scribe.overlay import ScribeOverlay
from tests.support.even_workload import even_workload
from tests.support.scribe_trees import root_of, seats_of, way_down

NODES, TOPICS = 200, 30


def overlay() -> ScribeOverlay:
    return ScribeOverlay(even_workload(nodes=NODES, topics=TOPICS, each=3, seed=5), 5)


def test_relays_depths_and_seats_are_those_that_one_finds_one_by_one() -> None:
    """P2P-33, P2P-34: one root of each topic, no stray seat; forwarders that do not subscribe are told by topic."""
    system = overlay()
    found, seats = forest(system.state), [0] * NODES
    for topic in range(TOPICS):
        above = seats_of(system, topic)
        for node in above:
            seats[node] += 1
        assert found.relays[topic] == len(set(above) - set(system.members(topic)))
        assert found.depths[topic] == max(len(way_down(above, node)) - 1 for node in above)
    assert found.seats.tolist() == seats
    assert (found.roots, found.stray) == (TOPICS, 0)
    assert found.relays.sum() > TOPICS


def test_seats_below_a_dead_parent_are_stray() -> None:
    system = overlay()
    root = root_of(system, 3)
    below = {node for node, above in seats_of(system, 3).items() if root in way_down(seats_of(system, 3), node)}
    system.leave([root])
    found = forest(system.state)
    assert found.stray >= len(below - {root}) > 0
    assert found.roots < TOPICS


def test_a_dead_rendezvous_interrupts_its_topic_for_some_cycles_and_is_rendezvous_again_when_it_is_back() -> None:
    """P2P-35: the outage is told; a child waits for two silent cycles before it joins anew."""
    system = overlay()
    root = root_of(system, 3)
    assert 1 <= outage(system, 3) <= 10
    assert root_of(system, 3) == root
    assert forest(system.state).stray == 0
