"""What came of an attempt, as it goes into tables and logs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from notification.outcome import MAX_REASON_CHARS, OutcomeState, delivered, failed, gone, retry


def test_each_answer_has_its_state() -> None:
    states = [made("because").state for made in (delivered, retry, failed, gone)]
    assert states == [OutcomeState.DELIVERED, OutcomeState.RETRY, OutcomeState.FAILED, OutcomeState.GONE]


@settings(max_examples=60)
@given(st.text(max_size=1000))
def test_what_a_strangers_server_said_is_one_bounded_line_without_escape_sequences(text: str) -> None:
    reason = retry(text).reason
    assert len(reason) <= MAX_REASON_CHARS
    assert reason.isprintable()


def test_the_wait_that_was_asked_for_is_kept() -> None:
    assert retry("busy", 5.0).retry_after_s == 5.0
    assert retry("busy").retry_after_s is None
