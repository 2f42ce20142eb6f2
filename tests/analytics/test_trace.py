"""A trace is written part by part, appears whole, and is read back as it was."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from analytics.building import building
from analytics.errors import NotSupported, TraceError
from analytics.parts import write_part
from analytics.trace import Trace
from infra.kernel.errors import ConfigError
from infra.kernel.manifest import TableInfo, decode
from tests.support.traces import BARE, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_was_written_is_read_back_and_unknown_sites_are_null(tmp_path: Path, spark: "SparkSession") -> None:
    path = write(tmp_path / "t", subscriptions={"subscriber": [1, 2], "service": ["presence"] * 2, "topic": [2, 1]})
    found = Trace.open(path).subscriptions(spark).orderBy("subscriber").collect()
    assert [tuple(row) for row in found] == [(1, "presence", 2, None), (2, "presence", 1, None)]


def test_pairs_and_counts_are_derived_where_a_capture_has_only_logs(tmp_path: Path, spark: "SparkSession") -> None:
    log = {"time_ms": [1, 2, 3], "subscriber": [1, 1, 1], "service": ["presence"] * 3, "topic": [2, 2, 2], "site": ["sto"] * 3}
    said = {"time_ms": [1, 2, 3], "service": ["presence"] * 3, "topic": [2, 2, 3], "site": ["sto"] * 3, "kind": ["play", "ping", None]}
    path = write(tmp_path / "t", subscription_log=log | {"action": ["subscribe", "unsubscribe", "subscribe"]}, publications=said)
    trace = Trace.open(path)
    assert [tuple(row) for row in trace.subscriptions(spark).collect()] == [(1, "presence", 2, "sto")]
    found = trace.counts(spark, ("ping",)).orderBy("topic").collect()
    assert [tuple(row) for row in found] == [("presence", 2, "sto", 1), ("presence", 3, "sto", 1)]


def test_a_table_that_is_not_there_is_refused_with_what_it_is(tmp_path: Path, spark: "SparkSession") -> None:
    path = write(tmp_path / "t", subscriptions={"subscriber": [1], "service": ["presence"], "topic": [2]})
    with pytest.raises(NotSupported, match="has no sessions: users who come and go"):
        Trace.open(path).frame(spark, "sessions")


def test_a_folder_without_manifest_is_no_trace_and_the_message_says_how_to_come_by_one(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no trace"):
        Trace.open(tmp_path)
    with pytest.raises(TraceError, match="segue analyze generate"):
        Trace.open(tmp_path / "nothing")


def test_what_breaks_leaves_nothing_behind(tmp_path: Path) -> None:
    columns = {"subscriber": np.arange(3), "service": ["presence"] * 3}
    with pytest.raises(ValueError, match="non-nullable but contains nulls"), building(tmp_path / "t") as folder:
        write_part(folder, "subscriptions", 0, columns)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_remedy_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"the disk is full .* Nothing was kept"), building(tmp_path / "t"):
        Path("/dev/full").write_bytes(b"x")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next_one_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    ruin, growing = (tmp_path / f".t.partial-{pid}" for pid in (gone.pid, 1))
    ruin.mkdir()
    growing.mkdir()
    with building(tmp_path / "t"):
        assert (ruin.exists(), growing.exists()) == (False, True)


def test_a_folder_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="exists already"), building(tmp_path):
        raise AssertionError


def test_manifests_of_several_nodes_are_one(tmp_path: Path) -> None:
    for node, start in (("a", 5), ("b", 7)):
        part = msgspec.structs.replace(
            BARE, start_ms=start, end_ms=start + 10, sites=(node,), tables={"sessions": TableInfo(rows=2)}, dropped={"sessions": 1}
        )
        (tmp_path / f"manifest-{node}.json").write_bytes(part.encode())
    found = Trace.open(tmp_path).manifest
    assert (found.start_ms, found.end_ms, found.sites, found.tables["sessions"].rows, found.dropped) == (
        5,
        17,
        ("a", "b"),
        4,
        {"sessions": 2},
    )


def test_a_manifest_says_what_is_wrong_with_it() -> None:
    assert decode(BARE.encode(), "m") == BARE
    wrong = {
        b"[]": "is no manifest of a trace",
        BARE.encode().replace(b'"version": 1', b'"version": 9'): "is version 9 of the trace",
        BARE.encode().replace(b'"small"', b"5"): "Expected `str`, got `int` - at `.*name`",
        BARE.encode().replace(b'"tables": {}', b'"tables": {"plays": {"rows": 1}}'): "there is no table 'plays'",
    }
    for text, message in wrong.items():
        with pytest.raises(ConfigError, match=message):
            decode(text, "m")
