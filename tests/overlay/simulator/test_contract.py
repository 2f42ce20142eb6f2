"""The contract of all simulated overlays, compiled and interpreted: who may hold an event, how often, and how it is counted."""

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from analytics.processes import results
from overlay.protocol.chance import begin, below
from overlay.simulator import sizes
from overlay.simulator.compiled import CHECKED, COMPILED, INTERPRETED, Execution
from overlay.simulator.counters import CONTROL, DUPLICATE, EVENT, KINDS, UNWANTED
from overlay.simulator.errors import OverlayError
from overlay.simulator.event_counts import FIRST_EVENT
from overlay.simulator.harm import Misdeed
from overlay.simulator.latency.latency import constant
from overlay.simulator.system import NOT_REACHED
from overlay.simulator.systems import SYSTEMS, WatchedSystem, new_system
from tests.support.even_workload import even_workload

# In these nodes carry events that they do not want.
RELAYING: Final = {"scribe", "quasar"}
# In these an event is routed to where its way to the subscribers begins. On that way it is opaque: unwanted, and no copy.
ROUTING: Final = {"scribe"}
NODES: Final = 40
TOPICS: Final = 8
# After so many cycles rings, trees and filters of so few nodes are as they are to be.
SETTLED: Final = 15

# Kernels are compiled once on a machine, by whichever test comes first.
pytestmark = pytest.mark.timeout(400)
every_system = pytest.mark.parametrize("name", SYSTEMS)
both_ways = pytest.mark.parametrize("execution", [COMPILED, INTERPRETED], ids=["compiled", "interpreted"])


def world(name: str, execution: Execution = COMPILED, *, seed: int = 3, cycles: int = SETTLED) -> WatchedSystem:
    """Returns a small overlay after so many cycles."""
    system = new_system(name, even_workload(nodes=NODES, topics=TOPICS, each=3, seed=seed), seed, execution)
    for _ in range(cycles):
        system.cycle()
    return system


def counted(buffer: Any) -> NDArray[np.int64]:
    """Returns a copy of counters, a row for each node."""
    return np.array(buffer, np.int64).reshape(-1, KINDS).copy()


def held(value: Any) -> Iterator[bytes]:
    """Yields all that a system holds in its buffers."""
    if isinstance(value, tuple):
        for each in value:
            yield from held(each)
    else:
        yield np.asarray(value, np.int64).tobytes()


def fingerprint(system: WatchedSystem) -> str:
    """Returns a digest of the state of all nodes, their random streams and what they have received."""
    told = sha256()
    for part in held((system.state, system.messages, system.sizes)):  # type: ignore[attr-defined]
        told.update(part)
    return told.hexdigest()


def lived(name: str, execution: Execution, *, nodes: int, cycles: int, seed: int) -> list[str]:
    """Lets nodes leave, come back, change their topics and publish. Returns what was there after each cycle."""
    system = new_system(name, even_workload(nodes=nodes, topics=nodes // 6, each=3, seed=1), seed, execution)
    found = []
    for cycle in range(cycles):
        if cycle % 10 == 3:
            system.leave(range(cycle, cycle + nodes // 12))
        if cycle % 10 == 8:
            system.come(range(cycle - 5, cycle - 5 + nodes // 12))
        if cycle == cycles // 2:
            system.change_topics(7, [0, 1, 2])
        system.cycle()
        if cycle % 7 == 6:
            topic = cycle % (nodes // 6)
            done = system.publish(topic, system.members(topic)[0])
            found.append(sha256(done.hops.tobytes() + done.copies.tobytes()).hexdigest())
        found.append(fingerprint(system))
    return found


@both_ways
@every_system
def test_an_event_is_delivered_to_subscribers_only_and_to_each_once(name: str, execution: Execution) -> None:
    """P2P-11: where nobody relays, nobody else holds it either."""
    system = world(name, execution)
    for topic in range(TOPICS):
        members = system.members(topic)
        publisher = members[topic % len(members)]
        before = counted(system.messages)
        done = system.publish(topic, publisher)
        received = counted(system.messages) - before
        delivered = np.flatnonzero(received[:, EVENT])
        assert done.hops[publisher] == 0
        assert set(delivered) - {publisher} == {node for node in members if done.hops[node] > 0}
        assert received[:, EVENT].max() <= 1
        assert len(delivered) >= 0.9 * (len(members) - 1)
        others = np.setdiff1d(np.arange(NODES), members)
        assert name in ROUTING or received[members, UNWANTED].sum() == 0
        assert name in RELAYING or done.copies[others].sum() == 0


@both_ways
@every_system
def test_every_copy_is_counted_once_by_its_kind_with_its_bytes(name: str, execution: Execution) -> None:
    system = world(name, execution)
    for topic in range(TOPICS):
        messages, octets = counted(system.messages), counted(system.sizes)
        done = system.publish(topic, system.members(topic)[0])
        messages, octets = counted(system.messages) - messages, counted(system.sizes) - octets
        of_events = [EVENT, DUPLICATE, UNWANTED]
        more = messages[:, of_events].sum(1) - done.copies
        assert (more >= 0).all()
        assert name in ROUTING or not more.any()
        assert (octets[:, of_events] >= sizes.EVENT * messages[:, of_events]).all()
        assert ((octets == 0) == (messages == 0)).all()


@both_ways
@every_system
def test_a_cycle_costs_control_messages_and_no_events_and_counters_never_fall(name: str, execution: Execution) -> None:
    system = world(name, execution)
    before = counted(system.messages)
    system.change_topics(5, [0, 1])
    for _ in range(3):
        system.cycle()
    received = counted(system.messages) - before
    assert received[:, CONTROL].sum() > 0
    assert received[:, [EVENT, DUPLICATE, UNWANTED]].sum() == 0
    assert (received >= 0).all()


@every_system
def test_whoever_unsubscribes_is_delivered_nothing_more_and_some_time_later_hears_nothing(name: str) -> None:
    system = world(name)
    leaver = system.members(0)[1]
    system.change_topics(leaver, [topic for topic in range(TOPICS) if leaver not in system.members(topic)][:3])
    before = counted(system.messages)
    assert leaver not in system.members(0)
    assert system.publish(0, system.members(0)[0]).hops[leaver] < 0 or name in RELAYING
    assert (counted(system.messages) - before)[leaver, EVENT] == 0
    for _ in range(3 * SETTLED):
        system.cycle()
    for _ in range(5):
        assert system.publish(0, system.members(0)[0]).copies[leaver] == 0 or name in RELAYING


@every_system
def test_the_dead_get_nothing_and_those_who_come_back_get_events_again(name: str) -> None:
    system = world(name)
    dead = list(range(0, NODES, 5))
    system.leave(dead)
    before = counted(system.messages)
    for cycle in range(2 * SETTLED):
        if cycle % 10 == 0:
            for topic in range(TOPICS):
                done = system.publish(topic, system.members(topic)[0])
                assert not set(np.flatnonzero(done.hops >= 0)) & set(dead)
                assert done.copies[dead].sum() == 0
        system.cycle()
    assert (counted(system.messages) == before)[dead].all()
    system.come(dead)
    for _ in range(2 * SETTLED):
        system.cycle()
    for topic in range(TOPICS):
        members = np.array(system.members(topic))
        assert set(members) & set(dead)
        assert len(system.publish(topic, int(members[0])).missed(members)) <= (0 if name != "quasar" else 0.2 * len(members))


@every_system
def test_nothing_crosses_a_divide_and_when_it_is_gone_events_do(name: str) -> None:
    system = world(name)
    side = np.arange(NODES, dtype=np.int8) % 2
    system.divide(side)
    for topic in range(TOPICS):
        publisher = system.members(topic)[0]
        done = system.publish(topic, publisher)
        assert set(side[np.flatnonzero(done.copies)].tolist()) <= {side[publisher]}
        assert set(side[np.flatnonzero(done.hops >= 0)].tolist()) == {side[publisher]}
    system.divide(np.zeros(NODES, np.int8))
    crossed = [system.publish(topic, system.members(topic)[0]) for topic in range(TOPICS)]
    assert any(side[done.publisher] != side[node] for done in crossed for node in np.flatnonzero(done.hops > 0))


@every_system
def test_those_who_pass_nothing_on_get_events_and_publish_their_own(name: str) -> None:
    """OV-5: a freerider. Where everybody is one, an event goes one step."""
    system = world(name)
    before = [int((system.publish(topic, system.members(topic)[0]).hops > 0).sum()) for topic in range(TOPICS)]
    system.misbehave(np.full(NODES, int(Misdeed.FREERIDES), np.int64))
    ridden = [system.publish(topic, system.members(topic)[0]) for topic in range(TOPICS)]
    assert max(int(done.hops.max()) for done in ridden) == 1
    assert sum(done.messages for done in ridden) > 0
    system.misbehave(np.zeros(NODES, np.int64))
    after = [int((system.publish(topic, system.members(topic)[0]).hops > 0).sum()) for topic in range(TOPICS)]
    assert sum(after) >= 0.9 * sum(before)


@every_system
def test_with_one_latency_for_all_the_first_copy_comes_after_so_many_of_them_as_hops(name: str) -> None:
    system = world(name)
    for topic in range(TOPICS):
        publisher = system.members(topic)[0]
        assert system.publish(topic, publisher).arrival_us is None
        done = system.publish(topic, publisher, constant(7.5))
        assert done.arrival_us is not None
        reached = done.hops >= 0
        assert done.arrival_us[reached].tolist() == (7500 * done.hops[reached].astype(int)).tolist()
        assert (done.arrival_us[~reached] == NOT_REACHED).all()


@both_ways
@pytest.mark.parametrize("name", ["quasar", "gossipsub"])
def test_an_event_on_each_topic_is_one_event_after_the_other(name: str, execution: Execution) -> None:
    """The same publishers, one by one, reach the same nodes, and all goes on alike; some are dead and some pass nothing on."""
    together, apart = (world(name, execution, cycles=6) for _ in range(2))
    for each in (together, apart):
        each.leave([4, 11])
        each.misbehave(np.array([int(Misdeed.FREERIDES) * (node % 9 == 1) for node in range(NODES)]))
    counts, streams = together.publish_each(), [0]
    missed, got, copies = np.zeros(NODES, int), np.zeros(NODES, int), np.zeros(TOPICS, int)
    for topic in range(TOPICS):
        members = np.array(apart.members(topic))
        begin(streams, 0, 3, FIRST_EVENT + topic)
        done = apart.publish(topic, int(members[below(streams, 0, len(members))]))
        missed[members] += done.hops[members] < 0
        got[members] += done.hops[members] > 0
        copies[topic] = done.copies[members].sum()
    assert (np.asarray(counts.missed) == missed).all()
    assert (np.asarray(counts.got) == got).all()
    assert (np.asarray(counts.copies) == copies).all()
    assert missed.sum() > 0 or name == "gossipsub"
    for each in (together, apart):
        # What follows depends on what all have drawn and learned.
        each.cycle()
    assert (counted(together.messages) == counted(apart.messages)).all()
    again = np.asarray(together.publish_each(rounds=2).wanted)
    assert again.tolist() == [2 * len(apart.members(topic)) for topic in range(TOPICS)]


@every_system
def test_members_are_those_who_subscribe_and_are_there(name: str) -> None:
    system = world(name, cycles=0)
    first, second = system.members(0), system.members(1)
    mover = next(node for node in first if node not in second)
    system.change_topics(mover, [1])
    assert system.members(0) == [node for node in first if node != mover]
    assert system.members(1) == sorted([*second, mover])
    system.leave(second)
    assert system.members(1) == [mover]
    system.come(second)
    assert system.members(1) == sorted([*second, mover])


@every_system
def test_only_live_subscribers_publish(name: str) -> None:
    system = world(name, cycles=0)
    member = system.members(0)[0]
    stranger = next(node for node in range(NODES) if node not in system.members(0))
    with pytest.raises(OverlayError, match=f"node {stranger} is no live subscriber of topic 0: a publisher subscribes to its topic first"):
        system.publish(0, stranger)
    system.leave([member])
    with pytest.raises(OverlayError, match="is no live subscriber"):
        system.publish(0, member)


@every_system
def test_compiled_and_interpreted_nodes_do_the_same(name: str) -> None:
    """OV-1: 200 nodes, 50 cycles; after each of them every view, table, random stream and counter is the same."""
    assert lived(name, COMPILED, nodes=200, cycles=50, seed=4) == lived(name, INTERPRETED, nodes=200, cycles=50, seed=4)


# Kernels that check take minutes to compile on a machine that has other work.
@pytest.mark.timeout(1800)
@every_system
@pytest.mark.full
def test_no_kernel_leaves_its_buffers(name: str) -> None:
    """Each place of a buffer is checked. Kernels that check take a minute to compile, so this is not in the small run."""
    assert lived(name, CHECKED, nodes=200, cycles=50, seed=4) == lived(name, COMPILED, nodes=200, cycles=50, seed=4)


def test_a_seed_gives_the_same_bytes_in_any_process_and_another_one_others() -> None:
    """OV-2."""
    small = {"nodes": 24, "cycles": 4}
    here = {name: lived(name, INTERPRETED, seed=4, **small) for name in SYSTEMS}
    calls = [partial(lived, name, INTERPRETED, seed=4, **small) for name in SYSTEMS]
    there = list(results(calls, 2, "fingerprints"))
    assert sorted(there) == sorted(here.values())
    for name in SYSTEMS:
        other = lived(name, INTERPRETED, seed=5, **small)
        assert not set(other) & set(here[name])
