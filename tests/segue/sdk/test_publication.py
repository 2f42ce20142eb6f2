"""A batch on its way keeps account of every event, whatever the brokers answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.errors import ProtocolError
from segue.sdk.publication import PendingBatch, Rejection, Result


def test_an_answer_about_an_event_that_was_not_sent_is_refused() -> None:
    for index in (-1, 2):
        with pytest.raises(ProtocolError, match=f"event {index} of 2"):
            PendingBatch([b"a", b"b"]).answered(Result(rejected=(Rejection(index, "bad-topic"),)))


CODES = st.sampled_from(["unavailable", "rate-limited", "bad-topic", "forbidden", "a-code-of-tomorrow"])


@given(count=st.integers(0, 8), tries=st.lists(st.dictionaries(st.integers(0, 7), CODES), max_size=4))
def test_every_event_has_one_answer_and_only_those_that_can_be_helped_are_sent_again(count: int, tries: list[dict[int, str]]) -> None:
    batch = PendingBatch([str(number).encode() for number in range(count)])
    waiting, final = [str(number) for number in range(count)], dict[str, str]()
    for codes in tries:
        assert batch.body().decode().split() == waiting
        batch.answered(Result(rejected=tuple(Rejection(index, code) for index, code in codes.items() if index < len(waiting))))
        outcome = {line: codes.get(index, "") for index, line in enumerate(waiting)}
        final |= outcome
        waiting = sorted(line for line, code in outcome.items() if code in ("unavailable", "rate-limited"))
    result = batch.result()
    assert batch.is_done == (not waiting)
    assert {str(each.index): each.code for each in result.rejected} == {line: code for line, code in final.items() if code}
    assert result.accepted + len(result.rejected) == count
