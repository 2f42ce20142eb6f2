"""Calls in other processes: what goes wrong there is raised here."""

from functools import partial

import pytest

from analytics.errors import TraceError
from analytics.processes import results
from tests.support.tasks import full, killed


def test_every_call_is_answered_whatever_the_number_of_processes() -> None:
    calls = [partial(pow, 2, each) for each in range(5)]
    assert list(results(calls, 1, "powers")) == [1, 2, 4, 8, 16]
    assert sorted(results(calls, 2, "powers")) == [1, 2, 4, 8, 16]


def test_a_process_that_was_killed_is_told_with_the_likely_reason() -> None:
    with pytest.raises(
        TraceError, match=r"^a trace: a process was ended from outside, most likely for want of memory; use fewer --processes"
    ):
        list(results([killed], 2, "a trace"))


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_call_raises_comes_out_here(processes: int) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        list(results([full], processes, "a trace"))
