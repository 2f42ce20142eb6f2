"""Histories of an overlay that nobody thought of: nodes come, leave, part and change their minds, beside a model of who wants what.

The protocol code is interpreted, as a live peer runs it.
"""

from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from overlay.simulator.compiled import INTERPRETED
from overlay.simulator.counters import EVENT, KINDS
from overlay.simulator.systems import SYSTEMS, WatchedSystem, new_system
from tests.support.even_workload import even_workload

NODES: Final = 14
TOPICS: Final = 4
# So many nodes are always there. A node that comes back knows one of them, as long as they are more than half.
LEAST: Final = 8
# After so many quiet cycles an overlay of this size has forgotten the dead and found everybody.
QUIET: Final = 30
# In these nodes carry events that they do not want; this one does not promise that everybody is reached.
RELAYING: Final = {"scribe", "quasar"}
CHANCY: Final = {"quasar"}

node = st.integers(0, NODES - 1)
topic = st.integers(0, TOPICS - 1)


class OverlayHistory(RuleBasedStateMachine):
    """A history of one overlay. `wants` and `there` are the whole model."""

    name = ""

    @initialize(seed=st.integers(0, 99))
    def begin(self, seed: int) -> None:
        workload = even_workload(nodes=NODES, topics=TOPICS, each=2, seed=seed)
        self.system: WatchedSystem = new_system(self.name, workload, seed, INTERPRETED)
        self.wants = [set(row) for row in workload.topics_of.lists()]
        self.ever = [set(row) for row in self.wants]
        self.there = set(range(NODES))

    @rule(some=st.sets(node, min_size=1, max_size=4))
    @precondition(lambda self: len(self.there) > LEAST)
    def leave(self, some: set[int]) -> None:
        going = sorted(some & self.there)[: len(self.there) - LEAST]
        self.system.leave(going)
        self.there -= set(going)

    @rule(some=st.sets(node, min_size=1, max_size=4))
    def come(self, some: set[int]) -> None:
        coming = sorted(some - self.there)
        self.system.come(coming)
        self.there |= set(coming)

    @rule(who=node, topics=st.sets(topic, min_size=1, max_size=3))
    def change(self, who: int, topics: set[int]) -> None:
        self.system.change_topics(who, sorted(topics))
        self.wants[who] = set(topics)
        self.ever[who] |= topics

    @rule(cycles=st.integers(1, 3))
    def live(self, cycles: int) -> None:
        for _ in range(cycles):
            self.system.cycle()

    @rule(about=topic, pick=st.integers(0, 99))
    def publish(self, about: int, pick: int) -> None:
        members = self.members(about)
        if members:
            self.published(about, members[pick % len(members)])

    @rule(apart=st.sets(node, min_size=1, max_size=5), about=topic)
    def part_and_publish(self, apart: set[int], about: int) -> None:
        """Parts the network for a moment, in which an event stays on its side."""
        self.system.divide(np.array([int(each in apart) for each in range(NODES)], np.int8))
        for publisher in self.members(about)[:1]:
            reached = self.published(about, publisher)
            assert len({each in apart for each in reached}) == 1
        self.system.divide(np.zeros(NODES, np.int8))

    @rule()
    def be_quiet_and_publish(self) -> None:
        """Lets nothing happen for a while, after which everybody who wants an event gets it."""
        for _ in range(QUIET):
            self.system.cycle()
        for about in range(TOPICS):
            members = self.members(about)
            if members:
                reached = self.published(about, members[0])
                assert self.name in CHANCY or sorted(reached) == members

    @invariant()
    def members_are_those_who_want_it_and_are_there(self) -> None:
        if hasattr(self, "there"):
            assert [self.system.members(about) for about in range(TOPICS)] == [self.members(about) for about in range(TOPICS)]

    def members(self, about: int) -> list[int]:
        return sorted(each for each in self.there if about in self.wants[each])

    def published(self, about: int, publisher: int) -> set[int]:
        """Publishes, checks that only those got it who may, each of them once, and returns who did."""
        before = self.delivered()
        done = self.system.publish(about, publisher)
        delivered = self.delivered() - before
        members = self.members(about)
        assert delivered.max() <= 1
        reached = set(np.flatnonzero(delivered).tolist()) | {publisher}
        assert reached <= set(members)
        assert {each for each in members if done.hops[each] >= 0} == reached
        touched = set(np.flatnonzero(done.copies).tolist())
        assert touched <= self.there
        # Others may still take a node for a subscriber that has been one.
        assert self.name in RELAYING or all(about in self.ever[each] for each in touched)
        return reached

    def delivered(self) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return np.array(self.system.messages, np.int64).reshape(-1, KINDS)[:, EVENT].copy()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SYSTEMS)
def test_whatever_happens_only_those_who_want_an_event_get_it_and_in_quiet_times_all_of_them(name: str) -> None:
    machine: type[RuleBasedStateMachine] = type(f"{name}History", (OverlayHistory,), {"name": name})
    bounded = settings(
        max_examples=8,
        stateful_step_count=12,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=bounded)
