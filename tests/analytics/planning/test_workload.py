"""A planning problem read from a trace."""

from pathlib import Path

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


def _sample(path: Path) -> None:
    """Has the manifest say that publications are a quarter of all."""
    manifest = path / "manifest.json"
    about = msgspec.json.decode(manifest.read_bytes())
    about["tables"]["publications"] = msgspec.to_builtins(TableInfo(rows=1, fraction=0.25))
    manifest.write_bytes(msgspec.json.encode(about))
