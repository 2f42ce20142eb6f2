"""JSON that some reader could not read is refused, however it is written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.readable import MAX_LEVELS, check_readable

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
        check_readable(text)
    else:
        with pytest.raises(Refused, match=f"bad-json: more than {MAX_LEVELS} arrays and objects"):
            check_readable(text)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'{"a":[', b"]}"), (b' {"a":', b"} ")])
def test_the_deepest_is_taken_and_one_more_is_refused_of_whatever_it_is_made(opening: bytes, closing: bytes) -> None:
    most = MAX_LEVELS // (2 if b"[" in opening and b"{" in opening else 1)
    check_readable(opening * most + b"0" + closing * most)
    with pytest.raises(Refused, match="bad-json: more than"):
        check_readable(opening * (most + 1) + b"0" + closing * (most + 1))


def test_width_is_no_depth() -> None:
    check_readable(b"[" + b"[{}]," * 50_000 + b"0]")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1E+400", "0.1e310", "17" * 2200])
def test_a_number_that_no_double_holds_is_refused_wherever_it_stands(number: str) -> None:
    for text in (number, f"[{number}]", f'{{"a":[{{"n":{number}}}]}}'):
        with pytest.raises(Refused, match=r"bad-json: .* out of range"):
            check_readable(text.encode())


@pytest.mark.parametrize("number", ["1e308", "-1.7976931348623157e308", "1e-999", "18446744073709551616", "0.1e309", '"1e999"'])
def test_other_numbers_are_taken(number: str) -> None:
    check_readable(f'{{"n":{number}}}'.encode())


def test_a_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(Refused, match="bad-utf8"):
        check_readable(b'{"a":"\xff"}')


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b'{"a":1}{}', b"nan", b"Infinity"])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(Refused, match="bad-json"):
        check_readable(text)
