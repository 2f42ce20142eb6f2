"""Profiles and marks."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.profile import NONE, SHARED_BITS, mark_common, mark_places, mark_priorities, place_of, unmark
from tests.support.profile_table import TOPICS, profile_table

topic_sets = st.sets(st.integers(0, TOPICS - 1)).map(sorted)


@given(topic_sets, topic_sets)
def test_common_topics_are_numbered_from_2_and_the_others_of_the_second_profile_are_1(own: list[int], other: list[int]) -> None:
    table = profile_table([own, other])
    common = sorted(set(own) & set(other))
    assert mark_common(table.profiles, table.topics, 0, 1, table.marks) == len(common)
    assert [table.marks[topic] for topic in common] == list(range(2, 2 + len(common)))
    assert {topic for topic in range(TOPICS) if table.marks[topic] == 1} == set(other) - set(own)
    unmark(table.profiles, table.topics, 1, table.marks)
    assert set(table.marks) == {0}


@given(topic_sets)
def test_a_topic_is_found_at_its_place_or_nowhere(own: list[int]) -> None:
    table = profile_table([[3], own])
    for topic in range(TOPICS):
        assert place_of(table.profiles, table.topics, 1, topic) == (own.index(topic) if topic in own else NONE)


def test_marks_say_place_or_priority_and_go_again() -> None:
    table = profile_table([[1, 4, 9]], priorities=[[0, 3, 1]])
    mark_places(table.profiles, table.topics, 0, table.marks)
    assert [table.marks[topic] for topic in (1, 4, 9, 2)] == [1, 2, 3, 0]
    mark_priorities(table.profiles, table.topics, table.priorities, 0, table.marks)
    assert [(table.marks[topic] >> SHARED_BITS, table.marks[topic] & 1) for topic in (1, 4, 9, 2)] == [(0, 1), (3, 1), (1, 1), (0, 0)]
    unmark(table.profiles, table.topics, 0, table.marks)
    assert set(table.marks) == {0}
