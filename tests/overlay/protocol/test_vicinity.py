"""Vicinity: who is nearest, against brute force."""

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.protocol.profile import mark_priorities, unmark
from overlay.protocol.vicinity import nearest
from tests.support.profile_table import TOPICS, ProfileTable, cells_of, profile_table, stream

topic_sets = st.sets(st.integers(0, TOPICS - 1)).map(sorted)


def ranked(table: ProfileTable, wanted: int, *, summed: bool = False, seed: int = 1) -> list[int]:
    """Returns the nodes 1, 2, … that are nearest to node 0, the nearest first."""
    size = len(table.ids) - 1
    pool, picks = cells_of([(node, 0) for node in range(1, size + 1)]), [0] * size
    mark_priorities(table.profiles, table.topics, table.priorities, 0, 0, table.marks)
    found = nearest(pool, size, wanted, table.profiles, table.topics, table.marks, summed, stream(seed), 0, [0] * size, picks)
    unmark(table.profiles, table.topics, 0, table.marks)
    return [1 + place for place in picks[:found]]


def near(table: ProfileTable, node: int, summed: bool) -> tuple[int, int]:
    """Returns what counts first and what counts second of a node's nearness to node 0."""
    shared = set(table.of(0)) & set(table.of(node))
    priorities = [table.priority(0, topic) for topic in shared]
    return (sum(priorities) if summed else max(priorities, default=0)), len(shared)


@given(
    st.lists(topic_sets, min_size=2, max_size=12), st.lists(st.integers(0, 4), min_size=12, max_size=12), st.integers(1, 8), st.booleans()
)
@settings(max_examples=100)
def test_the_nearest_are_those_that_sorting_finds(topics: list[list[int]], priorities: list[int], wanted: int, summed: bool) -> None:
    """P2P-4: who shares nothing is not near at all."""
    table = profile_table(topics, [priorities[: len(topics[0])], *([1] * len(each) for each in topics[1:])])
    keys = {node: near(table, node, summed) for node in range(1, len(topics))}
    best = sorted((key for key in keys.values() if key[1]), reverse=True)[:wanted]
    found = ranked(table, wanted, summed=summed)
    assert [keys[node] for node in found] == best
    assert len(set(found)) == len(found)


def test_a_topic_of_higher_priority_counts_more_than_many_of_lower_priority() -> None:
    """P2P-4. With the sum of priorities it is the other way round."""
    table = profile_table([[1, 2, 3, 4], [1, 2, 3], [4]], [[2, 2, 2, 3], [0] * 3, [0]])
    assert ranked(table, 2) == [2, 1]
    assert ranked(table, 2, summed=True) == [1, 2]


def test_with_equal_priorities_more_shared_topics_count_more() -> None:
    """P2P-4."""
    assert ranked(profile_table([[1, 2, 3], [1], [2, 3], [7, 8, 9]]), 3) == [2, 1]


def test_ties_are_random() -> None:
    table = profile_table([[1], *([[1]] * 4)])
    firsts = [ranked(table, 2, seed=seed)[0] for seed in range(200)]
    assert all(firsts.count(node) > 25 for node in (1, 2, 3, 4))
