"""Trees reach everybody, mend themselves, and are made of forwarders that need not want what they carry."""

import numpy as np

from overlay.protocol.pastry import NOBODY
from overlay.simulator.compiled import COMPILED, Execution, numbers
from overlay.simulator.counters import CONTROL, DUPLICATE, KINDS
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.state import find_seat
from overlay.simulator.system import Dissemination
from tests.support.even_workload import even_workload

NODES, TOPICS = 200, 30


def overlay(*, seed: int = 5, nodes: int = NODES, topics: int = TOPICS, execution: Execution = COMPILED) -> ScribeOverlay:
    return ScribeOverlay(even_workload(nodes=nodes, topics=topics, each=3, seed=seed), seed, execution=execution)


def publish_all(system: ScribeOverlay, topics: int = TOPICS) -> list[Dissemination]:
    return [system.publish(topic, members[0]) for topic in range(topics) if (members := system.members(topic))]


def missed(system: ScribeOverlay, topics: int = TOPICS) -> int:
    """Returns how many live subscribers did not get an event of each topic."""
    found = publish_all(system, topics)
    return sum(len(done.missed(np.array(system.members(done.topic), np.int32))) for done in found)


def seats_of(system: ScribeOverlay, topic: int) -> dict[int, int]:
    """Returns the node above each node that is in the tree of `topic`."""
    found = {}
    for node in range(NODES):
        seat = find_seat(system.state, node, topic)
        if seat != NOBODY and system.state.in_tree[seat] and system.state.alive[node]:
            found[node] = int(system.state.parents[seat])
    return found


def test_everybody_gets_each_event_once() -> None:
    """P2P-33: no duplicates, no loss without churn."""
    system = overlay()
    for done in publish_all(system):
        assert not len(done.missed(np.array(system.members(done.topic), np.int32)))
        assert done.copies.max() == 1
    assert np.array(numbers(system.messages)).reshape(-1, KINDS)[:, DUPLICATE].sum() == 0


def test_a_tree_has_one_root_one_parent_each_and_no_cycle() -> None:
    """P2P-33."""
    system = overlay()
    system.cycle()
    for topic in range(TOPICS):
        above = seats_of(system, topic)
        assert sum(parent == node for node, parent in above.items()) == 1
        for node in above:
            way = [node]
            while above[way[-1]] != way[-1]:
                way.append(above[way[-1]])
                assert len(way) <= NODES


def test_some_carry_what_they_do_not_want() -> None:
    """P2P-34: relays of each topic are counted. So there is unwanted traffic."""
    system = overlay()
    relays = {topic: len(set(seats_of(system, topic)) - set(system.members(topic))) for topic in range(TOPICS)}
    assert sum(relays.values()) > TOPICS
    before = np.array(numbers(system.state.relayed))
    system.cycle()
    assert (np.array(numbers(system.state.relayed)) - before).sum() > 0


def test_a_dead_rendezvous_interrupts_its_topic_until_its_children_have_joined_anew() -> None:
    """P2P-35: the outage is a few cycles."""
    system = overlay()
    system.cycle()
    topic = 3
    root = next(node for node, parent in seats_of(system, topic).items() if parent == node)
    system.leave([root])
    members = np.array(system.members(topic), np.int32)
    outage = 0
    while len(system.publish(topic, int(members[0])).missed(members)):
        system.cycle()
        outage += 1
        assert outage < 10
    assert outage > 0


def test_trees_mend_themselves_after_churn() -> None:
    """Back to 100 % when it is over."""
    system = overlay()
    for cycle in range(12):
        system.leave(range(cycle * 10, cycle * 10 + 10))
        if cycle > 3:
            system.come(range((cycle - 4) * 10, (cycle - 4) * 10 + 10))
        system.cycle()
    for _ in range(5):
        system.cycle()
    assert missed(system) == 0


def test_whoever_unsubscribes_gets_nothing_more_and_leaves_the_tree_where_nobody_needs_them() -> None:
    system = overlay()
    topic = 4
    leaver = next(node for node in system.members(topic) if node not in seats_of(system, topic).values())
    system.change_topics(leaver, [each for each in (0, 1, 2) if each != topic])
    system.cycle()
    system.cycle()
    assert leaver not in seats_of(system, topic)
    assert system.publish(topic, system.members(topic)[0]).copies[leaver] == 0


def test_a_rendezvous_is_handed_over_to_a_nearer_newcomer() -> None:
    system = overlay()
    topic = 3
    root = next(node for node, parent in seats_of(system, topic).items() if parent == node)
    system.leave([root])
    for _ in range(4):
        system.cycle()
    system.come([root])
    for _ in range(4):
        system.cycle()
    assert seats_of(system, topic)[root] == root
    assert sum(parent == node for node, parent in seats_of(system, topic).items()) == 1
    assert missed(system) == 0


def test_heartbeats_are_proportional_to_topics_and_relayed_topics() -> None:
    """P2P-23: of the control messages about topics, R² of a line over the number of trees that a node is in is 0.9 or more."""
    system = overlay(nodes=NODES, topics=150)
    before = np.array(numbers(system.messages)).reshape(-1, KINDS)[:, CONTROL] - np.array(numbers(system.state.pastry))
    for _ in range(5):
        system.cycle()
    received = np.array(numbers(system.messages)).reshape(-1, KINDS)[:, CONTROL] - np.array(numbers(system.state.pastry)) - before
    trees = np.zeros(NODES)
    for topic in range(150):
        above = seats_of(system, topic)
        trees[[node for node, parent in above.items() if parent != node]] += 1
    fitted = np.polyval(np.polyfit(trees, received, 1), trees)
    assert 1 - ((received - fitted) ** 2).sum() / ((received - received.mean()) ** 2).sum() >= 0.9
