"""All steps are taken, whatever some of them raise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.every_one import MOST_TOLD, for_every_one


@given(st.lists(st.booleans(), max_size=8))
def test_every_step_is_taken_once_in_order_and_what_went_wrong_is_raised(outcomes: list[bool]) -> None:
    taken: list[int] = []

    def step(number: int, *, succeeds: bool) -> None:
        taken.append(number)
        if not succeeds:
            raise KeyError(number)

    wrong = [number for number, succeeds in enumerate(outcomes) if not succeeds]
    steps = [lambda number=number, succeeds=succeeds: step(number, succeeds=succeeds) for number, succeeds in enumerate(outcomes)]
    raised: list[Exception] = []
    try:
        for_every_one(steps)
    except ExceptionGroup as several:
        raised = list(several.exceptions)
    except KeyError as one:
        raised = [one]
        assert len(wrong) == 1
    assert taken == list(range(len(outcomes)))
    assert [error.args[0] for error in raised] == wrong


def test_what_ends_a_process_is_not_held_back() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for_every_one([interrupt])


def test_of_very_many_errors_the_first_are_told_and_how_many_there_are() -> None:
    def fail() -> None:
        raise KeyError("oops")

    with pytest.raises(ExceptionGroup, match="20000 steps failed") as raised:
        for_every_one([fail] * 20_000)
    assert len(raised.value.exceptions) == MOST_TOLD
