"""A generated trace as it is on disk: the same bytes for a seed, complete or not there at all."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from analytics.errors import TraceError
from analytics.generator.job import PLANNING, WRITING, generate
from analytics.generator.profile import profile
from infra.kernel.manifest import Manifest
from infra.kernel.trace import TABLES

ROWS = 30_000


def quiet(_step: str, _done: int, _total: int) -> None:
    pass


def make(path: Path, seed: int = 1, processes: int = 1, scale: float = 0.01) -> Manifest:
    return generate(path, profile("spotify", scale, seed), publications=ROWS, sessions=ROWS, processes=processes, progress=quiet)


def digests(path: Path) -> dict[str, str]:
    files = [file for file in path.rglob("*") if file.is_file()]
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    path = tmp_path_factory.mktemp("generated") / "trace"
    return path, make(path)


def column(path: Path, table: str, name: str, service: str = "presence") -> NDArray[Any]:
    found = pq.read_table(path / table, columns=[name], filters=[("service", "=", service)])
    return np.asarray(found[name].to_numpy())


def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_processes(trace: tuple[Path, Manifest], tmp_path: Path) -> None:
    """WA-15."""
    make(tmp_path / "again", processes=2)
    assert digests(tmp_path / "again") == digests(trace[0])


def test_another_seed_gives_another_trace(trace: tuple[Path, Manifest], tmp_path: Path) -> None:
    make(tmp_path / "other", seed=2)
    same, other = digests(trace[0]), digests(tmp_path / "other")
    assert not [name for name in same.keys() & other.keys() if same[name] == other[name]]


def test_means_of_what_is_on_disk_are_those_published(trace: tuple[Path, Manifest]) -> None:
    """WA-15 (thesis 5.1.1, 6.5.1): within 2 % at 1/100 of the size."""
    subscribers, topics = column(trace[0], "subscriptions", "subscriber"), column(trace[0], "subscriptions", "topic")
    assert len(subscribers) / len(np.unique(subscribers)) == pytest.approx(12 / 4.9, rel=0.02)
    assert len(topics) / len(np.unique(topics)) == pytest.approx(12 / 1.1, rel=0.02)
    assert column(trace[0], "counts", "events").mean() == pytest.approx(2763, rel=0.02)


def test_the_manifest_says_what_it_is_and_what_is_a_sample(trace: tuple[Path, Manifest]) -> None:
    path, manifest = trace
    assert (manifest.name, manifest.origin, manifest.profile, manifest.scale, manifest.seed) == (
        "spotify-0.01",
        "generated",
        "spotify",
        0.01,
        1,
    )
    assert (path / "manifest.json").read_bytes() == manifest.encode()
    assert manifest.tables.keys() == TABLES.keys()
    assert {table: info.rows for table, info in manifest.tables.items()} == {
        table: pq.read_table(path / table).num_rows for table in TABLES
    }
    assert {info.fraction for table, info in manifest.tables.items() if table in ("subscriptions", "counts")} == {1.0}


def test_samples_have_about_the_rows_that_were_asked_for(trace: tuple[Path, Manifest]) -> None:
    path, manifest = trace
    assert manifest.tables["publications"].rows == pytest.approx(ROWS, rel=0.05)
    assert manifest.tables["publications"].sampled_by == "row"
    whole = sum(column(path, "counts", "events", service).sum() for service in ("presence", "playlist", "artist", "social"))
    assert manifest.tables["publications"].fraction == pytest.approx(ROWS / whole, rel=0.01)
    assert manifest.tables["subscription_log"].rows == pytest.approx(ROWS, rel=0.5)
    assert manifest.tables["subscription_log"].sampled_by == manifest.tables["sessions"].sampled_by == "user"


def test_streams_may_be_left_out_or_whole(tmp_path: Path) -> None:
    small = profile("spotify", 0.0001, 1)
    manifest = generate(tmp_path / "trace", small, publications=None, sessions=0, processes=1, progress=quiet)
    assert manifest.tables.keys() == {"subscriptions", "counts", "publications"}
    assert manifest.tables["publications"].fraction == 1
    counted = pq.read_table(tmp_path / "trace" / "counts")["events"].to_numpy().sum()
    assert manifest.tables["publications"].rows == counted


def test_nothing_is_left_when_it_is_interrupted(tmp_path: Path) -> None:
    def interrupt(step: str, done: int, _total: int) -> None:
        if step == WRITING and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "trace", profile("spotify", 0.001, 1), publications=100, sessions=100, processes=1, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_progress_tells_each_step_from_nothing_to_all(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    generate(
        tmp_path / "trace",
        profile("spotify", 0.001, 1),
        publications=0,
        sessions=0,
        processes=1,
        progress=lambda *each: seen.append(each),
    )
    assert seen[:3] == [(PLANNING, 0, 1), (PLANNING, 1, 1), (WRITING, 0, seen[-1][2])]
    assert [done for step, done, _ in seen if step == WRITING] == list(range(seen[-1][2] + 1))


def test_an_existing_folder_is_refused(trace: tuple[Path, Manifest]) -> None:
    with pytest.raises(TraceError, match="exists already"):
        make(trace[0], scale=0.001)
