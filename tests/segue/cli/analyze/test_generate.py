"""`segue analyze generate`: what it makes, prints and refuses."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analytics.errors import TraceError
from analytics.trace import Trace
from segue.cli.analyze.generate import generate
from tests.support.eventually import eventually


def run(*arguments: object) -> Result:
    return CliRunner().invoke(generate, list(map(str, arguments)), env={"COLUMNS": "300"})


def test_a_trace_is_made_and_its_totals_time_size_and_memory_are_told(tmp_path: Path) -> None:
    result = run(tmp_path / "trace", "--scale", "1/1000", "--publications", 1000, "--sessions", "1000", "--processes", 1, "--seed", 4)
    assert result.exit_code == 0, result.output
    manifest = Trace.open(tmp_path / "trace").manifest
    assert (manifest.scale, manifest.seed) == (0.001, 4)
    lines = [line.strip() for line in result.output.splitlines()]
    assert f"{manifest.tables['counts'].rows:,} counts" in lines
    assert re.fullmatch(r".*trace: \d+\.\d s, \d+\.\d MB, peak memory of a process .*", lines[-2])
    assert lines[-1] == f"Next: segue analyze characterize {tmp_path / 'trace'}"


def test_of_twitter_no_sessions_are_made_for_none_were_published(tmp_path: Path) -> None:
    run(tmp_path / "trace", "--profile", "twitter", "--scale", "1/2000", "--publications", 0, "--processes", 1)
    assert Trace.open(tmp_path / "trace").manifest.tables.keys() == {"subscriptions", "counts"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scale", "much"), "much: must be a number or a fraction, as 0.01 or 1/100"),
        (("--scale", "1/0"), "1/0: must be a number or a fraction"),
        (("--publications", "-1"), "-1: must be a number of rows, 0 for none, or all"),
        (("--sessions", "few"), "few: must be a number of rows, 0 for none, or all"),
        (("--processes", "0"), "0 is not in the range x>=1"),
        (("--profile", "myspace"), "'myspace' is not one of 'spotify', 'twitter'"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_with_what_would(tmp_path: Path, arguments: tuple[str, str], message: str) -> None:
    result = run(tmp_path / "trace", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_scale_beyond_the_published_size_is_refused(tmp_path: Path) -> None:
    assert isinstance(run(tmp_path / "trace", "--scale", "2").exception, TraceError)


def test_an_interrupt_ends_it_without_a_traceback_and_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C goes to all processes of the terminal, here to all of a group."""
    command = [sys.executable, "-m", "segue", "analyze", "generate", str(tmp_path / "trace"), "--processes", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
        written, ended = partial(tmp_path.glob, "*/subscriptions/*.parquet"), process.poll
        begun = eventually(lambda: any(written()) or ended() is not None, "it has written nothing", deadline_s=45.0, poll_s=0.02)
        asyncio.run(begun)
        assert ended() is None, "it ended before it was interrupted"
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=45)
    assert (process.returncode, output.strip()) == (-signal.SIGINT, "")
    assert list(tmp_path.iterdir()) == []
