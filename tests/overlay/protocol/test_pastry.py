"""Leaf sets, tables and routes, beside a plain reading of Pastry's rules."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.ids import SPACE, ahead, apart
from overlay.protocol.pastry import (
    BASE,
    DIGITS,
    NOBODY,
    digit,
    drop_entry,
    drop_leaf,
    is_among_leaves,
    next_hop,
    offer_entry,
    offer_leaf,
    shared,
)

HALF, ROWS = 2, 8
identities = st.lists(st.integers(0, SPACE - 1), min_size=2, max_size=14, unique=True)


def know_all(ids: list[int], own: int) -> tuple[list[int], list[int]]:
    """Returns the leaf set and the table of `own` after it has heard of everybody."""
    leaves, table = [NOBODY] * (2 * HALF), [NOBODY] * (ROWS * BASE)
    for other in range(len(ids)):
        offer_leaf(leaves, 0, HALF, ids, own, other)
        offer_entry(table, 0, ROWS, ids, own, other)
    return leaves, table


@given(st.integers(0, SPACE - 1))
def test_digits_are_the_id_in_base_16(identity: int) -> None:
    text = f"{identity >> 2:015x}"
    assert "".join(f"{digit(identity, row):x}" for row in range(DIGITS)) == text


@given(st.integers(0, SPACE - 1), st.integers(0, DIGITS - 1), st.integers(0, SPACE - 1))
def test_shared_digits_are_counted_from_the_beginning(identity: int, row: int, other: int) -> None:
    assert shared(identity, identity) == DIGITS
    pairs = zip(f"{identity >> 2:015x}", f"{other >> 2:015x}", strict=True)
    expected = next((at for at, (one, two) in enumerate(pairs) if one != two), DIGITS)
    assert shared(identity, other) == expected


@given(identities)
def test_leaves_are_the_nearest_on_each_side_in_order(ids: list[int]) -> None:
    own = 0
    leaves, _ = know_all(ids, own)
    others = [node for node in range(len(ids)) if node != own]
    above = sorted(others, key=lambda node: ahead(ids[own], ids[node]))[:HALF]
    below = sorted(others, key=lambda node: ahead(ids[node], ids[own]))[:HALF]
    for side, expected in enumerate((below, above)):
        assert leaves[side * HALF : (side + 1) * HALF] == expected + [NOBODY] * (HALF - len(expected))


@given(identities, st.integers(0, 13))
def test_whoever_is_dropped_is_gone_and_the_others_stay_in_order(ids: list[int], other: int) -> None:
    leaves, table = know_all(ids, 0)
    before, was_there = list(leaves), other in leaves
    assert drop_leaf(leaves, 0, HALF, other) == was_there
    for start in (0, HALF):
        rest = [each for each in before[start : start + HALF] if each not in (other, NOBODY)]
        assert [each for each in leaves[start : start + HALF] if each != NOBODY] == rest
    if other < len(ids):
        drop_entry(table, 0, ROWS, ids, 0, other)
        assert other not in table


@given(identities, st.integers(0, SPACE - 1))
def test_a_message_never_goes_farther_from_its_key(ids: list[int], key: int) -> None:
    """Each hop shares more digits with the key, or as many and is nearer, or is the nearest leaf: so no route is a loop."""
    leaves, table = know_all(ids, 0)
    onward = next_hop(leaves, 0, HALF, table, 0, ROWS, ids, 0, key)
    if is_among_leaves(leaves, 0, HALF, ids, 0, key):
        known = [0, *(each for each in leaves if each != NOBODY)]
        assert apart(ids[onward], key) == min(apart(ids[each], key) for each in known)
    elif onward != 0:
        more = shared(ids[onward], key) > shared(ids[0], key)
        nearer = shared(ids[onward], key) == shared(ids[0], key) and apart(ids[onward], key) < apart(ids[0], key)
        assert more or nearer


@given(identities)
def test_a_place_in_the_table_is_for_the_digits_that_it_stands_for(ids: list[int]) -> None:
    _, table = know_all(ids, 0)
    for place, node in enumerate(table):
        if node != NOBODY:
            assert shared(ids[0], ids[node]) == place // BASE
            assert digit(ids[node], place // BASE) == place % BASE
