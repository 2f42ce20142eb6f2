"""Profiles and marks."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.profile import MASK, NONE, SHARED_BITS, index_size, list_common, mark_places, mark_priorities, place_of, unmark
from tests.support.profile_table import TOPICS, profile_table

topic_sets = st.sets(st.integers(0, TOPICS - 1)).map(sorted)


@given(topic_sets, topic_sets)
def test_common_topics_are_listed_whichever_profile_is_longer(own: list[int], other: list[int]) -> None:
    table, common = profile_table([own, other]), [0] * TOPICS
    found = list_common(table.profiles, table.topics, 0, 1, common)
    assert common[:found] == sorted(set(own) & set(other))


@given(topic_sets)
def test_a_topic_is_found_at_its_place_or_nowhere(own: list[int]) -> None:
    table = profile_table([[3], own])
    for topic in range(TOPICS):
        assert place_of(table.profiles, table.topics, 1, topic) == (own.index(topic) if topic in own else NONE)


def test_marks_say_place_or_priority_and_go_again() -> None:
    table = profile_table([[1, 4, 9]], priorities=[[0, 3, 1]])
    mark_places(table.profiles, table.topics, 0, table.marks)
    assert [table.marks[topic] for topic in (1, 4, 9, 2)] == [1, 2, 3, 0]
    mark_priorities(table.profiles, table.topics, table.priorities, 0, 0, table.marks)
    assert [(table.marks[topic] >> SHARED_BITS, table.marks[topic] & 1) for topic in (1, 4, 9, 2)] == [(0, 1), (3, 1), (1, 1), (0, 0)]
    unmark(table.profiles, table.topics, 0, table.marks)
    assert set(table.marks) == {0}


@given(topic_sets, st.integers(0, 40))
def test_an_index_is_at_most_half_full_and_has_each_place_once(own: list[int], size: int) -> None:
    table = profile_table([own])
    index = table.topics[len(own) :]
    assert sorted(place for place in index if place) == list(range(1, len(own) + 1))
    assert len(index) == index_size(len(own)) == table.profiles[MASK] + 1
    assert 2 * size <= index_size(size) <= max(1, 4 * size)
    assert index_size(size) & (index_size(size) - 1) == 0
