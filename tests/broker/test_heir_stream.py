"""The stream of events to one heir, and in which state it is."""

from broker.core import NumberedEvent
from broker.heir_stream import STEPS, Fate, HeirStream, StreamState, StreamStep, WaitingEvent
from infra.kernel.events import Event
from infra.kernel.frames import Copies, KeptEvents
from infra.kernel.topics import parse_topic

MIX = parse_topic("hm://playlist/user/ann/playlist/mix/")


def numbered(seq: int) -> NumberedEvent:
    body = b'{"op":"event","site":"sto","epoch":7,"seq":%d,"topic":"hm://playlist/user/ann/playlist/mix/"}' % seq
    return NumberedEvent(Event(MIX, b"", b"{}"), body, False, (7, seq), (7, seq - 1))


def added(stream: HeirStream, event: NumberedEvent | None) -> int:
    """Returns the number up to which the heir must have everything before what was added is let out."""
    waiting = WaitingEvent(Event(MIX, b"", b"{}"), event, lambda fate: None, 100)
    stream.add(waiting, followed=True)
    return waiting.n


def test_every_state_knows_what_may_happen_in_it() -> None:
    """DPS-18: only who tells can have told everything."""
    assert {state for state, step in STEPS if step is StreamStep.TOLD} == {StreamState.TELLING}
    assert len(STEPS) == len(StreamState) * 4 + 1


def test_what_was_added_goes_in_one_frame_and_a_repetition_waits_for_what_stands_before_it() -> None:
    """DPS-18"""
    stream = HeirStream()
    stream.begin(99)
    assert [added(stream, numbered(1)), added(stream, None), added(stream, numbered(2))] == [1, 1, 2]
    frame = stream.flushed()
    assert isinstance(frame, Copies)
    (kept,) = [part for part in frame.parts if isinstance(part, KeptEvents)]
    assert (frame.stream, frame.n, kept.epochs, kept.stamps) == (99, 2, [99, 99], [1, 2])
    assert stream.flushed() is None


def test_it_is_known_for_so_long_under_which_stamp_an_event_was_let_out_as_somebody_may_ask() -> None:
    """DPS-18: a link that is behind says up to which event of the stream it has got everything."""
    stream = HeirStream()
    stream.begin(99)
    for n, stamp in ((1, 5), (2, 8), (3, 9)):
        stream.goes_out(n, stamp)
    assert [stream.out_at(stamp) for stamp in (4, 5, 7, 8, 100)] == [0, 1, 1, 2, 3]
    stream.forget(oldest=8)
    assert [stream.out_at(stamp) for stamp in (8, 9)] == [2, 3]
    stream.begin(100)
    assert (stream.out, stream.out_at(100)) == (0, 0)


def test_what_waits_is_told_its_fate() -> None:
    fates: list[Fate] = []
    waiting = WaitingEvent(Event(MIX, b"", b"{}"), None, fates.append, 100)
    waiting.settled(Fate.MOVED)
    assert fates == [Fate.MOVED]
    assert waiting.bytes == 100
