"""An announcer among simulated nodes that are slow, break away, change their view and lose sites behind them.

What counts: in the end the owners hold exactly what is wanted; a mark is never called reached where it is not; a row that
was withdrawn is never free while something may arrive under it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from infra.kernel import announcer as announcer_module
from infra.kernel import interest as interest_module
from infra.kernel import moving_topics
from infra.kernel.announcer import BULK, MAX_MARKS, MAX_PARTINGS, PARTING_BEATS, Announcer
from infra.kernel.frames import Applied, Frame, Subscribe, Unsubscribe, View
from infra.kernel.interest import LOOKS_AT_ONCE, ROWS_AT_ONCE, Interest
from infra.kernel.limbo import Limbo
from infra.kernel.moving_topics import WITHDRAWN_AT_ONCE, Told
from infra.kernel.topics import Topic, user_topic
from tests.support.simulated_node import SimulatedNode

HERE, FAR = "sto", ("lon", "ash")
SLOTS = ["b1", "b2", "b3"]
TOPICS = [user_topic(f"u{n}") for n in range(9)]
GROUPS = st.sets(st.sampled_from(TOPICS), min_size=1, max_size=4)
# One answer may make room for the next thing to say, but not for ever.
ROUNDS = 4


class WantedCells(NamedTuple):
    """The rows of one link, found by their cells (see `WantedByCell`)."""

    interest: Interest
    bit: int

    def wanted_in(self, cells: bytes) -> Iterator[list[tuple[int, Topic]]]:
        return self.interest.wanted_in(1 << self.bit, cells)

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        self.interest.note_cells(pairs, hashes)


class AnnouncerMachine(RuleBasedStateMachine):
    """`marks`: what was wanted at each mark and has been ever since. `left`: what is done in later turns of the loop."""

    by_cell = False

    def __init__(self) -> None:
        super().__init__()
        announcer_module.BULK = 2  # type: ignore[misc]  # so that a few topics are many frames
        interest_module.ROWS_AT_ONCE = moving_topics.WITHDRAWN_AT_ONCE = 1  # type: ignore[misc]  # and many turns
        interest_module.LOOKS_AT_ONCE = 1  # type: ignore[misc]
        self.left: list[Iterator[float]] = []
        self.interest = Interest(by_cell=self.by_cell)
        self.bit = self.interest.open()
        cells = WantedCells(self.interest, self.bit) if self.by_cell else None
        self.announcer = Announcer(HERE, lambda: self.interest.wanted(1 << self.bit), cells, spawn=self.left.append)
        self.limbo = Limbo([self.announcer])
        self.nodes = {slot: SimulatedNode(HERE) for slot in SLOTS}
        self.wanted: set[Topic] = set()
        self.marks: dict[int, set[Topic]] = {}
        # What had been told at each fence, and how much was on its way from each node then and has not come since.
        self.fences: list[tuple[Told, dict[str, int]]] = []

    def teardown(self) -> None:
        announcer_module.BULK = BULK  # type: ignore[misc]
        interest_module.ROWS_AT_ONCE = ROWS_AT_ONCE  # type: ignore[misc]
        interest_module.LOOKS_AT_ONCE = LOOKS_AT_ONCE  # type: ignore[misc]
        moving_topics.WITHDRAWN_AT_ONCE = WITHDRAWN_AT_ONCE  # type: ignore[misc]

    # What this node wants.

    @initialize()
    def begin(self) -> None:
        """Begins with a site that is whole. What comes then breaks it."""
        self.change_view(set(SLOTS))
        for slot in SLOTS:
            self.link_up(slot)

    @rule(topics=GROUPS)
    def want(self, topics: set[Topic]) -> None:
        news = self.interest.subscribe(self.bit, sorted(topics), [0] * len(topics))
        self.announcer.want((row, topic) for row, topic, _ in news)
        self.wanted |= topics
        self.mark()

    @rule(topics=GROUPS)
    def unwant(self, topics: set[Topic]) -> None:
        gone = self.interest.unsubscribe(self.bit, sorted(topics))
        self.announcer.unwant(topic for _, topic, _ in gone)
        self.limbo.add((row, topic) for row, topic, _ in gone)
        self.wanted -= topics
        for still in self.marks.values():
            still -= topics

    @rule(topics=GROUPS)
    def reweigh(self, topics: set[Topic]) -> None:
        """Announces again what is wanted: nothing is missing or twice by that, and marks wait for no more than before."""
        rows = self.interest.rows
        self.announcer.reweigh([(rows[topic], topic) for topic in sorted(topics & self.wanted)])

    @rule()
    def mark(self) -> None:
        """Takes a mark. One that is given again stands for now, too."""
        self.marks.setdefault(self.announcer.mark(), set()).update(self.wanted)

    @rule()
    def fence(self) -> None:
        self.fences.append((self.announcer.ask_all(), {slot: len(node.outbox) for slot, node in self.nodes.items() if node.up}))

    @invariant()
    def a_fence_is_passed_when_all_has_come_that_was_sent_before(self) -> None:
        for told, coming in self.fences:
            assert not (self.announcer.has_done(told) and any(coming.values()))

    # What happens to the site.

    @rule(slots=st.sets(st.sampled_from(SLOTS)), is_lost=st.booleans())
    def change_view(self, slots: set[str], *, is_lost: bool = False) -> None:
        """Has another view hold. Where a node is lost, all is announced at once."""
        number = self.announcer.view.number
        moved = list[bool]()
        assert self.announcer.set_view(View(number + 1, tuple(sorted(slots))), partial(moved.append, True) if is_lost else None)
        assert (len(moved), is_lost and not self.announcer.is_announced) == (is_lost, False)
        assert not self.announcer.set_view(View(number + 1, ()))
        assert not self.announcer.set_view(View(number, tuple(SLOTS)))

    @rule()
    def tick(self) -> None:
        self.announcer.tick()

    @rule()
    def turn(self) -> None:
        """Does a step of what is left of moves."""
        self.left[:] = [work for work in self.left if next(work, None) is not None]

    @invariant()
    def what_is_left_of_moves_is_one_work(self) -> None:
        assert len(self.left) <= 1
        assert self.announcer.is_announced or self.left

    @rule(slot=st.sampled_from(SLOTS))
    def link_up(self, slot: str) -> None:
        """Links a node, also in place of a link whose end was not noticed."""
        self.lose(slot)
        node = self.nodes[slot]
        node.reset()
        node.up = True
        self.announcer.node_up(slot, node)

    @rule(slot=st.sampled_from(SLOTS))
    def link_down(self, slot: str) -> None:
        self.lose(slot)
        self.nodes[slot].reset()
        self.nodes[slot].up = False
        self.announcer.node_down(slot)

    def lose(self, slot: str) -> None:
        """Loses a link: what is on its way from there never comes."""
        for _, coming in self.fences:
            coming.pop(slot, None)

    @rule(site=st.sampled_from(FAR))
    def meet_site(self, site: str) -> None:
        """Makes all brokers know one more site: those of a site know the same ones."""
        for node in self.nodes.values():
            node.behind.setdefault(site, (0, set()))

    @rule(slot=st.sampled_from(SLOTS), site=st.sampled_from(FAR))
    def install(self, slot: str, site: str) -> None:
        if site in self.nodes[slot].behind:
            self.nodes[slot].install(site)

    @rule(slot=st.sampled_from(SLOTS), site=st.sampled_from((HERE, *FAR)))
    def lose_site(self, slot: str, site: str) -> None:
        node = self.nodes[slot]
        if node.up and site in node.behind:
            node.lose(site)

    # What goes through links.

    @rule(slot=st.sampled_from(SLOTS), frames=st.integers(1, 5))
    def work(self, slot: str, frames: int) -> None:
        node = self.nodes[slot]
        for _ in range(min(frames, len(node.inbox))):
            node.work()

    @rule(slot=st.sampled_from(SLOTS))
    def say(self, slot: str) -> None:
        if self.nodes[slot].up:
            self.nodes[slot].say()

    @rule(slot=st.sampled_from(SLOTS))
    def publish(self, slot: str) -> None:
        self.nodes[slot].publish()

    @rule(slot=st.sampled_from(SLOTS), frames=st.integers(1, 12))
    def hear(self, slot: str, frames: int) -> None:
        node = self.nodes[slot]
        for _ in range(min(frames, len(node.outbox))):
            for _, coming in self.fences:
                coming[slot] = max(0, coming.get(slot, 0) - 1)
            match node.outbox.popleft():
                case Applied(n, sites):
                    self.announcer.applied(slot, n, sites)
                    self.sweep()
                case (row, topic):
                    assert self.interest.rows.get(topic) == row, "a delivery that is late is for nobody, never for somebody else"

    @rule(slot=st.sampled_from(SLOTS))
    def exchange(self, slot: str) -> None:
        """Lets everything be told and arrive, and all sites behind catch up."""
        while self.left:
            self.turn()
        node = self.nodes[slot]
        self.work(slot, len(node.inbox))
        for site in node.behind:
            node.install(site)
        self.say(slot)
        self.hear(slot, len(node.outbox))

    @rule()
    def sweep(self) -> None:
        for row, topic in self.limbo.leave():
            self.interest.release(row, topic)

    @invariant()
    def no_mark_is_reached_too_early(self) -> None:
        for site, reached in self.announcer.reached.items():
            for mark, topics in self.marks.items():
                if mark <= reached:
                    for topic in topics:
                        self.check_held(site, topic)

    def check_held(self, site: str, topic: Topic) -> None:
        slot = self.announcer.ring.owner(topic)
        assert slot is not None
        node = self.nodes[slot]
        known = self.announcer._nodes[slot].applied.get(site, 0)
        assert node.is_retracting(site, known) or (node.up and topic in node.behind[site][1])

    @invariant()
    def memory_is_bounded(self) -> None:
        assert len(self.announcer._marks) <= MAX_MARKS
        assert len(self.limbo) <= len(TOPICS)

    @precondition(lambda self: self.announcer.view.slots)
    @rule()
    def settle(self) -> None:
        """Links every node of the view, and lets everything arrive and all sites catch up: all is as it should be."""
        for slot in self.announcer.view.slots:
            if not self.nodes[slot].up:
                self.link_up(slot)
        for slot in SLOTS * ROUNDS:
            self.exchange(slot)
        for slot, node in self.nodes.items():
            owned = {topic: self.interest.rows[topic] for topic in self.wanted if self.announcer.ring.owner(topic) == slot}
            assert node.handles == owned, slot
        assert self.announcer.reached == dict.fromkeys(self.nodes["b1"].behind, self.announcer.mark())
        assert len(self.limbo) == 0
        assert all(self.announcer.has_done(told) for told, _ in self.fences)


TestAnnouncer = AnnouncerMachine.TestCase
TestAnnouncer.settings = settings(max_examples=60, stateful_step_count=50)


class CellAnnouncerMachine(AnnouncerMachine):
    """The same where each row keeps its cell of the ring."""

    by_cell = True


TestAnnouncerByCell = CellAnnouncerMachine.TestCase
TestAnnouncerByCell.settings = settings(max_examples=60, stateful_step_count=50)


def linked(*slots: str, wanted: dict[Topic, int]) -> tuple[Announcer, dict[str, SimulatedNode]]:
    """Returns an announcer whose view is `slots`, all of them linked, with both other sites behind them."""
    announcer = Announcer(HERE, lambda: [(row, topic) for topic, row in wanted.items()])
    nodes = {slot: SimulatedNode(HERE) for slot in slots}
    announcer.set_view(View(1, slots))
    for slot, node in nodes.items():
        node.behind |= dict.fromkeys(FAR, (0, set()))
        node.up = True
        announcer.node_up(slot, node)
    return announcer, nodes


def exchange(announcer: Announcer, nodes: dict[str, SimulatedNode], *sites: str) -> None:
    """Lets everything arrive and be answered. Of the other sites only `sites` catch up."""
    for slot, node in nodes.items():
        while node.inbox:
            node.work()
        for site in sites:
            node.install(site)
        node.say()
        while node.outbox:
            said = node.outbox.popleft()
            assert isinstance(said, Applied)
            announcer.applied(slot, said.n, said.sites)


def test_a_site_that_stays_away_holds_up_nobody_and_costs_little_memory() -> None:
    """A hundred times as many marks as are kept; when the site is back, it has reached them all."""
    wanted: dict[Topic, int] = {}
    announcer, nodes = linked("b1", "b2", wanted=wanted)
    for n in range(3 * MAX_MARKS):
        wanted[user_topic(f"u{n}")] = n
        announcer.want([(n, user_topic(f"u{n}"))])
        newest = announcer.mark()
        if n % 7 == 0:
            exchange(announcer, nodes, "lon")
            assert announcer.reached == {HERE: newest, "lon": newest, "ash": 0}
        assert len(announcer._marks) <= MAX_MARKS
    exchange(announcer, nodes, *FAR)
    assert announcer.reached == dict.fromkeys((HERE, *FAR), newest)
    assert len(announcer._marks) == 1


def test_marks_that_were_thinned_out_are_reached_later_and_never_earlier() -> None:
    """A site comes back and catches up step by step with what happened while it was away."""
    announcer, _ = linked("b1", wanted={})
    marks = {}
    for n in range(3 * MAX_MARKS):
        announcer.want([(n, user_topic(f"u{n}"))])
        marks[announcer.told()["b1"]] = announcer.mark()
    behind = [announcer.reached.get("lon", 0)]
    for n in [*sorted(marks)[::100], max(marks)]:
        announcer.applied("b1", max(marks), {HERE: max(marks), "lon": n})
        behind.append(announcer.reached["lon"])
        assert behind[-2] <= behind[-1] <= marks[n]
    assert behind[-1] == announcer.mark()


def test_topics_that_move_while_a_site_is_away_are_taken_from_former_owners_all_the_same() -> None:
    """Those would wait for that site for ever, and what they must still be told would pile up."""
    wanted = {topic: row for row, topic in enumerate(TOPICS)}
    announcer, nodes = linked("b1", "b2", wanted=wanted)
    exchange(announcer, nodes, *FAR)
    for number in range(2, 50):
        announcer.set_view(View(number, ("b1",) if number % 2 else ("b1", "b2")))
        exchange(announcer, nodes, "lon")
        nodes["b1"].lose("ash")
        assert len(announcer._partings) <= MAX_PARTINGS


def test_a_former_owner_is_kept_until_the_new_one_has_the_topics_everywhere_but_not_for_ever() -> None:
    """Make before break; a site that is lost just then costs some heartbeats of patience and no more."""
    for is_lost in (False, True):
        wanted = {topic: row for row, topic in enumerate(TOPICS)}
        announcer, nodes = linked("b1", "b2", wanted=wanted)
        exchange(announcer, nodes, *FAR)
        announcer.set_view(View(2, ("b1",)))
        moved = set(nodes["b2"].handles)
        assert moved
        exchange(announcer, nodes, "lon")
        assert set(nodes["b2"].handles) == moved
        assert (announcer.is_parted, announcer.has_parted("b2"), announcer.has_parted("b1")) == (False, False, True)
        if is_lost:
            for _ in range(PARTING_BEATS + 1):
                announcer.tick()
        exchange(announcer, nodes, *(() if is_lost else FAR))
        exchange(announcer, nodes)
        assert not nodes["b2"].handles
        assert nodes["b1"].handles == wanted
        assert (announcer.is_parted, announcer.has_parted("b2")) == (True, True)


def test_many_topics_are_announced_and_withdrawn_in_frames_of_bounded_size() -> None:
    """A frame over the limit would break the link, again and again."""
    wanted = {user_topic(f"u{n}"): n for n in range(2 * BULK + 1)}
    announcer, nodes = linked("b1", wanted=wanted)
    assert [len(frame.topics) for frame in nodes["b1"].inbox if isinstance(frame, Subscribe)] == [BULK, BULK, 1]
    nodes["b1"].inbox.clear()
    announcer.unwant(wanted)
    assert [len(frame.topics) for frame in nodes["b1"].inbox if isinstance(frame, Unsubscribe)] == [BULK, BULK, 1]


def test_nothing_is_reached_while_nobody_is_known_who_could_hold_it() -> None:
    """No view yet, or an empty one."""
    announcer = Announcer(HERE, lambda: [(0, user_topic("ann"))])
    announcer.want([(0, user_topic("ann"))])
    mark = announcer.mark()
    announcer.applied("b1", 5, {HERE: 5})
    assert announcer.reached.get(HERE, 0) < mark


def test_an_answer_to_more_than_was_sent_counts_as_one_to_all_that_was() -> None:
    """A peer that miscounts, or lies, cannot make later changes seem done."""
    announcer, _ = linked("b1", wanted={})
    announcer.applied("b1", 2**61, dict.fromkeys((HERE, *FAR), 2**61))
    assert announcer.reached[HERE] == announcer.mark()
    announcer.want([(0, user_topic("ann"))])
    assert announcer.reached[HERE] < announcer.mark()
    assert not announcer.has_done(announcer.told())


def test_what_is_missing_on_a_link_that_was_broken_has_come_when_its_node_has_answered_on_the_next_one() -> None:
    """DPS-11: whoever waits for all that was sent before waits for nodes that are not linked, too, as long as they are in the view."""
    announcer, nodes = linked("b1", "b2", wanted={})
    assert not announcer.has_caught_up
    exchange(announcer, nodes)
    assert announcer.has_caught_up
    announcer.node_down("b2")
    assert not announcer.has_caught_up
    announcer.node_up("b2", nodes["b2"])
    assert not announcer.has_caught_up
    announcer.applied("b2", announcer.told()["b2"], {HERE: 1})
    assert announcer.has_caught_up
    announcer.node_down("b2")
    announcer.set_view(View(9, ("b1",)))
    assert announcer.has_caught_up


def test_a_site_that_reaches_again_what_it_had_lost_is_restored_once() -> None:
    """Whoever relied on it may have missed something; the first time nobody did."""
    announcer, nodes = linked("b1", wanted={user_topic("ann"): 0})
    restored = []
    for _ in range(3):
        announcer.applied("b1", 2**61, {HERE: 0})
        announcer.applied("b1", 2**61, {HERE: 2**61})
        restored.append(announcer.restored)
        for _ in range(2):
            announcer.node_down("b1")
        announcer.node_up("b1", nodes["b1"])
    assert restored == [0, 1, 2]


class _Log:
    """The way of frames to a node that answers when it is told to."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def send(self, frame: Frame) -> None:
        """See `Outlet`."""
        self.frames.append(frame)

    def topics(self, first: int = 0, last: int = 1 << 30) -> set[bytes]:
        """Returns what was announced by changes from `first` to `last`."""
        return {topic for each in self.frames if isinstance(each, Subscribe) and first <= each.n <= last for topic in each.topics}

    def gains(self) -> dict[bytes, int]:
        """Returns the gain that was told last of each topic."""
        changes = [each for each in self.frames if isinstance(each, Subscribe)]
        return {topic: gain for each in changes for topic, gain in zip(each.topics, each.gains, strict=True)}


def test_a_node_that_is_resumed_is_told_which_topics_its_last_link_had_not_brought() -> None:
    """DPS-10: what came on a topic before it was wanted here may have come to a client by another way already."""
    wanted = dict(enumerate(TOPICS[:1]))
    announcer = Announcer(HERE, lambda: wanted.items())
    announcer.set_view(View(1, ("b1",)))
    first, second, third, known = _Log(), _Log(), _Log(), list[int]()
    announcer.node_up("b1", first)
    announcer.applied("b1", first.frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]
    for row, topic in ((1, TOPICS[1]), (2, TOPICS[2]), (3, TOPICS[3])):
        wanted[row] = topic
        announcer.want([(row, topic)])
    announcer.applied("b1", first.frames[1].n, {HERE: 1})  # type: ignore[attr-defined]
    announcer.node_down("b1")
    wanted[4] = TOPICS[4]
    announcer.want([(4, TOPICS[4])])
    announcer.unwant([wanted.pop(3)])
    announcer.node_up("b1", second, known.append)
    assert second.topics(last=known[0]) == {*TOPICS[:2]}
    assert second.topics(first=known[0] + 1) == {TOPICS[2], TOPICS[4]} == announcer.take_begun("b1")
    assert announcer.take_begun("b1") == set()
    # It breaks again before it has answered: nothing has changed. Without a stamp to go on from, all of it is new.
    announcer.node_down("b1")
    announcer.node_up("b1", third, known.append)
    assert third.topics(last=known[1]) == {*TOPICS[:2]}
    announcer.node_down("b1")
    announcer.node_up("b1", _Log())
    announcer.node_down("b1")
    fourth = _Log()
    announcer.node_up("b1", fourth, known.append)
    assert fourth.topics(last=known[2]) == set()
    assert fourth.topics(first=known[2] + 1) == {*wanted.values()}


def test_what_a_node_had_not_said_to_deliver_is_new_to_the_next_owner_too() -> None:
    """DPS-18: it is told behind what is said of a loss, so that nothing is given that came another way before it was wanted here."""
    wanted, moved = dict(enumerate(TOPICS[:3])), list[set[bytes]]()
    announcer = Announcer(HERE, lambda: wanted.items())
    announcer.set_view(View(1, ("b1",)))
    former, owner, known = _Log(), _Log(), list[int]()
    announcer.node_up("b1", former)
    announcer.node_up("b2", owner)
    announcer.applied("b1", former.frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]
    for row in (3, 4, 5):
        wanted[row] = TOPICS[row]
        announcer.want([(row, TOPICS[row])])
        if row == 3:
            announcer.applied("b1", former.frames[-1].n, {HERE: 2})  # type: ignore[attr-defined]
        if row == 4:
            announcer.node_down("b1")
    announcer.set_view(View(2, ("b2",)), lambda: moved.append(owner.topics()))
    assert moved == [{*TOPICS[:4]}]
    assert owner.topics() == {*TOPICS[:6]}
    # The next owner has not said to deliver these either.
    announcer.node_down("b2")
    again = _Log()
    announcer.node_up("b2", again, known.append)
    assert again.topics(last=known[0]) == {*TOPICS[:4]}
    assert again.topics(first=known[0] + 1) == {*TOPICS[4:6]}


def test_what_another_process_of_a_node_says_to_deliver_is_new_to_the_next_owner_where_the_former_one_did_not() -> None:
    """DPS-18: an heir knows what the former process had let out, and not what of it was wanted here by then."""
    wanted, moved = dict(enumerate(TOPICS[:1])), list[set[bytes]]()
    announcer = Announcer(HERE, lambda: wanted.items())
    announcer.set_view(View(1, ("b1",)))
    logs, owner = [_Log(), _Log(), _Log()], _Log()
    announcer.node_up("b2", owner)

    def want(row: int) -> None:
        wanted[row] = TOPICS[row]
        announcer.want([(row, TOPICS[row])])

    def answer(log: _Log) -> None:
        announcer.applied("b1", log.frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]

    announcer.node_up("b1", logs[0])
    answer(logs[0])
    want(1)
    announcer.node_down("b1")
    want(2)
    announcer.node_up("b1", logs[1], is_other=True)
    want(3)
    want(4)
    announcer.unwant([wanted.pop(4)])
    answer(logs[1])
    announcer.node_down("b1")
    announcer.node_up("b1", logs[2])
    answer(logs[2])
    announcer.set_view(View(2, ("b2",)), lambda: moved.append(owner.topics()))
    assert moved == [{TOPICS[0]}]
    assert owner.topics() == {*TOPICS[:4]}
    # It is in the view again, and all has come from this process.
    announcer.set_view(View(3, ("b1",)))
    answer(logs[2])
    owner.frames.clear()
    announcer.set_view(View(4, ("b2",)), lambda: moved.append(owner.topics()))
    assert moved[1] == {*TOPICS[:4]}


@pytest.mark.parametrize("before", [View(1, ("b1",)), View(1, ("b2",)), View(1, ("b1", "b2"), (256, 0), (256, 256))])
def test_what_is_wanted_since_a_node_without_heirs_was_another_process_is_not_new_to_its_heirs(before: View) -> None:
    """DPS-8, DPS-18: what the one that is lost had delivered is all that they may have of it, and they give what of that has not come."""
    wanted, moved, both = dict(enumerate(TOPICS[:1])), list[set[bytes]](), View(2, ("b1", "b2"))
    announcer = Announcer(HERE, lambda: wanted.items())
    announcer.set_view(before)
    logs, heir = [_Log(), _Log()], _Log()
    announcer.node_up("b1", heir)
    announcer.node_up("b2", logs[0])
    announcer.node_down("b2")
    announcer.node_up("b2", logs[1], is_other=True)
    wanted |= enumerate(TOPICS)
    announcer.want([*wanted.items()][1:])
    announcer.set_view(both)
    announcer.applied("b2", logs[1].frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]
    announcer.applied("b1", heir.frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]
    heir.frames.clear()
    announcer.set_view(View(3, ("b1",)), lambda: moved.append(heir.topics()))
    assert moved == [{topic for topic in TOPICS if both.ring.owner(topic) == "b2"}]
    assert heir.topics() == moved[0] != set()


def test_gains_go_with_what_is_announced_and_again_when_they_change_or_topics_move() -> None:
    """DPS-20: about how many follow is told to the owner, to a new owner, and over a link that comes back."""
    wanted, gains = dict(enumerate(TOPICS[:4])), [1, 2, 3, 4]
    announcer = Announcer(HERE, lambda: wanted.items(), gains_of=lambda rows: bytes(gains[row] for row in rows))
    logs = {slot: _Log() for slot in ("b1", "b2")}
    announcer.set_view(View(1, ("b1",)))
    announcer.node_up("b1", logs["b1"])
    assert logs["b1"].gains() == {TOPICS[row]: row + 1 for row in range(4)}
    gains[2] = 9
    announcer.reweigh([(2, TOPICS[2])])
    assert logs["b1"].frames[-1] == Subscribe(3, [2], [TOPICS[2]], b"\x09")
    announcer.node_up("b2", logs["b2"])
    announcer.set_view(View(2, ("b2",)))
    assert logs["b2"].gains() == logs["b1"].gains() == {TOPICS[0]: 1, TOPICS[1]: 2, TOPICS[2]: 9, TOPICS[3]: 4}
    former = len(logs["b1"].frames)
    announcer.reweigh([(2, TOPICS[2])])
    assert logs["b2"].frames[-1] == Subscribe(3, [2], [TOPICS[2]], b"\x09")
    assert len(logs["b1"].frames) == former


def test_a_topic_that_moves_to_a_node_without_a_link_is_fresh_where_it_was_not_wanted_before_the_link_broke() -> None:
    """DPS-10, DPS-19: what the node had of it by then has come by another way. Of the others it has what came since they moved to it."""
    whole, part = View(1, ("b1", "b2")), View(2, ("b1",))
    mine = [topic for topic in TOPICS if whole.ring.owner(topic) == "b2"][:3]
    wanted = {0: mine[0]}
    announcer = Announcer(HERE, lambda: wanted.items())
    announcer.set_view(whole)
    first, other, second, known = _Log(), _Log(), _Log(), list[int]()
    announcer.node_up("b1", other)
    announcer.node_up("b2", first)
    announcer.applied("b2", first.frames[-1].n, {HERE: 1})  # type: ignore[attr-defined]
    announcer.node_down("b2")
    announcer.set_view(part)
    for row, topic in ((1, mine[1]), (2, mine[2])):
        wanted[row] = topic
        announcer.want([(row, topic)])
    announcer.unwant([wanted.pop(2)])
    announcer.set_view(View(3, whole.slots))
    announcer.node_up("b2", second, known.append)
    assert second.topics(last=known[0]) == {mine[0]}
    assert second.topics(first=known[0] + 1) == {mine[1]}
