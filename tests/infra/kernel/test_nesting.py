"""JSON that goes too deep is refused, however it is written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.nesting import MAX_LEVELS, check_nesting

leaves = st.sampled_from(['"[{', '\\"]}', "\\", 0, None])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from('[{"'), inner, max_size=3))


def levels(value: Any) -> int:
    """Counts the levels, as plainly as it can be done."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(levels, inner), default=0)


@given(values, st.integers(0, MAX_LEVELS + 3), st.booleans())
def test_the_levels_that_count_are_those_of_the_value(value: Any, around: int, wide: bool) -> None:
    for n in range(around):
        value = {"[": value, "]": ["{"] * 9 * wide} if n % 2 else [value]
    text = json.dumps(value).encode()
    if levels(value) <= MAX_LEVELS:
        check_nesting(text)
    else:
        with pytest.raises(Refused, match=f"bad-json: more than {MAX_LEVELS} arrays and objects"):
            check_nesting(text)


def test_width_is_no_depth() -> None:
    check_nesting(b"[" + b"[{}]," * 50_000 + b"0]")
