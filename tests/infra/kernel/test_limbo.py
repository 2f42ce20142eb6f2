"""Rows are free again as soon as nothing can arrive under them any more, and not before."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from infra.kernel.announcer import Announcer
from infra.kernel.frames import Applied, View
from infra.kernel.interest import Interest
from infra.kernel.limbo import Limbo
from infra.kernel.topics import Topic, user_topic
from tests.support.simulated_node import SimulatedNode

PLACES = [("lon", "b1"), ("lon", "b2"), ("ash", "b1"), ("ash", "b2")]
TOPICS = st.sampled_from([user_topic(f"u{n}") for n in range(4)])
SOME_PLACES = st.sampled_from(PLACES)


class LimboMachine(RuleBasedStateMachine):
    """A broker that announces to two sites, whose nodes publish on everything they know before each thing they do."""

    def __init__(self) -> None:
        super().__init__()
        self.interest = Interest()
        self.bit = self.interest.open()
        self.announcers = {site: Announcer(site, lambda: self.interest.wanted(1 << self.bit)) for site in ("lon", "ash")}
        self.limbo = Limbo(list(self.announcers.values()))
        self.nodes = {place: SimulatedNode(place[0]) for place in PLACES}
        self.views = 0

    @initialize()
    def begin(self) -> None:
        for place in PLACES:
            self.change_view(place[0], {"b1", "b2"})
            self.link(place)

    @rule(topic=TOPICS)
    def want(self, topic: Topic) -> None:
        for row, _, _ in self.interest.subscribe(self.bit, [topic], [0]):
            for announcer in self.announcers.values():
                announcer.want([(row, topic)])

    @rule(topic=TOPICS)
    def unwant(self, topic: Topic) -> None:
        for row, _, _ in self.interest.unsubscribe(self.bit, [topic]):
            for announcer in self.announcers.values():
                announcer.unwant([topic])
            self.limbo.add([(row, topic)])

    @rule(site=st.sampled_from(["lon", "ash"]), slots=st.sets(st.sampled_from(["b1", "b2"]), min_size=1))
    def change_view(self, site: str, slots: set[str]) -> None:
        self.views += 1
        self.announcers[site].set_view(View(self.views, tuple(sorted(slots))))

    @rule(place=SOME_PLACES)
    def link(self, place: tuple[str, str]) -> None:
        """Links a node, also in place of a link that stood."""
        node = self.nodes[place]
        node.reset()
        node.up = True
        self.announcers[place[0]].node_up(place[1], node)

    @rule(place=SOME_PLACES)
    def unlink(self, place: tuple[str, str]) -> None:
        node = self.nodes[place]
        node.reset()
        node.up = False
        self.announcers[place[0]].node_down(place[1])

    @rule(place=SOME_PLACES)
    def work(self, place: tuple[str, str]) -> None:
        node = self.nodes[place]
        node.publish()
        if node.inbox:
            node.work()
        if node.up:
            node.say()

    @rule(place=SOME_PLACES)
    def hear(self, place: tuple[str, str]) -> None:
        node = self.nodes[place]
        if node.outbox:
            match node.outbox.popleft():
                case Applied(n, sites):
                    self.announcers[place[0]].applied(place[1], n, sites)
                case (row, topic):
                    assert self.interest.rows.get(topic) == row, "nothing arrives under a row that is free"

    @rule()
    def sweep(self) -> None:
        for row, topic in self.limbo.leave():
            self.interest.release(row, topic)

    @rule()
    def settle(self) -> None:
        """Lets everything arrive and be answered. Then only what is wanted has a row."""
        for place, node in [*self.nodes.items()] * 2:
            while node.inbox:
                self.work(place)
            while node.outbox:
                self.hear(place)
        self.sweep()
        assert len(self.limbo) == 0
        assert len(self.interest) == len(list(self.interest.wanted(1 << self.bit)))

    @invariant()
    def no_row_waits_twice(self) -> None:
        assert len(self.limbo) <= len(self.interest)


TestLimbo = LimboMachine.TestCase
TestLimbo.settings = settings(max_examples=50, stateful_step_count=40)


def test_without_anybody_to_tell_a_row_is_free_at_once() -> None:
    """A broker of a single site, and an aggregator that has lost all brokers."""
    for announcers in ([], [Announcer("sto", list)]):
        limbo = Limbo(announcers)
        limbo.add([(1, user_topic("ann")), (2, user_topic("bob"))])
        assert list(limbo.leave()) == [(1, user_topic("ann")), (2, user_topic("bob"))]
        assert list(limbo.leave()) == []


def test_a_row_that_was_wanted_again_in_between_waits_for_the_last_withdrawal() -> None:
    """Answers to the first withdrawal say nothing about what was delivered after the second wish."""
    announcer, ann = Announcer("sto", list), user_topic("ann")
    limbo, node = Limbo([announcer]), SimulatedNode("sto")
    announcer.set_view(View(1, ("b1",)))
    node.up = True
    announcer.node_up("b1", node)
    for _ in range(2):
        announcer.want([(0, ann)])
        announcer.unwant([ann])
        limbo.add([(0, ann)])
    for n in range(1, 5):
        announcer.applied("b1", n, {"sto": n})
        assert list(limbo.leave()) == []
    announcer.applied("b1", 5, {"sto": 5})
    assert list(limbo.leave()) == [(0, ann)]


def test_rows_stay_while_one_linked_node_has_not_done_the_withdrawal_whether_it_still_owns_anything_or_not() -> None:
    """A broker that drains has left the view; what it sent before it knew is still on its way."""
    announcer = Announcer("sto", list)
    limbo = Limbo([announcer])
    leaving, staying = SimulatedNode("sto"), SimulatedNode("sto")
    announcer.set_view(View(1, ("b1",)))
    for slot, node in (("b1", leaving), ("b2", staying)):
        node.up = True
        announcer.node_up(slot, node)
    announcer.want([(0, user_topic("ann"))])
    announcer.set_view(View(2, ("b2",)))
    announcer.unwant([user_topic("ann")])
    limbo.add([(0, user_topic("ann"))])
    for n in range(1, 10):
        announcer.applied("b2", n, {"sto": n})
    assert list(limbo.leave()) == []
    announcer.node_down("b1")
    assert list(limbo.leave()) == [(0, user_topic("ann"))]


def test_how_far_sites_behind_are_does_not_matter() -> None:
    """What is installed where may take as long as a partition; the node itself sends nothing under the row any more."""
    announcer = Announcer("sto", list)
    limbo, node = Limbo([announcer]), SimulatedNode("sto")
    node.up = True
    announcer.node_up("b1", node)
    announcer.set_view(View(1, ("b1",)))
    announcer.unwant([user_topic("ann")])
    limbo.add([(0, user_topic("ann"))])
    announcer.applied("b1", 1, {"sto": 0, "lon": 0})
    assert list(limbo.leave()) == []
    announcer.applied("b1", 2, {"sto": 0, "lon": 0})
    assert list(limbo.leave()) == [(0, user_topic("ann"))]
