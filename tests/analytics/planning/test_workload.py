"""A planning problem read from a trace."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analytics.errors import NotSupported, TraceError
from analytics.generator.job import generate
from analytics.generator.profile import profile
from analytics.planning.errors import PlanError
from analytics.planning.workload import load, windows
from infra.kernel.errors import SegueError
from infra.kernel.manifest import TableInfo
from tests.support.generated import drawn
from tests.support.traces import BARE, ring, write

HOUR_MS = 3_600_000
FOUR = {"subscriber": [1, 1, 2, 9], "service": ["presence"] * 3 + ["artist"], "topic": [7, 8, 7, 7]}


def test_pairs_and_events_are_those_of_one_service(tmp_path: Path) -> None:
    counts = {
        "service": ["presence", "presence", "presence", "artist"],
        "topic": [8, 7, 7, 7],
        "site": ["a", "a", "b", "a"],
        "events": [5, 2, 1, 9],
    }
    path = write(tmp_path / "t", subscriptions=FOUR, counts=counts)

    found = load(path)
    assert found.instance.topic_ids.tolist() == [7, 8]
    assert found.instance.events.tolist() == [3, 5]
    assert found.instance.subscriber_ids.tolist() == [1, 2]
    assert found.instance.topics_of.lists() == [[0, 1], [0]]
    assert load(path, "artist").instance.events.tolist() == [9]


def test_topics_without_events_and_who_follows_nothing_else_are_left_out(tmp_path: Path) -> None:
    """Spec C1, C7."""
    counts = {"service": ["presence"] * 2, "topic": [7, 8], "events": [0, 4]}
    found = load(write(tmp_path / "t", subscriptions=FOUR, counts=counts)).instance

    assert found.topic_ids.tolist() == [8]
    assert found.subscriber_ids.tolist() == [1]


def test_numbers_may_be_of_any_size(tmp_path: Path) -> None:
    far = 1 << 60
    pairs = {"subscriber": [far, -far], "service": ["presence"] * 2, "topic": [far + 1, 3]}
    counts = {"service": ["presence"] * 2, "topic": [3, far + 1], "events": [1, 2]}
    found = load(write(tmp_path / "t", subscriptions=pairs, counts=counts)).instance

    assert found.topic_ids.tolist() == [3, far + 1]
    assert found.subscriber_ids.tolist() == [-far, far]
    assert found.topics_of.lists() == [[0], [1]]


@pytest.mark.parametrize("statistics", [True, False])
def test_parts_of_one_service_and_parts_of_several_are_read_alike(tmp_path: Path, statistics: bool) -> None:
    """Statistics of a part may say that it is of one service; nulls in it are of none."""
    path = write(tmp_path / "t", subscriptions=FOUR, counts={"service": ["presence"] * 2, "topic": [7, 8], "events": [1, 1]})
    mixed = pa.table({"subscriber": [4, 5], "service": ["artist", "presence"], "topic": [7, 8]})
    one = pa.table({"subscriber": [6, 3, 2], "service": ["presence"] * 3, "topic": [8, 7, 8]})
    holed = pa.table({"subscriber": [7, 8], "service": ["presence", None], "topic": [7, 7]})
    other = pa.table({"subscriber": [9], "service": ["artist"], "topic": [8]})
    with pq.ParquetWriter(path / "subscriptions" / "part-00001.parquet", one.schema, write_statistics=statistics) as file:
        for part in (mixed, one, holed, other):
            file.write_table(part)

    found = load(path).instance
    assert found.subscriber_ids.tolist() == [1, 2, 3, 5, 6, 7]
    assert found.topics_of.lists() == [[0, 1], [0, 1], [0], [1], [1], [0]]


def test_pairs_of_topics_without_events_are_left_out_however_topics_are_numbered(tmp_path: Path) -> None:
    for topics in ([7, 8], [7, 9], [-7, 9], [7, 1 << 62]):
        pairs = {"subscriber": [1] * 6, "service": ["presence"] * 6, "topic": [*topics, -(1 << 62), 0, 5, (1 << 62) + 1]}
        counts = {"service": ["presence"] * 2, "topic": topics, "events": [1, 1]}
        found = load(write(tmp_path / str(topics[1] - topics[0]), subscriptions=pairs, counts=counts)).instance
        assert (found.topic_ids.tolist(), found.topics_of.lists()) == (topics, [[0, 1]])


def test_a_generated_trace_gives_what_was_drawn(tmp_path: Path) -> None:
    generate(tmp_path / "t", profile("spotify", 0.001, 3), publications=0, sessions=0, processes=1, progress=lambda *_: None)
    wanted = drawn("spotify", 0.001, 3)
    found = load(tmp_path / "t")

    assert len(found.instance.topics_of.values) == len(wanted.topic)
    assert np.array_equal(found.instance.events, wanted.events[found.instance.topic_ids])
    assert np.array_equal(found.instance.popularity, wanted.popularity[found.instance.topic_ids])
    assert found.hours == 240


def test_without_those_tables_pairs_come_from_the_log_and_events_from_publications(tmp_path: Path) -> None:
    """A captured trace has what happened. Whoever comes and goes is counted once, and diagnostic events are not (WA-3)."""
    log = {
        "time_ms": [0, 1, 2, 3],
        "subscriber": [1, 1, 1, 2],
        "service": ["presence"] * 4,
        "topic": [7, 7, 7, 8],
        "action": ["subscribe", "unsubscribe", "subscribe", "subscribe"],
    }
    events = {"time_ms": [0, 1, 2, 3], "service": ["presence"] * 4, "topic": [7, 7, 8, 8], "kind": ["play", None, "ping", "play"]}
    found = load(write(tmp_path / "t", subscription_log=log, publications=events)).instance

    assert found.topics_of.lists() == [[0], [1]]
    assert found.events.tolist() == [2, 1]


def test_hours_have_the_topics_that_were_active_in_them(tmp_path: Path) -> None:
    """WA-29: idle topics are left out; numbers stay those of the trace."""
    about = msgspec.structs.replace(BARE, start_ms=0, end_ms=4 * HOUR_MS)
    counts = {"service": ["presence"] * 2, "topic": [7, 8], "events": [2, 2]}
    events = {"time_ms": [0, 5, HOUR_MS, 3 * HOUR_MS], "service": ["presence"] * 4, "topic": [7, 7, 8, 8]}
    whole = load(write(tmp_path / "t", about, subscriptions=FOUR, counts=counts, publications=events))

    found = list(windows(whole, 4))
    assert [each.start_ms for each in found] == [0, HOUR_MS, 3 * HOUR_MS]
    assert [each.instance.topic_ids.tolist() for each in found] == [[7], [8], [8]]
    assert [each.instance.subscriber_ids.tolist() for each in found] == [[1, 2], [1], [1]]
    assert found[0].instance.events.tolist() == [2]


def test_a_trace_that_cannot_be_planned_on_says_what_it_lacks(tmp_path: Path) -> None:
    counts = {"service": ["presence"], "topic": [7], "events": [2]}
    others = {"service": ["artist"], "topic": [7], "events": [2]}
    cases = {
        "has no publications": write(tmp_path / "a", subscriptions=FOUR),
        "no topic of presence has an event": write(tmp_path / "b", subscriptions=FOUR, counts=others),
        "has no subscription_log": write(tmp_path / "c", counts=counts),
        "there is no such folder": tmp_path / "d",
        "nobody follows a topic of presence": write(
            tmp_path / "e", subscriptions=FOUR, counts={"service": ["presence"], "topic": [1], "events": [2]}
        ),
    }
    for message, path in cases.items():
        with pytest.raises(TraceError, match=message):
            load(path)


def test_a_pair_that_is_there_twice_is_told(tmp_path: Path) -> None:
    twice = {"subscriber": [1, 1], "service": ["presence"] * 2, "topic": [7, 7]}
    path = write(tmp_path / "t", subscriptions=twice, counts={"service": ["presence"], "topic": [7], "events": [2]})
    with pytest.raises(PlanError, match="twice"):
        load(path)


def test_samples_are_told_and_do_not_stand_for_counts(tmp_path: Path) -> None:
    events = {"time_ms": [0], "service": ["presence"], "topic": [7]}
    path = write(tmp_path / "t", subscriptions=FOUR, publications=events)
    _sample(path)
    with pytest.raises(NotSupported, match="publications are a sample"):
        load(path)
    path = write(tmp_path / "u", subscriptions=FOUR, publications=events, counts={"service": ["presence"], "topic": [7], "events": [4]})
    _sample(path)
    assert load(path).notes == ("publications are a sample: 0.25 of all, by row",)


def test_where_there_are_no_times_there_are_no_hours(tmp_path: Path) -> None:
    about = msgspec.structs.replace(BARE, start_ms=None, end_ms=None)
    events = {"time_ms": [0], "service": ["presence"], "topic": [7]}
    counts = {"service": ["presence"], "topic": [7], "events": [4]}
    whole = load(write(tmp_path / "t", about, subscriptions=FOUR, counts=counts, publications=events))

    assert whole.hours is None
    with pytest.raises(NotSupported, match="there are no windows"):
        next(windows(whole, 1))
    with pytest.raises(NotSupported, match="has no publications"):
        next(windows(load(ring(tmp_path / "u", 5)), 1))


def test_files_that_are_gone_are_told(tmp_path: Path) -> None:
    path = ring(tmp_path / "t", 5)
    (path / "counts" / "part-00000.parquet").unlink()
    with pytest.raises(TraceError, match=r"there is no \*.parquet file"):
        load(path)


PRESENCE = {"subscriber": [1, 2], "service": ["presence"] * 2, "topic": [7, 8]}
COUNTS = {"service": ["presence"] * 2, "topic": [7, 8], "events": [3, 4]}


def altered(tmp_path: Path, table: str, **columns: Any) -> Path:
    """Writes a trace whose file of that table has other columns, or lacks those that are None."""
    path = write(tmp_path / "t", subscriptions=PRESENCE, counts=COUNTS)
    rows = ({"subscriptions": PRESENCE, "counts": COUNTS}[table]) | columns
    pq.write_table(pa.table({name: values for name, values in rows.items() if values is not None}), path / table / "part-00000.parquet")
    return path


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ({"events": [1.9, 2.0]}, "part-00000.parquet: column events is double; it must be int64"),
        ({"events": [float("nan"), 2.0]}, "column events is double"),
        ({"events": pa.array([None, 2], pa.int64())}, "part-00000.parquet: column events has rows without a value"),
        ({"events": [-5, 4]}, "must not be negative; the least is -5"),
        ({"topic": [7, 7], "events": [-5, 7]}, "must not be negative"),
        ({"events": [(1 << 60) + 1, 1]}, "a topic has more than 2\\^60 events"),
        ({"topic": [7] * 4, "service": ["presence"] * 4, "events": [1 << 59] * 4}, "more than 2\\^60; plan on a shorter period"),
        ({"topic": [7] * 4, "service": ["presence"] * 4, "events": [(1 << 62) + 3] * 4}, "2\\^60"),
        ({"events": pa.array([(1 << 64) - 1, 1], pa.uint64())}, "not in range"),
    ],
)
def test_counts_that_are_no_whole_numbers_or_too_large_are_refused(tmp_path: Path, rows: dict[str, Any], says: str) -> None:
    with pytest.raises(SegueError, match=says):
        load(altered(tmp_path, "counts", **rows))


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        ("subscriptions", {"topic": None}, "column topic is missing; it must be int64"),
        ("subscriptions", {"topic": ["7", "8"]}, "column topic is string; it must be int64"),
        ("subscriptions", {"service": [1, 2]}, "column service is int64; it must be string"),
        ("subscriptions", {"subscriber": pa.array([None, 1], pa.int32())}, "column subscriber has rows without a value"),
        ("subscriptions", {"subscriber": [None, None]}, "column subscriber is null"),
        ("counts", {"events": None}, "column events is missing"),
        ("counts", {"topic": ["7", "8"]}, "column topic is string"),
    ],
)
def test_columns_that_are_not_those_of_the_table_are_told(tmp_path: Path, table: str, columns: dict[str, Any], says: str) -> None:
    with pytest.raises(TraceError, match=f"{table}/part-00000.parquet: {says}"):
        load(altered(tmp_path, table, **columns))


def test_each_file_is_looked_at_and_types_of_other_sizes_will_do(tmp_path: Path) -> None:
    path = write(tmp_path / "t", subscriptions=PRESENCE, counts=COUNTS)
    other = pa.table(
        {"subscriber": pa.array([5], pa.uint16()), "service": pa.array(["presence"]).dictionary_encode(), "topic": pa.array([8], pa.int8())}
    )
    pq.write_table(other, path / "subscriptions" / "part-00001.parquet")
    assert load(path).instance.subscriber_ids.tolist() == [1, 2, 5]

    pq.write_table(other.drop_columns("topic"), path / "subscriptions" / "part-00001.parquet")
    with pytest.raises(TraceError, match=r"part-00001.parquet: column topic is missing"):
        load(path)
    (path / "subscriptions" / "part-00001.parquet").write_bytes(b"PAR1garbage")
    with pytest.raises(TraceError, match=r"part-00001.parquet: cannot be read: .*magic bytes"):
        load(path)


def test_a_file_whose_rows_are_damaged_is_told(tmp_path: Path) -> None:
    path = ring(tmp_path / "t", 500)
    file = path / "subscriptions" / "part-00000.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    with pytest.raises(TraceError, match="subscriptions: cannot be read: "):
        load(path)


def test_publications_are_read_once_for_all_windows_and_no_window_begins_after_the_period(tmp_path: Path) -> None:
    about = msgspec.structs.replace(BARE, start_ms=HOUR_MS, end_ms=4 * HOUR_MS)
    hours = [1, 1, 2, 3, 3, 3, 4, 0]  # the last two are outside of the period
    events = {"time_ms": [hour * HOUR_MS for hour in hours], "service": ["presence"] * 8, "topic": [7, 8, 7, 8, 7, 8, 7, 7]}
    whole = load(write(tmp_path / "t", about, subscriptions=PRESENCE, counts=COUNTS, publications=events))
    told: list[str] = []

    found = [
        (each.start_ms // HOUR_MS, each.instance.topic_ids.tolist(), each.instance.events.tolist())
        for each in windows(whole, 500, begun=told.append)
    ]
    assert found == [(1, [7, 8], [1, 1]), (2, [7], [1]), (3, [7, 8], [1, 2])]
    assert told == ["reading publications", "window 1", "window 2", "window 3"]


def _sample(path: Path) -> None:
    """Has the manifest say that publications are a quarter of all."""
    manifest = path / "manifest.json"
    about = msgspec.json.decode(manifest.read_bytes())
    about["tables"]["publications"] = msgspec.to_builtins(TableInfo(rows=1, fraction=0.25))
    manifest.write_bytes(msgspec.json.encode(about))
