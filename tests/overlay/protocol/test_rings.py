"""Rings against brute force: who is in the bays of a node, and who is sent to another one."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.protocol.ids import SPACE, ahead
from overlay.protocol.rings import EMPTY, around, merge, predecessor, remove, successor
from overlay.protocol.view import CELL, NODE, find
from tests.support.profile_table import TOPICS, ProfileTable, cells_of, links_of, profile_table, random_ids, stream

topic_lists = st.lists(st.sets(st.integers(0, TOPICS - 1)).map(sorted), min_size=2, max_size=14)
rings = st.sampled_from([2, 4, 6])


def by_definition(table: ProfileTable, me: int, topic: int, known: Iterable[int], half: int) -> tuple[list[int], list[int]]:
    """Returns the `half` subscribers with the next higher ids, and those with the next lower ones, the nearest first."""
    others = [node for node in known if node != me and topic in table.of(node)]
    above = sorted(others, key=lambda node: (table.ids[node] - table.ids[me]) % SPACE)
    return above[:half], above[::-1][:half]


class RingedNode:
    """Node 0 of a table, with its Rings view."""

    def __init__(self, table: ProfileTable, ring: int) -> None:
        self.table, self.ring, self.count = table, ring, 0
        self.slots = [EMPTY] * (ring * len(table.of(0)))
        self.cells = [0] * (CELL * (ring * len(table.of(0)) + 1))
        for place in range(len(table.of(0))):
            table.priorities[place] = ring

    def hear(self, nodes: Iterable[int]) -> None:
        """Offers nodes to the view."""
        pool = cells_of([(node, 0) for node in nodes])
        t = self.table
        self.count = merge(
            self.cells,
            0,
            self.count,
            self.slots,
            0,
            self.ring,
            0,
            0,
            t.ids,
            t.profiles,
            t.topics,
            t.priorities,
            t.marks,
            pool,
            len(pool) // CELL,
        )

    def forget(self, node: int, known: Iterable[int]) -> None:
        """Removes a node, while `known` are all that the views have."""
        pool = cells_of([(each, 0) for each in known])
        place = find(self.cells, 0, self.count, node)
        t = self.table
        self.count = remove(
            self.cells,
            0,
            self.count,
            self.slots,
            0,
            self.ring,
            0,
            0,
            t.ids,
            t.profiles,
            t.topics,
            t.priorities,
            t.marks,
            pool,
            len(pool) // CELL,
            place,
        )

    def check(self, known: Iterable[int]) -> None:
        """Raises AssertionError unless bays, view, links and priorities are as brute force over all `known` nodes says."""
        half, links = self.ring // 2, dict[int, int]()
        for place, topic in enumerate(self.table.of(0)):
            above, below = by_definition(self.table, 0, topic, known, half)
            bay = self.slots[place * self.ring : (place + 1) * self.ring]
            assert [node for node in bay[:half] if node != EMPTY] == above
            assert [node for node in bay[half:] if node != EMPTY] == below
            for node in above + below:
                links[node] = links.get(node, 0) + 1
            assert self.table.priority(0, topic) == self.ring - min(self.ring, len({*above, *below}))
        assert links_of(self.cells, self.count) == links
        assert set(self.table.marks) == {0}


@given(topic_lists, rings, st.integers(1, 10**6), st.data())
@settings(max_examples=100)
def test_a_view_that_grew_step_by_step_is_what_brute_force_finds(
    topics: list[list[int]], ring: int, seed: int, data: st.DataObject
) -> None:
    """P2P-1, P2P-2, P2P-3, P2P-5: the nearest of all who were ever offered, half on each side, nobody twice, priorities as they lack."""
    node = RingedNode(profile_table(topics, ids=random_ids(len(topics), seed)), ring)
    heard: list[int] = []
    for some in data.draw(st.lists(st.lists(st.integers(0, len(topics) - 1), unique=True), max_size=5)):
        node.hear(some)
        heard += some
        node.check({*heard})
    assert node.count <= ring * len(topics[0])


@given(topic_lists, rings, st.integers(1, 10**6), st.data())
@settings(max_examples=100)
def test_the_places_of_a_node_that_left_go_to_the_nearest_of_those_who_are_known(
    topics: list[list[int]], ring: int, seed: int, data: st.DataObject
) -> None:
    """P2P-5, P2P-6: its priorities rise where nobody takes its place."""
    node = RingedNode(profile_table(topics, ids=random_ids(len(topics), seed)), ring)
    known = set(range(1, len(topics)))
    node.hear(known)
    while node.count:
        gone = node.cells[data.draw(st.integers(0, node.count - 1)) * CELL + NODE]
        node.forget(gone, known)
        known.discard(gone)
        node.check(known)


@given(topic_lists, rings, st.integers(1, 8), st.integers(1, 10**6))
@settings(max_examples=100)
def test_a_message_has_those_nearest_to_the_target(topics: list[list[int]], ring: int, wanted: int, seed: int) -> None:
    """P2P-2, P2P-3: half a ring just above and half below the target's id for each common topic, or random ones of them."""
    table = profile_table(topics, ids=random_ids(len(topics), seed))
    sender, target, known = 0, 1, range(1, len(topics))
    pool = cells_of([(node, 0) for node in known])
    room = ring * TOPICS + len(topics)
    picks = [0] * room
    found = around(
        pool,
        len(known),
        sender,
        target,
        target,
        ring,
        wanted,
        table.ids,
        table.profiles,
        table.topics,
        stream(seed),
        0,
        [0] * room,
        [0] * room,
        picks,
    )
    sent = {pool[place * CELL + NODE] for place in picks[:found]}
    helpful = set[int]()
    for topic in set(table.of(sender)) & set(table.of(target)):
        above, below = by_definition(table, target, topic, known, ring // 2)
        helpful |= {*above, *below}
    assert len(sent) == found == min(wanted, len(helpful))
    assert sent <= helpful


def test_neighbours_over_the_highest_id_and_back() -> None:
    """P2P-1: the circle has no end."""
    table = profile_table([[5]] * 4, ids=[SPACE - 1, 0, 7, SPACE // 2])
    node = RingedNode(table, 4)
    node.hear([1, 2, 3])
    assert successor(node.slots, 0, 4, 0) == 1
    assert predecessor(node.slots, 0, 4, 0) == 3
    assert ahead(table.ids[0], table.ids[1]) == 1


def test_a_new_topic_has_the_top_priority_and_a_saturated_one_none() -> None:
    """P2P-5."""
    table = profile_table([[1, 2], [1], [1], [1], [1]], ids=random_ids(5))
    node = RingedNode(table, 4)
    for known in range(1, 5):
        assert (table.priority(0, 1), table.priority(0, 2)) == (5 - known, 4)
        node.hear([known])
    assert (table.priority(0, 1), table.priority(0, 2)) == (0, 4)
