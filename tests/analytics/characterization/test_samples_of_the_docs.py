"""The traces that the pages make are looked at, characterized and compared as the pages say, up to the report."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import segue
from analytics.characterization.job import characterize_in
from analytics.characterization.options import Options
from analytics.report.page import write_page
from analytics.trace import Trace
from infra.runtime.tokens import issue
from segue.cli.state import secret_of
from tests.analytics.trace_page import PAGE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(300)
ROOT = PAGE.parents[1]


def typed(line: str, folder: Path) -> str:
    """Returns what a command prints that is typed in `folder`, and that ends well."""
    arguments = line.removeprefix("segue ").split()
    # As a user's shell has it: PySpark leaves sockets open, which warnings would tell.
    quiet = {key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"}
    done = subprocess.run([sys.executable, "-m", "segue", *arguments], cwd=folder, env=quiet, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_sample_that_one_writes_oneself_is_characterized_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/trace.md, "Write one yourself": two subscribers, three pairs, three events."""
    code = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert code
    monkeypatch.chdir(tmp_path)
    exec(compile(code[1], str(PAGE), "exec"), {})  # noqa: S102 - our own page

    assert "valid: 3 subscriptions, 3 publications" in typed("segue analyze validate my-trace", tmp_path)
    assert "tail of popularity   too few values" in typed("segue analyze characterize my-trace", tmp_path)
    page = (tmp_path / "my-trace-report" / "report.html").read_text(encoding="utf-8")
    assert "All have the same value, 1: the curve is one point." in page
    assert "not compared: " in typed("segue analyze compare my-trace-report my-trace --out both", tmp_path)
    assert (tmp_path / "both" / "compare.html").exists()


async def test_a_captured_afternoon_of_three_users_is_characterized(spark: "SparkSession", tmp_path: Path) -> None:
    """docs/capture.md: `segue up --capture build/recorded`, three users with seven events, and the characterization of it."""
    site = await up(tmp_path)
    try:
        assert site.stdout is not None
        await seven_events(json.loads(await site.stdout.readline())["clients"][0], secret_of(tmp_path / "state"))
    finally:
        site.terminate()
        await site.wait()
    found = Trace.open(tmp_path / "trace")
    (tmp_path / "report").mkdir()
    summary = await asyncio.to_thread(characterize_in, spark, found, tmp_path / "report", Options())
    assert summary.measures["events"] == 7
    assert summary.measures["subscribers"] == 3
    assert "<svg" in write_page(tmp_path / "report").read_text(encoding="utf-8")


async def up(folder: Path) -> Process:
    """Starts the command of the page, on free ports."""
    arguments = ["--policy", "open", "--capture", str(folder / "trace"), "--state", str(folder / "state"), "--port-base", "0", "--json"]
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "segue", "up", *arguments, cwd=ROOT, stdout=PIPE)


async def seven_events(address: str, secret: bytes) -> None:
    """Connects Alice, Bob and Carol, who follow each other around and play."""
    names = ("alice", "bob", "carol")
    clients = [segue.Client(address, issue(secret, user=name, ttl_s=600, now_s=time.time())) for name in names]
    async with clients[0] as alice, clients[1] as bob, clients[2] as carol:
        everybody = (alice, bob, carol)
        for client, followed in zip(everybody, ("bob", "carol", "alice"), strict=True):
            await client.subscribe([f"hm://presence/user/{followed}/"])
        for turn in range(7):
            await everybody[turn % 3].act("play", track=str(turn))
