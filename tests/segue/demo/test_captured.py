"""The demo captures itself: what it says of the run is what is in the trace."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from infra.kernel.errors import ConfigError
from infra.kernel.trace import TABLES
from segue.demo.captured import need_new, told
from segue.demo.dataset import checkout_folder
from segue.demo.outcome import DemoOutcome
from segue.demo.plan import DemoPlan
from segue.demo.privacy_act import PLAYS
from segue.demo.run import run
from segue.demo.show import Show


def rows(folder: Path, table: str) -> list[dict[str, object]]:
    return [row for file in (folder / table).glob("*.parquet") for row in pq.ParquetFile(file).read().to_pylist()]


async def captured(folder: Path) -> DemoOutcome:
    """Captures a short run of few users."""
    plan = DemoPlan(
        data=checkout_folder(),
        users=30,
        sites=2,
        seconds=0.5,
        speed=1.0,
        rate_per_s=100.0,
        seed=1,
        has_processes=False,
        capture=folder,
    )
    return await run(plan, Show(Console(file=io.StringIO())))


@pytest.mark.slow
async def test_every_play_and_every_friendship_of_a_run_is_in_its_trace(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    outcome = await captured(folder)
    published, log = rows(folder, "publications"), rows(folder, "subscription_log")
    assert outcome.privacy is not None
    # All plays but those of the private session, which nobody publishes.
    assert sum(row["service"] == "presence" for row in published) == outcome.summary.events + outcome.privacy.events - PLAYS > 0
    assert sum(row["service"] == "artist" for row in published) == 2  # an album and a single
    pairs = {(row["subscriber"], row["topic"]) for row in log if row["service"] == "presence" and row["action"] == "subscribe"}
    assert len(pairs) > 0
    assert {(topic, subscriber) for subscriber, topic in pairs} == pairs  # friends follow each other
    counted = [f"{len(found):,} {table}" for table in TABLES if (found := rows(folder, table))]
    assert told(folder) == f"The trace is in {folder}: {', '.join(counted)}. Go on with: segue analyze characterize {folder}"
    assert "key" not in {path.stem for path in folder.rglob("*")}
    with pytest.raises(ConfigError, match="exists already"):
        await captured(folder)


def test_a_folder_that_is_new_or_empty_may_take_a_trace(tmp_path: Path) -> None:
    need_new(tmp_path)
    need_new(tmp_path / "new")
    (tmp_path / "file").touch()
    for taken in (tmp_path, tmp_path / "file"):
        with pytest.raises(ConfigError, match="name another folder"):
            need_new(taken)
