"""Several access point processes are one command: what they end with is what it ends with."""

import pytest

from segue.cli.processes import run_side_by_side

WAITS = ["-c", "import time; time.sleep(600)"]


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
    ],
)
def test_a_process_that_is_stopped_before_it_serves_is_no_failure_of_the_command(code: str, ended: int) -> None:
    assert run_side_by_side([["-c", code], WAITS]) == ended
