"""Work side by side: each piece is heard, and answered."""

from functools import partial

import pytest

from analytics.errors import TraceError
from overlay.report.side_by_side import side_by_side
from tests.support.tasks import killed, told_twice


@pytest.mark.parametrize("processes", [1, 2])
def test_every_piece_is_answered_and_heard_until_it_ends(processes: int) -> None:
    heard: list[tuple[str, str]] = []
    work = {"a": partial(told_twice, 1), "b": partial(told_twice, 2)}
    assert dict(side_by_side(work, processes, lambda *said: heard.append(said))) == {"a": 2, "b": 4}
    assert sorted(heard) == [(key, step) for key in ("a", "b") for step in ("", "once", "twice")]


def test_a_process_that_is_ended_from_outside_is_told_as_such() -> None:
    with pytest.raises(TraceError, match="ended from outside"):
        list(side_by_side({"a": killed, "b": killed}, 2, lambda *_: None))


def test_no_work_is_no_error() -> None:
    assert list(side_by_side({}, 2, lambda *_: None)) == []
