"""Frames survive any way of cutting their bytes; anything else ends in `Refused("bad-link-frame")` and costs little."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from struct import pack
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel import frames
from infra.kernel.codec import MAX_FRAME_BYTES, FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.revocations import Ban, Revocation
from infra.kernel.topics import parse_topic

NUMBERS = st.integers(0, 2**62 - 1)
HANDLES = st.integers(0, 2**32 - 1)
NAMES = st.text("aZ09._-", min_size=1, max_size=8)
TOPICS = st.sampled_from(["hm://presence/user/a/", "hm://playlist/user/a/playlist/p/", "hm://notifications/feed/a%new-album/"]).map(
    parse_topic
)
TEXTS = st.text(max_size=20)
BYTES = st.binary(max_size=20)
VIEWS = st.builds(frames.View, NUMBERS, st.lists(NAMES, max_size=4).map(tuple))
CHANGES = st.builds(frames.TenureChange, VIEWS, VIEWS, NUMBERS, st.dictionaries(NAMES, NUMBERS, max_size=2))
TENURES = st.builds(
    frames.PastTenure,
    NUMBERS,
    NAMES,
    NUMBERS,
    NUMBERS,
    st.dictionaries(NAMES, NUMBERS, max_size=2),
    st.lists(CHANGES, max_size=2),
    st.lists(st.tuples(NUMBERS, VIEWS), max_size=2),
)


def columns(*kinds: st.SearchStrategy[Any], min_size: int = 0) -> st.SearchStrategy[tuple[list[Any], ...]]:
    """Lists of equal length, one for each kind."""
    rows = st.lists(st.tuples(*kinds), min_size=min_size, max_size=5)
    return rows.map(lambda rows: tuple([row[column] for row in rows] for column in range(len(kinds))))


ASSIGNMENTS = st.builds(
    frames.Assignment,
    epoch=NUMBERS,
    base=NUMBERS,
    last=st.booleans(),
    leave=st.lists(TOPICS, max_size=5),
    come=st.lists(TOPICS, max_size=5),
    overlap_ms=NUMBERS,
    every_ms=NUMBERS,
    metric=NAMES,
    threshold=NUMBERS,
    capacity=NUMBERS,
    expected=st.floats(0, 1e9),
    bound=st.floats(0, 1e9),
    run_ms=NUMBERS,
)
MOMENTS = st.integers(0, 2**53 - 1)
REVOCATIONS = st.builds(Revocation, st.sampled_from(["user", "service", "token"]), NAMES, MOMENTS, MOMENTS)
BANS = st.builds(Ban, NAMES, MOMENTS, MOMENTS, MOMENTS)
STAMPS = st.dictionaries(NUMBERS, NUMBERS, max_size=4)
SHARES = st.dictionaries(NAMES, st.integers(0, 256), max_size=3)
FRAMES = st.one_of(
    st.builds(frames.Hello, NAMES, NAMES, NAMES, NUMBERS, NUMBERS, VIEWS, st.integers(-(2**63), 2**64 - 1), NUMBERS),
    st.builds(frames.Heartbeat, VIEWS, STAMPS),
    st.builds(lambda n, lists: frames.Subscribe(n, *lists), NUMBERS, columns(HANDLES, TOPICS)),
    st.builds(frames.Unsubscribe, NUMBERS, st.lists(TOPICS, max_size=5)),
    st.builds(frames.Applied, NUMBERS, st.dictionaries(NAMES, NUMBERS, max_size=4)),
    st.builds(lambda lists, stamps: frames.Deliver(lists[0], lists[1], stamps), columns(HANDLES, BYTES), STAMPS),
    st.builds(frames.Resume, STAMPS),
    st.builds(frames.Keeps, st.dictionaries(NAMES, st.tuples(NAMES, st.floats(0, 1e6)), max_size=3)),
    st.builds(
        lambda n, lists, stamps, rest: frames.Recall(n, lists[0], stamps, lists[1], rest),
        NUMBERS,
        columns(TOPICS, st.lists(st.tuples(NAMES, NUMBERS, NUMBERS), max_size=2)),
        STAMPS,
        st.booleans(),
    ),
    st.builds(
        lambda n, lists, topics: frames.Recalled(
            n, topics, [""] * len(topics), [len(lists[0])] + [0] * (len(topics) - 1), lists[0], {n: n}, n, [n] * len(topics)
        ),
        NUMBERS,
        columns(BYTES, BYTES),
        st.lists(TOPICS, min_size=1, max_size=3),
    ),
    st.builds(frames.Lost, st.lists(TOPICS, max_size=3), st.sampled_from(["owner-lost", "expired"])),
    st.builds(lambda n, hops, lists: frames.Publish(n, hops, *lists), NUMBERS, st.integers(0, 2), columns(TOPICS, BYTES, BYTES)),
    st.builds(lambda lists: frames.Moved(*lists), columns(TOPICS, st.tuples(NUMBERS, NUMBERS), st.lists(BYTES, max_size=3))),
    st.builds(frames.Sealed, VIEWS),
    st.builds(frames.Apart, VIEWS),
    st.builds(
        lambda lists, entries: frames.KeptEvents(lists[0], lists[1], [len(entries[0])] + [0] * (len(lists[0]) - 1), *entries, *lists[2:]),
        columns(
            TOPICS, st.booleans(), st.tuples(NUMBERS, NUMBERS, st.booleans()), st.tuples(NUMBERS, NUMBERS, NUMBERS), NUMBERS, min_size=1
        ),
        columns(NUMBERS, NUMBERS, BYTES),
    ),
    st.builds(frames.Past, NUMBERS, NUMBERS, st.lists(TENURES, max_size=3)),
    st.builds(frames.Strayed, st.lists(BYTES, max_size=3)),
    st.builds(
        frames.Copies, NUMBERS, NUMBERS, st.lists(st.builds(frames.Past, NUMBERS, NUMBERS, st.lists(TENURES, max_size=2)), max_size=2)
    ),
    st.builds(
        lambda lists, is_anew: frames.Copies(1, 2, [frames.Moved(lists[0], lists[1], lists[2])], is_anew),
        columns(TOPICS, st.tuples(NUMBERS, NUMBERS), st.lists(BYTES, max_size=2)),
        st.booleans(),
    ),
    st.builds(frames.CopiesHeld, NUMBERS, NUMBERS),
    st.builds(frames.Bereft, VIEWS, NAMES, st.dictionaries(NUMBERS, NUMBERS, max_size=3)),
    st.builds(
        frames.Inherited,
        NAMES,
        st.lists(NAMES, max_size=3),
        st.dictionaries(NUMBERS, NUMBERS, max_size=3),
        st.dictionaries(NUMBERS, NUMBERS, max_size=3),
    ),
    st.builds(frames.RingWish, NUMBERS, st.none() | SHARES, SHARES),
    st.builds(frames.Published, NUMBERS, st.lists(NUMBERS, max_size=3), st.lists(NUMBERS, max_size=3)),
    st.builds(frames.Call, NUMBERS, NAMES, TEXTS, NAMES, BYTES, TEXTS),
    st.builds(frames.Reply, NUMBERS, TEXTS, TEXTS, BYTES),
    st.builds(frames.Bye, st.integers(-(2**63), 2**64 - 1), TEXTS),
    st.builds(frames.Leaving),
    st.builds(frames.Announced, VIEWS),
    st.builds(lambda lists: frames.Here(*lists), columns(NAMES, TEXTS, st.integers(1, 3))),
    st.builds(lambda lists: frames.Gone(*lists), columns(NAMES, TEXTS)),
    st.builds(frames.Survey, NUMBERS),
    st.builds(lambda lists: frames.Tally(*lists), columns(TOPICS, st.integers(1, 2**62 - 1))),
    st.builds(lambda lists: frames.Followed(*lists), columns(NAMES, TOPICS)),
    st.builds(lambda lists: frames.Unfollowed(*lists), columns(NAMES, TOPICS)),
    st.builds(frames.Surveyed, NUMBERS, NUMBERS),
    ASSIGNMENTS,
    st.builds(frames.Fence, NUMBERS),
    st.builds(frames.Fenced, NUMBERS),
    st.builds(frames.Staying),
    st.builds(lambda lists: frames.Barred(*lists), columns(NAMES, NAMES)),
    st.builds(frames.Revoked, st.lists(REVOCATIONS, max_size=3), st.lists(BANS, max_size=3), st.booleans()),
)
HEARTBEAT = frames.Heartbeat(frames.View(1, ("b1",)))


def framed(body: bytes) -> bytes:
    return pack(">I", len(body)) + body


def packed(*array: Any) -> bytes:
    """Returns a frame of any content."""
    return framed(msgspec.msgpack.encode(array))


def refusal(data: bytes) -> str:
    """Returns why `data` is refused. Fed byte by byte it must be refused for the same reason."""
    reasons = []
    for portions in ([data], singly(data)):
        with pytest.raises(Refused, match="bad-link-frame") as refused:
            read(portions)
        reasons.append(refused.value.reason)
    assert reasons[0] == reasons[1]
    return reasons[0]


def singly(data: bytes) -> list[bytes]:
    """Returns `data` byte by byte."""
    return [bytes([byte]) for byte in data]


def read(portions: list[bytes]) -> list[frames.AnyFrame]:
    """Returns what is decoded from good bytes."""
    decoder = FrameDecoder()
    return [frame for portion in portions for frame in decoder.feed(portion)]


def outcome(portions: list[bytes]) -> tuple[list[frames.AnyFrame], str | None]:
    """Returns what is decoded, and the code that it ended with. Any other error fails the test."""
    decoder, found = FrameDecoder(max_frame_bytes=256), list[frames.AnyFrame]()
    for portion in portions:
        try:
            found += decoder.feed(portion)
        except Refused as refused:
            return found, refused.code.name
    return found, None


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, *(place % (len(data) + 1) for place in cuts), len(data)})
    return [data[start:end] for start, end in pairwise(places)]


@given(st.lists(FRAMES, max_size=6), st.lists(st.integers(0, 10**4), max_size=12))
def test_frames_round_trip_however_their_bytes_are_cut(sent: list[frames.AnyFrame], cuts: list[int]) -> None:
    assert read(cut(b"".join(map(encode, sent)), cuts)) == sent


def test_a_large_frame_is_put_together_from_many_portions() -> None:
    sent = frames.Deliver([7], [b"x" * (MAX_FRAME_BYTES - 100)])
    data = encode(sent)
    assert read([data[start : start + 4096] for start in range(0, len(data), 4096)]) == [sent]


def spoilt(frame: frames.AnyFrame, place: int, byte: int) -> bytes:
    """Returns the bytes of a frame with one of them changed."""
    data = bytearray(encode(frame))
    data[place % len(data)] = byte
    return bytes(data)


ELEMENTS = st.lists(st.integers(0, 9) | BYTES | st.lists(BYTES, max_size=2), max_size=7)
GARBAGE = st.one_of(
    st.binary(max_size=60),
    st.binary(max_size=60).map(framed),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
        lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=10,
    ).map(lambda value: framed(msgspec.msgpack.encode(value))),
    st.builds(lambda tag, rest: packed(tag, *rest), st.integers(0, 22), ELEMENTS),
    st.builds(spoilt, FRAMES, st.integers(0, 10**4), st.integers(0, 255)),
)


@given(GARBAGE, GARBAGE)
@settings(max_examples=300)
def test_garbage_gives_frames_or_a_refusal_and_the_same_whole_or_byte_by_byte(first: bytes, second: bytes) -> None:
    data = first + second
    at_once, code = outcome([data])
    bit_by_bit, same_code = outcome(singly(data))
    assert code == same_code
    assert code in (None, "bad-link-frame")
    assert at_once == ([] if code else bit_by_bit)  # what stands before garbage in the same portion goes with it


@contextmanager
def frugal(limit_bytes: int = 1 << 18) -> Iterator[None]:
    """Fails if the block holds more than `limit_bytes` at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit_bytes
    finally:
        tracemalloc.stop()


BILLIONS = b"\xff\xff\xff\xff"
ARRAY, MAP, BIN, STR, EXT = b"\xdd", b"\xdf", b"\xc6", b"\xdb", b"\xc9"


@pytest.mark.parametrize(
    "body",
    [
        ARRAY + BILLIONS,
        ARRAY + BILLIONS + b"\x02",
        b"\x93\x06" + ARRAY + BILLIONS,
        b"\x93\x06" + ARRAY + BILLIONS + b"\x01" * 1000,
        b"\x93\x06\x91\x00" + ARRAY + BILLIONS,
        b"\x93\x06\x91\x00\x91" + BIN + BILLIONS + b"x" * 1000,
        b"\x92\x02\x92\x00" + ARRAY + BILLIONS,
        b"\x93\x05\x01" + MAP + BILLIONS,
        b"\x93\x05\x01" + MAP + BILLIONS + b"\xa1a\x01" * 300,
        b"\x98\x01" + STR + BILLIONS,
        b"\x93\x02\x92\x00\x90" + ARRAY + BILLIONS,
        b"\x93\x02\x92\x00\x90" + EXT + BILLIONS + b"\x01",
    ],
)
def test_a_header_that_announces_four_billion_elements_reserves_nothing(body: bytes) -> None:
    """Lists, lists in lists, byte strings, maps, texts, tuples, elements that we pass over."""
    with frugal():
        assert "not a frame" in refusal(framed(body))


def test_a_length_that_announces_four_gigabytes_is_refused_at_once() -> None:
    with frugal():
        assert refusal(BILLIONS) == f"a frame of 4294967295 bytes is over the limit of {MAX_FRAME_BYTES}"
    assert FrameDecoder().feed(pack(">I", MAX_FRAME_BYTES)) == []


@pytest.mark.parametrize("opening", [b"\x91", b"\x81\xa1a"])
def test_a_hundred_thousand_nested_values_are_refused(opening: bytes) -> None:
    """Where a value is expected, and where an element is passed over."""
    for start in (b"", b"\x93\x02\x92\x00\x90", b"\x93\x06"):
        assert "not a frame" in refusal(framed(start + opening * 20_000 + b"\xc0"))


NO_VIEW: list[Any] = [0, []]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (framed(b""), "not a frame"),
        (framed(b"\xc1"), "not a frame"),
        (framed(b"\x93\x02\x92"), "not a frame"),
        (packed(), "not a frame"),
        (packed(99), "not a frame"),
        (packed(99, NO_VIEW), "not a frame"),
        (packed(0, 1, 2), "not a frame"),
        (packed("2", NO_VIEW), "not a frame"),
        (framed(msgspec.msgpack.encode({"t": 12})), "not a frame"),
        (framed(msgspec.msgpack.encode([12]) + b"\x00"), "not a frame"),
        (packed(8), "not a frame"),
        (packed(9, 1, "ann", "", "act", b"", "q" * 129), "not a frame"),
        (packed(8, -1), "not a frame"),
        (packed(8, 2**62), "not a frame"),
        (packed(8, 1.5), "not a frame"),
        (packed(8, None), "not a frame"),
        (packed(6, [2**32], [b"{}"]), "not a frame"),
        (packed(6, [-1], [b"{}"]), "not a frame"),
        (packed(6, [1], ["{}"]), "not a frame"),
        (packed(6, [1], [b"{}"], {1: -1}), "not a frame"),
        (packed(6, [1], [b"{}"], [1]), "not a frame"),
        (packed(32, {2**62: 1}), "not a frame"),
        (packed(32, dict.fromkeys(range(1025), 1)), "not a frame"),
        (packed(7, 1, 3, [b"Ua"], [b""], [b"{}"]), "not a frame"),
        (packed(47, 1, {"b1": 257}), "not a frame"),
        (packed(47, 1, {"b1": 0}, None), "not a frame"),
        (packed(47, 1, {f"b{n}": 0 for n in range(257)}), "not a frame"),
        (packed(2, [1, ["b1\n"]]), "not a frame"),
        (packed(2, [1, [""]]), "not a frame"),
        (packed(2, [1, ["b" * 129]]), "not a frame"),
        (packed(1, "a b", "n", "s", 1, 1, NO_VIEW), "not a frame"),
        (packed(5, 1, {"s/t": 1}), "not a frame"),
        (packed(11, 4400, b"\xff"), "not a frame"),
        (framed(b"\x93\x0b\x01\xa1\xff"), "not a frame"),
        (packed(6, [1, 2], [b"{}"]), "Deliver with lists of different length"),
        (packed(3, 1, [1], []), "Subscribe with lists of different length"),
        (packed(3, 1, [1], [b"Xa"]), "Subscribe with lists of different length or a malformed topic"),
        (packed(4, 1, [b"Ua", b"U"]), "Unsubscribe with lists of different length or a malformed topic"),
        (packed(7, 1, 0, [b"Ua"], [], [b"{}"]), "Publish with lists of different length"),
        (packed(14, ["ann"], ["c"], [0]), "not a frame"),
        (packed(14, ["ann"], ["c"], [4]), "not a frame"),
        (packed(14, ["a b"], ["c"], [1]), "not a frame"),
        (packed(14, ["ann"], ["c"], []), "Here with lists of different length"),
        (packed(14, ["ann"], [], [1]), "Here with lists of different length"),
        (packed(15, [""], ["c"]), "not a frame"),
        (packed(25, ["ann", "bob"], ["cid"]), "Barred with lists of different length"),
        (packed(25, [], ["cid"]), "Barred with lists of different length"),
        (packed(37, 1, [b"Ua"], [""], [0], [], {}, 7, [1, 2]), "Recalled with lists of different length"),
        (packed(15, ["ann"], []), "Gone with lists of different length"),
        (packed(17, [b"Ua"], [0]), "not a frame"),
        (packed(17, [b"Ua"], [1 << 62]), "not a frame"),
        (packed(17, [b"Ua"], []), "Tally with lists of different length"),
        (packed(18, ["ann"], [b"U"]), "Followed with lists of different length or a malformed topic"),
        (packed(19, ["ann"], []), "Unfollowed with lists of different length"),
        (packed(21, 1, 0, True, [b"U"], [], 0, 0, "b3m", 1, 1, 0.0, 0.0, 0), "Assignment with lists of different length or a malformed"),
        (packed(7, 1, 0, [b"Ua/"], [b""], [b"{}"]), "Publish with lists of different length or a malformed topic"),
        (packed(35, {"user": ["latest", float("nan")]}), "`float`"),
        (packed(35, {"user": ["latest", float("inf")]}), "`float`"),
        (packed(35, {"user": ["latest", -1.0]}), "`float`"),
    ],
)
def test_a_frame_that_says_something_impossible_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    assert reason in refusal(data)


@pytest.mark.parametrize("more", [(0,), ("new", [1, {"a": None}])])
def test_elements_that_a_newer_peer_appends_are_passed_over(more: tuple[Any, ...]) -> None:
    said = msgspec.msgpack.decode(encode(HEARTBEAT)[4:])
    assert FrameDecoder().feed(packed(*said, *more)) == [HEARTBEAT]


def test_a_peer_of_before_that_tells_no_epoch_has_heard_of_none() -> None:
    assert FrameDecoder().feed(packed(20, 7)) == [frames.Surveyed(7, 0)]


def test_peers_of_before_say_no_stamps_and_read_what_has_some() -> None:
    """DPS-10: frames as such a peer says them, and as it reads ours: it looks at the elements that it knows."""
    assert FrameDecoder().feed(packed(6, [1], [b"{}"])) == [frames.Deliver([1], [b"{}"], {})]
    assert FrameDecoder().feed(packed(2, [1, ["b1"]])) == [HEARTBEAT]
    assert msgspec.msgpack.decode(encode(frames.Deliver([1], [b"{}"], {7: 9}))[4:], strict=False)[:3] == [6, [1], [b"{}"]]
    assert not frames.Hello("broker", "b1", "sto", 1, 1, frames.View(0, ()), tags=31).knows(frames.Resume)


def test_a_call_of_a_peer_of_before_has_no_queue_and_such_a_peer_understands_ours() -> None:
    assert FrameDecoder().feed(packed(9, 7, "ann", "desk", "act", b"{}")) == [frames.Call(7, "ann", "desk", "act", b"{}")]
    said = msgspec.msgpack.decode(encode(frames.Call(7, frames.NOBODY, "", "append", b"{}", "append-7"))[4:])
    assert said == [9, 7, "-", "", "append", b"{}", "append-7"]
    assert msgspec.convert(said[2], frames.Name) == frames.NOBODY  # there always was a name


def test_every_kind_of_frame_has_a_tag_of_its_own_that_never_changes() -> None:
    """A tag that is given away again would be misread by peers of the version before."""
    tags = {kind.__struct_config__.tag: kind.__name__ for kind in frames.AnyFrame.__args__}
    assert sorted(tags) == [*range(1, 27), *range(30, 48)]
    assert max(tags) <= frames.HIGHEST_TAG
    assert (tags[1], tags[2], tags[11]) == ("Hello", "Heartbeat", "Bye")
