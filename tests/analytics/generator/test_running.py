"""Running tasks in other processes: what goes wrong there is raised here."""

from pathlib import Path

import pytest

from analytics.errors import TraceError
from analytics.generator.profile import profile
from analytics.generator.running import results
from analytics.generator.tasks import Work
from analytics.generator.trace_plan import TracePlan
from tests.support.tasks import Full, Killed


def work(folder: Path) -> Work:
    return Work(profile("spotify", 0.001, 1), folder, TracePlan(folder), publications=0, sessions=0)


def test_a_process_that_was_killed_is_told_with_the_likely_reason(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="ended from outside, most likely for want of memory; use fewer --processes"):
        list(results(work(tmp_path), [Killed()], 2))


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_task_raises_comes_out_here(tmp_path: Path, processes: int) -> None:
    with pytest.raises(OSError, match="No space left on device"):
        list(results(work(tmp_path), [Full()], processes))
