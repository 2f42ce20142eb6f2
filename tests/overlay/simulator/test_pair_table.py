"""A table of pairs is a dict."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.pair_table import ABSENT, find_pair, new_pair_table, put_pair

pairs = st.dictionaries(st.integers(0, 1 << 61), st.integers(0, 1 << 40), max_size=30)


@given(pairs, st.integers(0, 1 << 61))
def test_what_was_put_is_found_and_nothing_else(model: dict[int, int], other: int) -> None:
    table = new_pair_table(30, INTERPRETED)
    for key, value in model.items():
        put_pair(table, key, 7)
        put_pair(table, key, value)
    assert {key: find_pair(table, key) for key in model} == model
    assert find_pair(table, other) == model.get(other, ABSENT)


def test_it_is_the_same_compiled_and_interpreted() -> None:
    """OV-1."""
    one, same = new_pair_table(40, COMPILED), new_pair_table(40, INTERPRETED)
    for key in range(0, 4000, 100):
        COMPILED.kernel(put_pair)(one, key, key + 1)
        put_pair(same, key, key + 1)
    assert numbers(one.keys) == numbers(same.keys)
    assert numbers(one.values) == numbers(same.values)


def test_a_table_for_nothing_finds_nothing() -> None:
    assert find_pair(new_pair_table(0, INTERPRETED), 5) == ABSENT
