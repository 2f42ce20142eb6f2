"""What waits for a link is the newest of each topic, what most follow first, within its bound, and all of it is counted."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from broker.held_presence import EVENT_BYTES, HeldPresence
from infra.kernel.events import encode_tail, numbering, skipped_in, with_skipped
from infra.kernel.gains import Gains

HANDLES = st.integers(0, 5)
OPENING = numbering("sto", 7)
ROOMY = 1 << 30
AGE_S = 10.0
SIZE = 1_000


def body(handle: int, seq: int) -> bytes:
    return b"%b%d,%b" % (OPENING, seq, encode_tail(f"hm://presence/user/u{handle}/", 1, str(seq), "play", b"{}"))


def told(text: bytes) -> tuple[bytes, int]:
    """Returns the id of an event, and how many it says that it replaced."""
    return text.split(b'"id":"')[1].split(b'"')[0], skipped_in(text)


def with_gains(max_bytes: int = ROOMY, gains: Sequence[int] = ()) -> HeldPresence:
    """Returns a queue in which the topics have these `gains`, by handle."""
    of = Gains()
    for handle, gain in enumerate(gains):
        of[handle] = gain
    return HeldPresence(max_bytes, AGE_S, of)


def sized(handle: int, seq: int) -> bytes:
    """Returns an event that takes `SIZE` bytes."""
    return body(handle, seq).ljust(SIZE - EVENT_BYTES)


def drained(held: HeldPresence, now_s: float = 0.0) -> list[tuple[int, bytes]]:
    return [held.take(now_s) for _ in range(len(held))]


@given(st.lists(HANDLES, max_size=60))
def test_the_newest_of_each_topic_goes_and_says_how_many_it_replaced(handles: list[int]) -> None:
    """DPS-21: topics go in the order in which they came, however much they speak; everything is counted."""
    held = with_gains()
    for seq, handle in enumerate(handles):
        held.hold(handle, body(handle, seq), 0.0)
    newest = {handle: seq for seq, handle in enumerate(handles)}
    expected = [(handle, (str(newest[handle]).encode(), handles.count(handle) - 1)) for handle in dict.fromkeys(handles)]
    assert held.conflated == len(handles) - len(expected)
    assert [(handle, told(text)) for handle, text in drained(held)] == expected
    assert (held.bytes, held.shed, len(held)) == (0, 0, 0)


@given(st.lists(st.tuples(st.sampled_from(["hold", "hold", "hold", "take", "forget"]), HANDLES), max_size=80), st.integers(400, 2000))
def test_it_stays_within_its_bound_and_each_event_has_one_end(steps: list[tuple[str, int]], max_bytes: int) -> None:
    """DPS-22: every event goes, is replaced, is shed, is not wanted any more, or still waits. Who waits is not shed."""
    held = with_gains(max_bytes)
    came = went = unwanted = 0
    waiting: list[int] = []
    for seq, (what, handle) in enumerate(steps):
        if what == "hold":
            came, shed = came + 1, held.shed
            held.hold(handle, body(handle, seq), 0.0)
            if handle not in waiting and held.shed == shed:
                waiting.append(handle)
            assert handle in waiting or held.shed == shed + 1
        elif what == "take" and waiting:
            went += 1
            assert held.take(0.0)[0] == waiting.pop(0)
        elif what == "forget":
            unwanted += handle in waiting
            waiting = [each for each in waiting if each != handle]
            held.forget(handle)
        assert held.bytes <= max_bytes
        assert came == went + held.conflated + held.shed + unwanted + len(held)


def test_one_without_room_is_shed_and_one_that_waits_is_still_replaced() -> None:
    held = with_gains(len(body(0, 0)) + EVENT_BYTES)
    held.hold(0, body(0, 0), 0.0)
    held.hold(1, body(1, 1), 0.0)
    held.hold(0, body(0, 2), 0.0)
    assert (held.shed, held.conflated) == (1, 1)
    assert [told(text) for _, text in drained(held)] == [(b"2", 1)]


def test_what_an_event_had_replaced_before_counts_too() -> None:
    """DPS-21: it may come from the window, where it has replaced others."""
    held = with_gains()
    held.hold(0, with_skipped(body(0, 0), 3), 0.0)
    held.hold(0, with_skipped(body(0, 1), 2), 0.0)
    assert told(held.take(0.0)[1]) == (b"1", 3 + 1 + 2)


def test_what_waits_for_a_link_that_is_gone_is_shed() -> None:
    held = with_gains()
    for handle in range(3):
        held.hold(handle, body(handle, handle), 0.0)
    held.close()
    assert (held.shed, held.bytes, len(held)) == (3, 0, 0)


@given(st.lists(HANDLES, max_size=60), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_what_most_follow_goes_first_and_of_one_gain_the_oldest(handles: list[int], gains: list[int]) -> None:
    """DPS-22."""
    held = with_gains(gains=gains)
    for seq, handle in enumerate(handles):
        held.hold(handle, body(handle, seq), 0.0)
    came = list(dict.fromkeys(handles))
    assert [handle for handle, _ in drained(held)] == sorted(came, key=lambda handle: -gains[handle])


@given(st.lists(st.tuples(HANDLES, st.integers(0, 4)), min_size=1, max_size=60), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_no_topic_waits_longer_than_the_age_where_the_link_takes_as_much_as_there_are_topics(
    arrivals: list[tuple[int, int]], gains: list[int]
) -> None:
    """DPS-22: none is starved. One event goes a second, and there are six topics: each goes within the age and six seconds more."""
    held = with_gains(gains=gains)
    waits: dict[int, float] = {}
    coming, now_s = list(arrivals), 0.0
    while coming or held:
        for handle, _ in coming[:3]:
            held.hold(handle, body(handle, 0), now_s)
            waits.setdefault(handle, now_s)
        coming = coming[3:]
        if held:
            taken, _ = held.take(now_s)
            assert now_s - waits.pop(taken) <= AGE_S + len(gains)
        now_s += 1.0


def test_what_has_waited_for_the_age_goes_before_what_more_follow_and_is_counted() -> None:
    """DPS-22."""
    held = with_gains(gains=[1, 9, 9])
    held.hold(0, body(0, 0), 0.0)
    held.hold(1, body(1, 1), AGE_S)
    assert held.take(AGE_S)[0] == 0
    held.hold(2, body(2, 2), AGE_S)
    assert [handle for handle, _ in drained(held, 2 * AGE_S)] == [1, 2]
    assert held.overdue == 1


@given(st.lists(HANDLES, max_size=40), st.lists(st.integers(0, 3), min_size=6, max_size=6), st.integers(1, 5))
def test_without_room_what_fewest_follow_is_shed_first(handles: list[int], gains: list[int], places: int) -> None:
    """DPS-22: what waits is worth most of all that came; of one gain those that came first wait."""
    held = with_gains(places * SIZE, gains)
    for seq, handle in enumerate(handles):
        held.hold(handle, sized(handle, seq), 0.0)
        assert held.bytes <= places * SIZE
    best = sorted((gains[handle] for handle in set(handles)), reverse=True)[:places]
    waiting = [gains[handle] for handle, _ in drained(held)]
    assert waiting == best
    assert held.shed + held.conflated + len(waiting) == len(handles)


def test_of_the_lowest_gain_the_newest_is_shed() -> None:
    """Who waits longest is the next to go, so they keep their place."""
    held = with_gains(2 * SIZE, [1, 1, 5])
    for handle in range(3):
        held.hold(handle, sized(handle, handle), 0.0)
    assert held.shed == 1
    assert [handle for handle, _ in drained(held)] == [2, 0]
