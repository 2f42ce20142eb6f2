"""Where a message of Quasar goes next, beside a plain reading of the rules with sets."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.bloom import insert
from overlay.protocol.chance import begin
from overlay.protocol.quasar import (
    BY_TRAIL,
    IS_BROKEN,
    LEVEL,
    NOBODY,
    TOLD,
    attracts,
    choose_branches,
    find_trail,
    hear,
    next_step,
)

# Ids have a bit each here, so filters are exact sets. Id 0 is the topic.
IDS, TOPIC = 12, 0
DEPTH = 2
LEVELS = DEPTH + 1

sets = st.sets(st.integers(0, IDS - 1))
neighbourhoods = st.lists(st.lists(sets, min_size=LEVELS, max_size=LEVELS), max_size=6)
avoided = st.lists(st.integers(1, IDS - 1), max_size=4, unique=True)


def filters_of(neighbours: list[list[set[int]]]) -> tuple[list[int], list[int], list[int]]:
    """Returns filters, where each neighbour's begin, and the places of all ids."""
    filters, places = [0] * (LEVELS * max(1, len(neighbours))), list(range(IDS))
    for number, levels in enumerate(neighbours):
        for level, held in enumerate(levels):
            for each in held:
                insert(filters, number * LEVELS + level, places, each, 1)
    return filters, [number * LEVELS for number in range(len(neighbours))], places


def expected(neighbours: list[list[set[int]]], negative: list[int]) -> tuple[int, int]:
    """Returns the neighbour and the level that the rules choose: the nearest level with the topic and nobody who is to be avoided."""
    for level in range(LEVELS):
        for number, levels in enumerate(neighbours):
            if TOPIC in levels[level] and not levels[level] & set(negative):
                return number, level
    return NOBODY, 0


@given(neighbourhoods, avoided)
def test_the_nearest_filter_with_the_topic_and_without_avoided_ids_is_followed(
    neighbours: list[list[set[int]]], negative: list[int]
) -> None:
    """P2P-41: no step by a trail goes to a level that holds an id of those who have published."""
    filters, firsts, places = filters_of(neighbours)
    told = [0] * TOLD
    found = find_trail(filters, firsts, len(firsts), 1, DEPTH, places, 1, TOPIC, negative, len(negative), told)
    assert (found, told[LEVEL] if found != NOBODY else 0) == expected(neighbours, negative)


@given(neighbourhoods, avoided, st.integers(-1, 5), st.booleans(), st.integers(0, 99))
def test_a_message_without_a_trail_goes_anywhere_but_back(
    neighbours: list[list[set[int]]], negative: list[int], sender: int, was_by_trail: bool, seed: int
) -> None:
    """P2P-44: where a trail breaks off that is told, and the message goes on at random."""
    filters, firsts, places = filters_of(neighbours)
    count = len(neighbours)
    sender = sender if sender < count else NOBODY
    streams, told = [0], [0] * TOLD
    begin(streams, 0, seed, 0)
    chosen = next_step(streams, 0, filters, firsts, count, sender, 1, DEPTH, places, 1, TOPIC, negative, len(negative), was_by_trail, told)
    trail, _ = expected(neighbours, negative)
    assert told[BY_TRAIL] == (trail != NOBODY)
    assert told[IS_BROKEN] == (trail == NOBODY and was_by_trail)
    if trail != NOBODY:
        assert chosen == trail
    elif not count:
        assert chosen == NOBODY
    else:
        assert 0 <= chosen < count
        assert chosen != sender or count == 1


def test_all_neighbours_but_the_sender_are_chosen_alike() -> None:
    streams, counts = [0], [0] * 4
    begin(streams, 0, 5, 0)
    for _ in range(3000):
        counts[next_step(streams, 0, [0] * 12, [0, 3, 6, 9], 4, 2, 1, DEPTH, [0], 1, 0, [0], 0, False, [0] * TOLD)] += 1
    assert counts[2] == 0
    assert all(900 < each < 1100 for each in (counts[0], counts[1], counts[3]))


def test_the_topic_alone_attracts_and_an_avoided_id_in_the_same_filter_does_not() -> None:
    """P2P-41."""
    places = [0, 1, 2]
    assert attracts([0b001], 0, places, 1, 0, [2], 1)
    assert not attracts([0b101], 0, places, 1, 0, [2], 1)
    assert not attracts([0b100], 0, places, 1, 0, [], 0)


def test_what_a_neighbour_has_at_a_level_is_one_step_farther_here() -> None:
    """P2P-36."""
    own, theirs = [1, 0, 0], [2, 4, 8]
    hear(own, 0, theirs, 0, 1, DEPTH)
    assert own == [1, 2, 4]


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 99))
def test_as_many_branches_leave_as_asked_for_each_to_another_neighbour(count: int, branch: int, seed: int) -> None:
    """Ruling Q3: all neighbours where `branch` is 0."""
    streams, links = [0], list(range(10))
    begin(streams, 0, seed, 0)
    chosen = choose_branches(streams, 0, links, count, branch)
    assert chosen == (count if branch == 0 else min(branch, count))
    assert sorted(links[:count]) == list(range(count))
