"""infra.kernel.one_meaning: JSON in which no two readers find different things."""

import pytest

from infra.kernel.one_meaning import read_one_meaning


def test_an_object_is_read_with_all_that_is_in_it() -> None:
    assert read_one_meaning(b'{"a":1,"b":{"a":[{"a":2.5}]},"c":null}') == {"a": 1, "b": {"a": [{"a": 2.5}]}, "c": None}


@pytest.mark.parametrize(
    "text",
    [
        b'{"sub":"alice","sub":"bob"}',
        b'{"sub":"alice","\\u0073ub":"bob"}',
        b'{"a":{"b":1,"b":1}}',
        b'{"exp":NaN}',
        b'{"exp":Infinity}',
        b'{"exp":-Infinity}',
        b'{"exp":' + b"9" * 5000 + b"}",
        b'{"a":' * 5000,
        b"[" * 100_000,
        b"[]",
        b"null",
        b'"sub"',
        b"",
        b"{}{}",
        b"\xff\xfe{\x00}\x00",
        b'{"a":"\xff"}',
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_has_no_meaning_or_more_than_one_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - what else is wrong with JSON is the library's to say
        read_one_meaning(text)
