"""Interest against a dumb twin: a dictionary of sets."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from infra.kernel import interest as interest_module
from infra.kernel.errors import Refused
from infra.kernel.interest import MAX_LINKS, Interest
from infra.kernel.ring import CELL_SHIFT
from infra.kernel.topics import Topic, user_topic

TOPICS = st.sampled_from([user_topic(f"u{n}") for n in range(12)])
SOME = st.lists(TOPICS, max_size=8)
CELL_OF = {user_topic(f"u{n}"): n % 4 for n in range(12)}


def in_cell(cell: int) -> int:
    return (cell << CELL_SHIFT) + 5


class InterestMachine(RuleBasedStateMachine):
    """`wants`: link -> topic -> handle. `withdrawn`: rows nobody wants, not released. `noted`: the cells of topics, if they are known."""

    links = Bundle("links")

    def __init__(self) -> None:
        super().__init__()
        self.interest = Interest(by_cell=True)
        self.noted: dict[Topic, int] = {}
        self.wants: dict[int, dict[Topic, int]] = {}
        self.withdrawn: dict[int, Topic] = {}
        self.handle = 0

    def mask(self, topic: Topic) -> int:
        return sum(1 << bit for bit, mine in self.wants.items() if topic in mine)

    @rule(target=links)
    def open(self) -> int:
        bit = self.interest.open()
        assert bit == min(set(range(MAX_LINKS)) - set(self.wants))
        self.wants[bit] = {}
        return bit

    @rule(bit=links, topics=SOME)
    def subscribe(self, bit: int, topics: list[Topic]) -> None:
        handles = [self.handle + n for n in range(len(topics))]
        self.handle += len(topics)
        expected = [(topic, self.mask(topic)) for topic in dict.fromkeys(topics) if topic not in self.wants[bit]]
        news = self.interest.subscribe(bit, topics, handles)
        assert [(topic, before) for _, topic, before in news] == expected
        self.wants[bit].update(zip(topics, handles, strict=True))
        for topic in topics:
            self.withdrawn.pop(self.interest.rows[topic], None)
        assert all(self.interest.rows[topic] == row for row, topic, _ in news)

    @rule(bit=links, topics=SOME)
    def unsubscribe(self, bit: int, topics: list[Topic]) -> None:
        wanted = [topic for topic in dict.fromkeys(topics) if topic in self.wants[bit]]
        self.check_gone(bit, wanted, self.interest.unsubscribe(bit, topics))

    @rule(bit=consumes(links))
    def close(self, bit: int) -> None:
        wanted = list(self.wants[bit])
        gone = self.interest.close(bit)
        self.check_gone(bit, sorted(wanted), sorted(gone, key=lambda each: each[1]))
        del self.wants[bit]

    def check_gone(self, bit: int, wanted: list[Topic], gone: list[tuple[int, Topic, int]]) -> None:
        for topic in wanted:
            del self.wants[bit][topic]
        assert gone == [(self.interest.rows[topic], topic, self.mask(topic)) for topic in wanted]
        self.withdrawn.update((row, topic) for row, topic, after in gone if not after)

    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        row, topic = data.draw(st.sampled_from(sorted(self.withdrawn.items()))) if self.withdrawn else (0, user_topic("nobody"))
        assert self.interest.release(row, topic) == (row in self.withdrawn)
        if self.withdrawn.pop(row, None) is not None:
            self.noted.pop(topic, None)

    @rule(topic=TOPICS)
    def release_what_is_wanted(self, topic: Topic) -> None:
        row = self.interest.rows.get(topic)
        if row is not None and row not in self.withdrawn:
            assert not self.interest.release(row, topic)
            assert not self.interest.release(row, user_topic("nobody"))

    @rule(topics=st.none() | SOME)
    def note_cells(self, topics: list[Topic] | None) -> None:
        rows = self.interest.rows
        pairs = [(rows[topic], topic) for topic in (rows if topics is None else topics) if topic in rows]
        self.interest.note_cells(pairs, [in_cell(CELL_OF[topic]) for _, topic in pairs])
        self.noted.update((topic, CELL_OF[topic]) for _, topic in pairs)

    @invariant()
    def finds_what_is_wanted_by_its_cell(self) -> None:
        for cells in ({0}, {0, 1, 3}, {2}):
            flags = bytes(cell in cells for cell in range(4))
            for mask in {1 << bit for bit in self.wants} | {2**MAX_LINKS - 1}:
                mine = {topic for bit, wants in self.wants.items() if mask & 1 << bit for topic in wants}
                found = [(self.interest.rows[topic], topic) for topic in mine if self.noted.get(topic, 0) in cells]
                assert sorted(pair for part in self.interest.wanted_in(mask, flags) for pair in part) == sorted(found)

    @invariant()
    def is_like_the_twin(self) -> None:
        """Checks that the masks and handles are right, and no row belongs to two topics or to a topic that is gone."""
        topics = {topic for mine in self.wants.values() for topic in mine}
        rows = self.interest.rows
        assert {rows[topic] for topic in topics}.isdisjoint(self.withdrawn)
        assert {row: topic for topic, row in rows.items()} == {rows[topic]: topic for topic in topics} | self.withdrawn
        assert len(self.interest) == len(topics) + len(self.withdrawn)
        for topic in topics:
            assert self.interest.masks[rows[topic]] == self.mask(topic)
        for bit, mine in self.wants.items():
            assert {topic: self.interest.handles(bit)[rows[topic]] for topic in mine} == mine

    @invariant()
    def lists_what_is_wanted(self) -> None:
        for mask in {1 << bit for bit in self.wants} | {0, 2**MAX_LINKS - 1}:
            wanted = {topic for bit, mine in self.wants.items() if mask & 1 << bit for topic in mine}
            assert sorted(self.interest.wanted(mask)) == sorted((self.interest.rows[topic], topic) for topic in wanted)


TestInterest = InterestMachine.TestCase
TestInterest.settings = settings(max_examples=40, stateful_step_count=30)


def test_there_is_a_number_for_as_many_links_as_a_mask_has_bits() -> None:
    interest = Interest()
    assert [interest.open() for _ in range(MAX_LINKS)] == list(range(MAX_LINKS))
    with pytest.raises(Refused, match="overloaded: this node has 62 subscribing links"):
        interest.open()
    interest.subscribe(MAX_LINKS - 1, [user_topic("ann")], [2**32 - 1])
    assert interest.masks[0] == 1 << MAX_LINKS - 1
    assert interest.handles(MAX_LINKS - 1)[0] == 2**32 - 1
    interest.close(7)
    assert interest.open() == 7


def test_a_link_that_gets_a_number_again_wants_nothing() -> None:
    interest = Interest()
    bit = interest.open()
    interest.subscribe(bit, [user_topic("ann")], [5])
    interest.close(bit)
    assert interest.open() == bit
    assert list(interest.wanted(1 << bit)) == []
    assert len(interest.handles(bit)) == 0


def test_lists_of_different_length_are_a_defect_of_the_caller() -> None:
    interest = Interest()
    with pytest.raises(ValueError, match="zip"):
        interest.subscribe(interest.open(), [user_topic("ann")], [])


def test_rows_are_found_by_their_cell_and_those_of_unknown_cells_with_cell_0() -> None:
    interest = Interest(by_cell=True)
    bit, (ann, bob, eve) = interest.open(), (user_topic(name) for name in ("ann", "bob", "eve"))
    ((row, _, _), (other, _, _), _) = interest.subscribe(bit, [ann, bob, eve], [0, 0, 0])
    interest.note_cells([(row, ann), (other, bob)], [in_cell(7), in_cell(9)])

    def found(*cells: int) -> set[Topic]:
        flags = bytes(cell in cells for cell in range(0x30A))
        return {topic for part in interest.wanted_in(1 << bit, flags) for _, topic in part}

    assert (found(7), found(7, 9), found(0)) == ({ann}, {ann, bob}, {eve})
    interest.unsubscribe(bit, [ann])
    assert found(7) == set()
    interest.release(row, ann)
    new = user_topic("new")
    assert interest.subscribe(bit, [new], [0])[0][0] == row
    assert (found(7), found(0)) == (set(), {eve, new})  # the cell was that of another topic
    interest.note_cells([(row, new), (interest.rows[eve], eve)], [in_cell(9), in_cell(0)])
    assert (found(7), found(0), found(9)) == (set(), {eve}, {bob, new})
    interest.note_cells([(interest.rows[eve], eve), (other, bob)], [in_cell(0x307), in_cell(0x309)])
    assert (found(7), found(9), found(0x307), found(0x309)) == (set(), {new}, {eve}, {bob})  # both halves of the number count


def test_without_cells_all_that_is_wanted_is_found() -> None:
    interest = Interest()
    bit, ann = interest.open(), user_topic("ann")
    interest.subscribe(bit, [ann], [0])
    interest.note_cells([(0, ann)], [in_cell(7)])
    assert list(interest.wanted_in(1 << bit, bytes(10))) == [[(0, ann)]]


@pytest.mark.parametrize("by_cell", [True, False])
def test_what_is_wanted_may_change_between_its_parts(monkeypatch: pytest.MonkeyPatch, *, by_cell: bool) -> None:
    """DPS-13: nobody is told of what is not wanted any more, though its row may be another topic's by then."""
    monkeypatch.setattr(interest_module, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(interest_module, "TOPICS_AT_ONCE", 2)
    monkeypatch.setattr(interest_module, "LOOKS_AT_ONCE", 1)
    interest, topics = Interest(by_cell=by_cell), [user_topic(f"u{n}") for n in range(8)]
    bit = interest.open()
    interest.subscribe(bit, topics[:7], [0] * 7)
    parts = interest.wanted_in(1 << bit, b"\1" * 10)
    assert next(parts) == [(0, topics[0]), (1, topics[1])]
    interest.unsubscribe(bit, [topics[0], topics[2], topics[4], topics[5]])
    assert all(interest.release(row, topics[row]) for row in (0, 4, 5))
    again = interest.subscribe(bit, [topics[7], topics[5]], [0, 0])
    assert [row for row, _, _ in again] == [5, 4]
    # What is new may be in a later part, under its own topic.
    new = [(4, topics[5]), (5, topics[7])] if by_cell else []
    assert list(parts) == [[(3, topics[3])], new, [(6, topics[6])]]
