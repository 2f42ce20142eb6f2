"""JSON from outside becomes a value, or one of three refusals."""

import msgspec
import pytest

from infra.kernel.errors import Refused
from infra.kernel.json_text import read_json, typed


class Named(msgspec.Struct):
    """A value with one field."""

    name: str


@pytest.mark.parametrize(
    ("text", "code"),
    [(b"{", "bad-json"), (b'{"name": 1}', "bad-field"), (b'{"name": "\xff"}', "bad-utf8"), (b"[" * 100_000, "bad-json")],
)
def test_what_is_wrong_has_one_of_three_codes(text: bytes, code: str) -> None:
    with pytest.raises(Refused) as refused:
        read_json(text, msgspec.json.Decoder(Named if text[:1] == b"{" else list[object]))
    assert refused.value.code.name == code


def test_what_is_right_becomes_a_value() -> None:
    assert read_json(b'{"name": "ann"}', msgspec.json.Decoder(Named)) == typed(b'{"name": "ann"}', Named) == Named("ann")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b'{"name": "ann", "other": 1e999}', "bad-json"),
        (b'{"name": "ann", "other": "\xff"}', "bad-utf8"),
        (b'{"name": "ann", "other": %b}' % (b"[" * 40 + b"]" * 40), "bad-json"),
    ],
)
def test_fields_that_nobody_asks_for_must_be_readable_too(text: bytes, code: str) -> None:
    """DPS-26: a decoder passes over what it does not know, and the next reader may not."""
    with pytest.raises(Refused) as refused:
        typed(text, Named)
    assert refused.value.code.name == code
