"""What waits for a link is the newest of each topic, in the order in which topics came, within its bound, and all of it is counted."""

from hypothesis import given
from hypothesis import strategies as st

from broker.held_presence import EVENT_BYTES, HeldPresence
from infra.kernel.events import encode_tail, numbering, skipped_in, with_skipped

HANDLES = st.integers(0, 5)
OPENING = numbering("sto", 7)
ROOMY = 1 << 30


def body(handle: int, seq: int) -> bytes:
    return b"%b%d,%b" % (OPENING, seq, encode_tail(f"hm://presence/user/u{handle}/", 1, str(seq), "play", b"{}"))


def told(text: bytes) -> tuple[bytes, int]:
    """Returns the id of an event, and how many it says that it replaced."""
    return text.split(b'"id":"')[1].split(b'"')[0], skipped_in(text)


def drained(held: HeldPresence) -> list[tuple[int, bytes]]:
    return [held.take() for _ in range(len(held))]


@given(st.lists(HANDLES, max_size=60))
def test_the_newest_of_each_topic_goes_and_says_how_many_it_replaced(handles: list[int]) -> None:
    """DPS-21: topics go in the order in which they came, however much they speak; everything is counted."""
    held = HeldPresence(ROOMY)
    for seq, handle in enumerate(handles):
        held.hold(handle, body(handle, seq))
    newest = {handle: seq for seq, handle in enumerate(handles)}
    expected = [(handle, (str(newest[handle]).encode(), handles.count(handle) - 1)) for handle in dict.fromkeys(handles)]
    assert held.conflated == len(handles) - len(expected)
    assert [(handle, told(text)) for handle, text in drained(held)] == expected
    assert (held.bytes, held.shed, len(held)) == (0, 0, 0)


@given(st.lists(st.tuples(st.sampled_from(["hold", "hold", "hold", "take", "forget"]), HANDLES), max_size=80), st.integers(400, 2000))
def test_it_stays_within_its_bound_and_each_event_has_one_end(steps: list[tuple[str, int]], max_bytes: int) -> None:
    """DPS-22: every event goes, is replaced, is shed, is not wanted any more, or still waits. Who waits is not shed."""
    held = HeldPresence(max_bytes)
    came = went = unwanted = 0
    waiting: list[int] = []
    for seq, (what, handle) in enumerate(steps):
        if what == "hold":
            came, shed = came + 1, held.shed
            held.hold(handle, body(handle, seq))
            if handle not in waiting and held.shed == shed:
                waiting.append(handle)
            assert handle in waiting or held.shed == shed + 1
        elif what == "take" and waiting:
            went += 1
            assert held.take()[0] == waiting.pop(0)
        elif what == "forget":
            unwanted += handle in waiting
            waiting = [each for each in waiting if each != handle]
            held.forget(handle)
        assert held.bytes <= max_bytes
        assert came == went + held.conflated + held.shed + unwanted + len(held)


def test_one_without_room_is_shed_and_one_that_waits_is_still_replaced() -> None:
    held = HeldPresence(len(body(0, 0)) + EVENT_BYTES)
    held.hold(0, body(0, 0))
    held.hold(1, body(1, 1))
    held.hold(0, body(0, 2))
    assert (held.shed, held.conflated) == (1, 1)
    assert [told(text) for _, text in drained(held)] == [(b"2", 1)]


def test_what_an_event_had_replaced_before_counts_too() -> None:
    """DPS-21: it may come from the window, where it has replaced others."""
    held = HeldPresence(ROOMY)
    held.hold(0, with_skipped(body(0, 0), 3))
    held.hold(0, with_skipped(body(0, 1), 2))
    assert told(held.take()[1]) == (b"1", 3 + 1 + 2)


def test_what_waits_for_a_link_that_is_gone_is_shed() -> None:
    held = HeldPresence(ROOMY)
    for handle in range(3):
        held.hold(handle, body(handle, handle))
    held.close()
    assert (held.shed, held.bytes, len(held)) == (3, 0, 0)
