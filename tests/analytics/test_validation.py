"""Each kind of trouble in a trace is found, with file, row, column and remedy, and nothing is found in a good one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.errors import TraceError
from analytics.parts import write_manifest, write_part
from analytics.trace import Trace
from analytics.validation import Defect, Report, quick_check, validate
from analytics.validation.defects import Defects
from analytics.validation.repeats import check_repeats
from infra.kernel.manifest import Manifest, TableInfo
from infra.kernel.trace import TABLES
from tests.support.traces import BARE, write

DAYS = msgspec.structs.replace(BARE, end_ms=3 * 86_400_000, sites=("sto", "lon"))
TWO = ["presence", "presence"]
GOOD: dict[str, dict[str, Any]] = {
    "subscriptions": {"subscriber": [1, 2], "service": TWO, "topic": [2, 1], "site": ["sto", None]},
    "publications": {"time_ms": [5, 5, 9], "service": ["presence"] * 3, "topic": [1, 1, 7], "kind": ["play", None, "play"]},
    "counts": {"service": TWO, "topic": [1, 7], "events": [2, 1]},
    "sessions": {"time_ms": [5, 6], "user": [1, 1], "device": ["desktop", None], "action": ["join", "leave"]},
    "subscription_log": {"time_ms": [5, 6], "subscriber": [1, 1], "service": TWO, "topic": [2, 2], "action": ["subscribe", "unsubscribe"]},
}


def trace(tmp_path: Path, about: Manifest = DAYS, **changed: dict[str, Any]) -> Trace:
    """Makes the good trace with some columns of its tables changed."""
    return Trace.open(write(tmp_path / "t", about, **{name: columns | changed.get(name, {}) for name, columns in GOOD.items()}))


def report(found: Trace, **tables: TableInfo) -> Report:
    """Validates the trace after other things are said of its tables."""
    return validate(Trace(found.path, msgspec.structs.replace(found.manifest, tables=found.manifest.tables | tables)))


def only(found: Report) -> Defect:
    (defect,) = found.defects
    return defect


def replace(found: Trace, table: str, columns: Mapping[str, Any], part: int = 0) -> Path:
    """Puts a file with any columns in the place of a file of a table, and returns it."""
    path = found.path / table / f"part-{part:05d}.parquet"
    pq.write_table(pa.table(dict(columns)), path)
    return path


def test_a_good_trace_has_no_defects_and_its_rows_are_told(tmp_path: Path) -> None:
    """Also when nobody follows a topic that has events."""
    good = trace(tmp_path)
    quick_check(good)
    assert validate(good) == Report((), {"subscriptions": 2, "publications": 3, "counts": 2, "sessions": 2, "subscription_log": 2})


@pytest.mark.parametrize(
    ("table", "changed", "place", "message"),
    [
        ("subscriptions", {"topic": [-2, -1]}, (1, "topic", 2), "-2 is negative (2 rows); numbers are 0 or more"),
        ("subscriptions", {"subscriber": [1, -2]}, (2, "subscriber", 1), "-2 is negative; numbers are 0 or more"),
        (
            "subscriptions",
            {"topic": [2, 2]},
            (2, "topic", 1),
            "2 is the subscriber of the same row; users do not follow themselves: leave out the row",
        ),
        (
            "subscription_log",
            {"topic": [1, 2]},
            (1, "topic", 1),
            "1 is the subscriber of the same row; users do not follow themselves: leave out the row",
        ),
        (
            "subscriptions",
            {"site": ["sto", "par"]},
            (2, "site", 1),
            "'par' is no site of the manifest; add it to sites there, or correct it",
        ),
        (
            "subscriptions",
            {"service": ["presence", "news"]},
            (2, "service", 1),
            "'news' is not known; it must be presence or playlist or social or artist",
        ),
        ("sessions", {"device": ["watch", None]}, (1, "device", 1), "'watch' is not known; it must be desktop or mobile"),
        ("sessions", {"action": ["join", "go"]}, (2, "action", 1), "'go' is not known; it must be join or leave"),
        ("sessions", {"time_ms": [5, 4]}, (2, "time_ms", 1), "4 is before the time of the row above; sort each file by time_ms"),
        (
            "sessions",
            {"time_ms": [-1, 259_200_000]},
            (1, "time_ms", 2),
            "-1 is outside of the period 0 to 259200000 (2 rows); correct start_ms and end_ms, or leave out the row",
        ),
        (
            "counts",
            {"events": [3, 1]},
            (1, "events", 1),
            "3 events, but publications have 2 of topic 1; count again, or leave out counts: it is derived then",
        ),
        (
            "publications",
            {"topic": [1, 1, 8]},
            (3, "topic", 1),
            "8 of presence at site None has no row in counts; count again, or leave out counts: it is derived then",
        ),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, table: str, changed: dict[str, Any], place: tuple[int, str, int], message: str
) -> None:
    defects = validate(trace(tmp_path, DAYS, **{table: changed})).defects
    file = tmp_path / "t" / table / "part-00000.parquet"
    defect = defects[0]
    assert (defect.row, defect.column, defect.rows, defect.severity) == (*place, "error")
    assert str(defect) == f"{file}, row {place[0]}, column {place[1]}: {message}"


def test_negative_counts_are_found(tmp_path: Path) -> None:
    defects = validate(trace(tmp_path, counts={"events": [2, -1]})).defects
    assert [(each.row, each.column, each.what) for each in defects] == [
        (2, "events", "-1 is negative"),
        (2, "events", "-1 events, but publications have 1 of topic 7"),
    ]


def test_null_is_found_where_it_is_not_allowed(tmp_path: Path) -> None:
    found = trace(tmp_path)
    replace(found, "subscriptions", GOOD["subscriptions"] | {"service": ["presence", None], "topic": [None, 1]})
    assert [(each.row, each.column, each.what) for each in validate(found).defects] == [
        (2, "service", "None is not allowed: it must be known"),
        (1, "topic", "None is not allowed: it must be known"),
    ]


def test_times_are_compared_across_batches_and_not_across_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.validation.batches.ROWS", 1)
    found = trace(tmp_path, sessions={"time_ms": [7, 6]})
    write_part(found.path, "sessions", 1, GOOD["sessions"])
    defect = only(report(found, sessions=TableInfo(rows=4)))
    assert (defect.row, defect.rows, defect.files) == (2, 1, 1)


def test_the_same_trouble_in_many_rows_and_files_is_one_finding(tmp_path: Path) -> None:
    found = trace(tmp_path)
    for part in (1, 2):
        write_part(found.path, "sessions", part, {"time_ms": [1, 2], "user": [-5, -6], "action": ["join", "leave"]})
    defect = only(report(found, sessions=TableInfo(rows=6)))
    assert (defect.file.name, defect.row, defect.rows, defect.files) == ("part-00001.parquet", 1, 4, 2)
    assert "-5 is negative (4 rows in 2 files); numbers are 0 or more" in str(defect)


def test_repeated_keys_are_found_in_one_file_and_across_files(tmp_path: Path) -> None:
    found = trace(tmp_path)
    write_part(found.path, "subscriptions", 1, {"subscriber": [3, 2, 3], "service": ["presence"] * 3, "topic": [1, 1, 1]})
    defect = only(report(found, subscriptions=TableInfo(rows=5)))
    assert (defect.file.name, defect.row, defect.rows) == ("part-00001.parquet", 2, 2)
    assert defect.what == "2, 'presence', 1 again, as in row 2 of part-00000.parquet"


def test_the_same_numbers_at_another_service_or_site_are_other_keys(tmp_path: Path) -> None:
    found = trace(
        tmp_path,
        subscriptions={"subscriber": [1, 1], "service": ["presence", "playlist"], "topic": [2, 2]},
        counts={"topic": [1, 1, 7, 1], "service": [*TWO, *TWO], "site": [None, "sto", None, "lon"], "events": [2, 0, 1, 0]},
    )
    assert validate(found).defects == ()


@settings(max_examples=30)
@given(pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1), rows_per_pass=st.integers(1, 9))
def test_repeats_are_counted_whatever_the_number_of_passes(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, int]], rows_per_pass: int
) -> None:
    """A pass that holds more than twice its share is cut short: then some are told, not all."""
    folder = tmp_path_factory.mktemp("t")
    subscriber, topic = zip(*pairs, strict=True)
    write_part(folder, "subscriptions", 0, {"subscriber": subscriber, "topic": topic, "service": ["artist"] * len(pairs)})
    defects = Defects()
    files = [folder / "subscriptions" / "part-00000.parquet"]
    check_repeats(files, TABLES["subscriptions"], defects, lambda _step, _done, _total: None, rows_per_pass=rows_per_pass)
    repeated = len(pairs) - len(set(pairs))
    assert len(defects.all()) == (repeated > 0)
    if rows_per_pass >= len(pairs):
        assert sum(defect.rows for defect in defects.all()) == repeated


def test_counts_may_be_with_or_without_diagnostic_events(tmp_path: Path) -> None:
    said = GOOD["publications"] | {"topic": [1, 1, 9], "kind": ["play", "ping", "ping"]}
    for number, events in enumerate(([1], [2], [3])):
        counts = {"service": ["presence"], "topic": [1], "events": events}
        path = write(tmp_path / str(number), DAYS, publications=said, counts=counts)
        assert len(validate(Trace.open(path)).defects) == (events == [3])


def test_a_sample_is_not_compared_with_counts(tmp_path: Path) -> None:
    assert report(trace(tmp_path, counts={"events": [20, 10]}), publications=TableInfo(rows=3, fraction=0.1)).defects == ()


def test_a_column_that_is_missing_or_of_another_type_is_named_with_what_it_must_be(tmp_path: Path) -> None:
    found = trace(tmp_path)
    replace(found, "sessions", {"time_ms": [5], "site": ["sto"], "device": ["mobile"], "action": [1]})
    assert [(each.column, each.what, each.remedy) for each in validate(found).defects] == [
        ("user", "the column is missing", "add it as int64: number of the user"),
        ("action", "has the type int64", "convert it to string"),
    ]
    with pytest.raises(TraceError, match=r"column user: the column is missing; .* \(and 1 more: `segue analyze validate .*` tells them\)"):
        quick_check(found)


def test_text_may_be_written_in_any_way_that_parquet_knows(tmp_path: Path) -> None:
    found = trace(tmp_path)
    texts = pa.array(TWO)
    replace(found, "subscriptions", GOOD["subscriptions"] | {"service": texts.cast(pa.large_string()), "site": pa.nulls(2, pa.string())})
    assert validate(found).defects == ()
    replace(found, "subscriptions", GOOD["subscriptions"] | {"service": texts.dictionary_encode()})
    assert validate(found).defects == ()


def test_columns_and_folders_that_are_not_read_are_warnings(tmp_path: Path) -> None:
    found = trace(tmp_path)
    replace(found, "sessions", GOOD["sessions"] | {"site": ["sto", "lon"], "note": [1, 2]})
    (found.path / "plays").mkdir()
    told = validate(found)
    assert [(each.severity, each.what) for each in told.defects] == [
        ("warning", "has a column 'note' more, which is not read"),
        ("warning", "is no table of a trace and is not read"),
    ]
    assert (told.errors, told.warnings) == (0, 2)
    quick_check(found)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[: len(content) // 2], "ends early: the end of a Parquet file is missing or damaged"),
        (lambda content: b"", "is no Parquet file"),
        (lambda content: b"time_ms,user\n", "is no Parquet file"),
    ],
)
def test_a_file_that_is_cut_or_no_parquet_is_named(tmp_path: Path, damage: Any, message: str) -> None:
    found = trace(tmp_path)
    file = found.path / "sessions" / "part-00000.parquet"
    file.write_bytes(damage(file.read_bytes()))
    assert str(only(validate(found))) == f"{file}: {message}; write or copy it again"
    with pytest.raises(TraceError, match=message):
        quick_check(found)


def test_a_file_that_is_damaged_inside_is_found_when_its_rows_are_read(tmp_path: Path) -> None:
    """The other tables are looked at all the same."""
    found = trace(tmp_path, subscriptions={"topic": [-2, 1]})
    file = found.path / "publications" / "part-00000.parquet"
    content = bytearray(file.read_bytes())
    content[4:60] = b"\xff" * 56
    file.write_bytes(content)
    quick_check(found)
    assert [(each.file.parent.name, each.what) for each in validate(found).defects] == [
        ("subscriptions", "-2 is negative"),
        ("publications", "cannot be read beyond row 0: it is damaged"),
    ]


def test_rows_that_disagree_with_the_manifest_are_found(tmp_path: Path) -> None:
    defect = only(report(trace(tmp_path), sessions=TableInfo(rows=5)))
    assert defect.what == "has 2 rows, but the manifest says 5"


def test_a_table_without_files_and_files_without_a_word_in_the_manifest_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "t", DAYS, sessions=GOOD["sessions"])
    (path / "counts").mkdir()
    (path / "sessions").rename(path / "subscriptions")
    assert [(each.file.name, each.what) for each in validate(Trace.open(path)).defects][:2] == [
        ("subscriptions", "has files, but the manifest does not speak of it"),
        ("part-00000.parquet", "the column is missing"),
    ]
    assert "has no *.parquet file, but the manifest says 2 rows" in {each.what for each in validate(Trace.open(path)).defects}


def test_each_table_that_disagrees_with_the_manifest_is_told_with_its_numbers(tmp_path: Path) -> None:
    told = report(trace(tmp_path), sessions=TableInfo(rows=5), counts=TableInfo(rows=6))
    assert [each.what[-6:] for each in told.defects] == ["says 6", "says 5"]


def test_an_empty_trace_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "t", DAYS, sessions={name: [] for name in GOOD["sessions"]})
    assert only(validate(Trace.open(path))).what == "the trace is empty: no table has a row"
    with pytest.raises(TraceError, match="the trace is empty"):
        quick_check(Trace.open(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start_ms": 9, "end_ms": 9}, "the period 9 to 9 is none; give start_ms and a later end_ms, or neither"),
        ({"end_ms": None}, "the period 0 to None is none; give"),
        ({"start_ms": None, "end_ms": None}, "there is no period, but publications have times; give start_ms and end_ms"),
        ({"time_zone": "Mars/Base"}, "there is no time zone 'Mars/Base'; give a name as Europe/Stockholm or UTC"),
    ],
)
def test_a_manifest_that_cannot_be_is_found(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    found = trace(tmp_path, msgspec.structs.replace(DAYS, **change))
    assert f"manifest.json: {message}" in str(only(validate(found)))


@pytest.mark.parametrize("fraction", [0.0, 1.5])
def test_a_fraction_that_is_none_is_found(tmp_path: Path, fraction: float) -> None:
    defect = only(report(trace(tmp_path), sessions=TableInfo(rows=2, fraction=fraction)))
    assert defect.what == f"sessions has 2 rows, fraction {fraction}"


def test_a_period_shorter_than_a_day_is_a_warning(tmp_path: Path) -> None:
    found = trace(tmp_path, msgspec.structs.replace(DAYS, end_ms=3_600_000 * 5))
    defect = only(validate(found))
    assert (defect.severity, defect.what) == ("warning", "the period is 5.0 hours, shorter than a day")
    quick_check(found)


def test_the_steps_are_told_with_rows_done_and_to_do(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    validate(trace(tmp_path), lambda *step: told.append(step))
    assert told[:2] == [("subscriptions", 2, 2), ("subscriptions: keys, pass 1 of 1", 2, 2)]


def test_many_rows_are_read_in_pieces_of_bounded_size(tmp_path: Path) -> None:
    rows = 1_200_000
    pairs = {"subscriber": np.arange(rows), "topic": np.full(rows, rows), "service": pa.repeat("social", rows)}
    path = tmp_path / "t"
    path.mkdir()
    write_part(path, "subscriptions", 0, pairs)
    write_manifest(path, msgspec.structs.replace(DAYS, tables={"subscriptions": TableInfo(rows=rows)}))
    told: list[int] = []
    assert validate(Trace.open(path), lambda step, done, _: told.append(done) if step == "subscriptions" else None).defects == ()
    assert told[0] < told[-1] == rows


def test_times_that_are_no_milliseconds_are_told_by_their_years(tmp_path: Path) -> None:
    """A period in microseconds ends in tens of thousands of years."""
    found = only(report(trace(tmp_path, msgspec.structs.replace(DAYS, start_ms=0, end_ms=1_700_000_000_000_000))))
    assert "is not within the years 2 to 9998" in found.what
    assert "neither micro- nor nanoseconds" in found.remedy
