"""Points: texts that say from where on somebody wants to be served."""

from base64 import urlsafe_b64encode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesspoint.messages import MAX_POINT_CHARS
from accesspoint.point import VERSION, Point, read_point, write_point
from infra.kernel.errors import Refused
from infra.kernel.frames import MOST_NUMBER

STAMPS = st.dictionaries(st.integers(0, MOST_NUMBER), st.integers(0, MOST_NUMBER), min_size=1, max_size=30)


@given(STAMPS)
def test_a_point_is_read_as_it_was_written_and_is_not_long(stamps: dict[int, int]) -> None:
    """DPS-9: at most 1 KiB, and a text that stands in JSON as it is."""
    text = write_point("sto", stamps)
    assert text is not None
    assert len(text) <= MAX_POINT_CHARS
    assert text.isascii()
    assert read_point(text) == Point(VERSION, "sto", stamps)


def test_where_there_are_no_stamps_or_too_many_there_is_no_point() -> None:
    assert write_point("sto", {}) is None
    assert write_point("sto", {MOST_NUMBER - n: MOST_NUMBER for n in range(60)}) is None
    assert write_point("sto", {MOST_NUMBER - n: MOST_NUMBER for n in range(60)}, spare=9) is None


@given(STAMPS, st.dictionaries(st.integers(0, MOST_NUMBER), st.integers(0, MOST_NUMBER), max_size=64))
def test_of_what_may_be_left_out_a_point_has_what_fits_and_the_first_first(stamps: dict[int, int], spare: dict[int, int]) -> None:
    """DPS-9: at most 1 KiB, however much is remembered."""
    spare = {epoch: stamp for epoch, stamp in spare.items() if epoch not in stamps}
    text = write_point("sto", stamps | spare, spare=len(spare))
    assert text is not None
    assert len(text) <= MAX_POINT_CHARS
    read = list(read_point(text).stamps.items())
    assert read == list((stamps | spare).items())[: len(read)]
    assert len(read) >= min(len(stamps | spare), 41)


@given(st.text(max_size=200))
def test_what_is_no_point_is_refused_and_nothing_else_happens(text: str) -> None:
    """DPS-9."""
    with pytest.raises(Refused) as refused:
        read_point(text)
    assert refused.value.code.name == "bad-field"


def test_a_point_of_another_version_is_none() -> None:
    text = urlsafe_b64encode(msgspec.msgpack.encode(Point(VERSION + 1, "sto", {}))).decode()
    with pytest.raises(Refused, match="version"):
        read_point(text)
