"""States of items: exceptions to the read mark, and what they change of the count."""

from hypothesis import given
from hypothesis import strategies as st

from notification.item_state import ACTIONS, ItemState, ItemStates, StatedItem

MARKS = range(1, 9)
STATES = st.builds(
    ItemState, is_read=st.none() | st.booleans(), is_archived=st.none() | st.booleans(), is_deleted=st.none() | st.booleans()
)


@given(
    rings=st.lists(st.booleans(), min_size=len(MARKS), max_size=len(MARKS)),
    said=st.dictionaries(st.sampled_from(MARKS), STATES),
    read=st.integers(0, len(MARKS)),
)
def test_the_correction_gives_the_count_that_counting_gives(rings: list[bool], said: dict[int, ItemState], read: int) -> None:
    """The unread items are those in the bell that are neither archived nor deleted, and not read by mark or by what was said of them."""
    in_bell = dict(zip(MARKS, rings, strict=True))
    states = ItemStates(StatedItem(mark, in_bell[mark], state) for mark, state in said.items())
    counted = 0
    for mark in MARKS:
        state = said.get(mark, ItemState())
        is_read = mark <= read if state.is_read is None else state.is_read
        counted += in_bell[mark] and not (is_read or state.is_archived or state.is_deleted)
        assert states.is_read(mark, read) == is_read
    above = sum(in_bell[mark] for mark in MARKS if mark > read)
    assert above + states.correction(read, last=len(MARKS)) == counted


def test_what_has_come_since_does_not_count_yet() -> None:
    states = ItemStates([StatedItem(9, True, ACTIONS["archive"])])
    assert (states.correction(0, last=8), states.correction(0, last=9)) == (0, -1)


def test_what_is_deleted_is_archived_no_more() -> None:
    both = ItemState(is_archived=True, is_deleted=True)
    states = ItemStates([StatedItem(1, True, ACTIONS["archive"]), StatedItem(2, True, both), StatedItem(4, True, ACTIONS["archive"])])
    assert (states.archived, states.deleted) == ([4, 1], {2})


def test_only_what_was_marked_unread_is_read_with_the_mark() -> None:
    states = ItemStates(StatedItem(mark, True, ACTIONS["unread" if mark % 2 else "archive"]) for mark in MARKS)
    assert states.unread_up_to(5) == [1, 3, 5]
