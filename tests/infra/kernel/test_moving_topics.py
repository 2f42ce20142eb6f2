"""Topics that move a part at a time: in the end all is where it would be had it been done at once."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel import interest as interest_module
from infra.kernel import moving_topics
from infra.kernel.announcer import PARTING_BEATS, Announcer, at_once
from infra.kernel.frames import Applied, Subscribe, Unsubscribe, View
from infra.kernel.interest import Interest
from infra.kernel.moving_topics import MovingTopics, PartingTopics, WantedInAll
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, user_topic
from tests.support.simulated_node import SimulatedNode

HERE = "sto"
SLOTS = ("b1", "b2", "b3")
TOPICS = [user_topic(f"u{n}") for n in range(40)]
AFTER = Ring(["b1", "b2"])
SOME = st.sets(st.sampled_from(TOPICS), min_size=1, max_size=15).map(sorted)
SHARES = st.tuples(*[st.sampled_from((0, 32, 256))] * len(SLOTS)).filter(any)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("want"), SOME),
        st.tuples(st.just("unwant"), SOME),
        st.tuples(st.just("ring"), SHARES),
        st.tuples(st.just("turn"), st.integers(1, 4)),
        st.tuples(st.just("break"), st.sampled_from(SLOTS)),
        st.tuples(st.just("arrive"), st.sampled_from(SLOTS)),
    ),
    max_size=25,
)


class Announcing:
    """A node that announces what it wants to the brokers of a site, at once or in turns."""

    def __init__(self, *, is_at_once: bool, by_cell: bool) -> None:
        self.left: list[Iterator[float]] = []
        self.interest = Interest(by_cell=by_cell)
        self.bit = self.interest.open()
        self.nodes = {slot: SimulatedNode(HERE) for slot in SLOTS}
        spawn = at_once if is_at_once else self.left.append
        self.announcer = Announcer(HERE, lambda: self.interest.wanted(1 << self.bit), self, spawn=spawn)
        self.ring((256, 0, 0))
        for slot in SLOTS:
            self.link(slot)

    def wanted_in(self, cells: bytes) -> Iterator[list[tuple[int, Topic]]]:
        return self.interest.wanted_in(1 << self.bit, cells)

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        self.interest.note_cells(pairs, hashes)

    def want(self, topics: Sequence[Topic]) -> None:
        news = self.interest.subscribe(self.bit, topics, [0] * len(topics))
        self.announcer.want((row, topic) for row, topic, _ in news)

    def unwant(self, topics: Sequence[Topic]) -> None:
        gone = self.interest.unsubscribe(self.bit, topics)
        self.announcer.unwant(topic for _, topic, _ in gone)

    def ring(self, shares: tuple[int, ...]) -> None:
        assert self.announcer.set_view(View(self.announcer.view.number + 1, SLOTS, shares))

    def turn(self, times: int) -> None:
        for _ in range(times):
            self.left[:] = [work for work in self.left if next(work, None) is not None]

    def link(self, slot: str) -> None:
        self.nodes[slot].up = True
        self.announcer.node_up(slot, self.nodes[slot])

    def break_(self, slot: str) -> None:
        """Breaks a link, and makes it again."""
        self.nodes[slot].reset()
        self.nodes[slot].up = False
        self.announcer.node_down(slot)
        self.link(slot)

    def arrive(self, slot: str) -> None:
        node = self.nodes[slot]
        while node.inbox:
            node.work()
        node.say()
        while node.outbox:
            said = node.outbox.popleft()
            assert isinstance(said, Applied)
            self.announcer.applied(slot, said.n, said.sites)

    def do(self, what: str, which: Any) -> None:
        getattr(self, {"break": "break_"}.get(what, what))(which)

    def end(self) -> dict[str, set[Topic]]:
        """Lets all be told and arrive. Returns what each broker has then."""
        for _ in range(PARTING_BEATS + 2):
            while self.left:
                self.turn(1)
            for slot in SLOTS:
                self.arrive(slot)
            self.announcer.tick()
        for slot in SLOTS:
            self.arrive(slot)
        assert (self.left, self.announcer.is_announced, self.announcer.is_parted) == ([], True, True)
        assert self.announcer.reached == {HERE: self.announcer.mark()}
        return {slot: set(node.handles) for slot, node in self.nodes.items()}


@given(steps=STEPS, rows=st.integers(1, 5), looks=st.integers(1, 3), withdrawn=st.integers(1, 5), by_cell=st.booleans())
def test_in_the_end_all_is_where_it_would_be_had_it_been_done_at_once(
    steps: list[tuple[str, Any]], rows: int, looks: int, withdrawn: int, *, by_cell: bool
) -> None:
    """DPS-13: with parts of any size, and whatever changes between two of them: what is wanted, the ring, a link."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interest_module, "ROWS_AT_ONCE", rows)
        patch.setattr(interest_module, "TOPICS_AT_ONCE", rows)
        patch.setattr(interest_module, "LOOKS_AT_ONCE", looks)
        patch.setattr(moving_topics, "WITHDRAWN_AT_ONCE", withdrawn)
        whole, parts = (Announcing(is_at_once=is_at_once, by_cell=by_cell) for is_at_once in (True, False))
        for what, which in [("want", TOPICS[::2]), *steps]:
            for each in (whole, parts):
                each.do(what, which)
        ends = parts.end()
        assert ends == whole.end()
        assert set().union(*ends.values()) == {topic for _, topic in parts.interest.wanted(1 << parts.bit)}


def test_nobody_is_said_to_have_everything_before_the_last_part_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-13: a mark is reached, and a former owner is let go, behind the last part; what is wanted meanwhile goes to the new owners."""
    monkeypatch.setattr(interest_module, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(interest_module, "LOOKS_AT_ONCE", 1)
    node = Announcing(is_at_once=False, by_cell=True)
    node.want(TOPICS[:-1])
    for slot in SLOTS:
        node.arrive(slot)
    assert node.announcer.reached == {HERE: node.announcer.mark()}
    node.ring((0, 256, 0))
    turns = 0
    while not node.announcer.is_announced:
        assert (node.announcer.has_parted("b1"), node.announcer.has_parted("b3")) == (False, True)
        node.turn(1)
        turns += 1
        if turns == 2:
            node.want(TOPICS[-1:])
            node.unwant(TOPICS[:1])
            assert isinstance(node.nodes["b1"].inbox[-1], Unsubscribe)
            assert [each.topics for each in node.nodes["b2"].inbox if isinstance(each, Subscribe)][-1] == TOPICS[-1:]
        node.arrive("b2")
        assert node.announcer.reached == {HERE: 0} or node.announcer.is_announced
    assert turns > len(TOPICS) // 4 - 2
    assert node.end() == {"b1": set(), "b2": {*TOPICS[1:]}, "b3": set()}


def test_who_announces_and_withdraws_much_by_plan_pauses_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-15, DPS-16: but for one that is stopped, or gone."""
    monkeypatch.setattr(interest_module, "LOOKS_AT_ONCE", 1)
    monkeypatch.setattr(interest_module, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(moving_topics, "WITHDRAWN_AT_ONCE", 4)
    monkeypatch.setattr(moving_topics, "ANNOUNCED_PAUSE_S", 1e-3)
    monkeypatch.setattr(moving_topics, "WITHDRAWN_PAUSE_S", 2e-3)

    def pauses(shares: tuple[int, int, int]) -> list[list[float]]:
        """Returns how long each piece of work waits in each of its turns while the ring goes where slots have these shares."""
        node.ring(shares)
        found: list[list[float]] = []
        for _ in range(4):
            while node.left:
                found.append(list(node.left.pop()))
            for slot in SLOTS:
                node.arrive(slot)
        assert node.announcer.is_parted
        return found

    node = Announcing(is_at_once=False, by_cell=True)
    node.want(TOPICS)
    for slot in SLOTS:
        node.arrive(slot)
    announced, withdrawn = pauses((256, 256, 0))
    moves = [AFTER.owner(topic) == "b2" for topic in TOPICS]
    # The first two parts of either are done at once. Nobody waits behind the last one.
    assert announced == pytest.approx([1e-3 * sum(moves[start : start + 4]) for start in range(8, len(TOPICS), 4)])
    assert withdrawn == pytest.approx([8e-3] * (-(-sum(moves) // 4) - 3))
    assert {pause for work in pauses((256, 0, 0)) for pause in work} == {0.0}


def test_who_keeps_no_cells_moves_everything_in_one_part() -> None:
    rows = list(enumerate(TOPICS))
    before, after = View(1, ("b1",)).ring, View(2, ("b2",)).ring
    moving = MovingTopics(before, after, WantedInAll(lambda: rows), {"b1": {TOPICS[3]}})
    part = moving.next_part()
    assert part is not None
    assert (part.goes, part.news) == ({"b2": [*rows[:3], *rows[4:]]}, {"b2": [rows[3]]})
    assert (moving.next_part(), moving.former, moving.gone) == (None, {"b1"}, {"b1": TOPICS})


def test_what_has_come_back_to_its_former_owner_is_not_withdrawn_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving_topics, "WITHDRAWN_AT_ONCE", 3)
    moved, back = View(2, ("b2",)), View(3, ("b1",))
    parting = PartingTopics(1, [], 0, {"b1": TOPICS[:5], "b3": TOPICS[5:6]}, moved)
    assert parting.next_part(moved, moved.ring) == ("b1", TOPICS[2:5])
    assert parting.next_part(back, back.ring) == ("b1", [])
    assert parting.next_part(back, back.ring) == ("b3", TOPICS[5:6])
    assert not parting.topics
