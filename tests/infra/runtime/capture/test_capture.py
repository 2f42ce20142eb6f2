"""A capture on a real disk: what is told is what is written, and no trouble with it is the engine's."""

import asyncio
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from structlog.testing import capture_logs

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.events import Event, encode_tail
from infra.kernel.manifest import Manifest, decode
from infra.kernel.topics import MAX_ID, format_topic, parse_topic
from infra.runtime.capture.capture import Capture
from infra.runtime.logs import get_logger
from tests.support.eventually import eventually

DEADLINE_S = 30.0
PLAYED = parse_topic("hm://presence/user/bob/")
INBOX = parse_topic("hm://notifications/inbox/bob/")


class Clock:
    """Unix time, a second later each time that it is asked."""

    def __init__(self) -> None:
        self.s = 1000.0

    def __call__(self) -> float:
        self.s += 1
        return self.s


def opened(tmp_path: Path, node: str = "b1", **options: Any) -> Capture:
    """Returns a capture of a broker at sto into the folder "trace"."""
    wanted = CaptureOptions(path=str(tmp_path / "trace"), key_file=str(tmp_path / "capture.key"), **options)
    capture = Capture.open(wanted, "broker", "sto", node, wall=Clock(), log=get_logger("broker", node, "sto"))
    assert capture is not None
    return capture


def rows(tmp_path: Path, table: str) -> list[dict[str, Any]]:
    """Returns everything of one table, file by file in the order of their names."""
    files = sorted((tmp_path / "trace" / table).glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def manifest(tmp_path: Path, node: str = "b1") -> Manifest:
    path = tmp_path / "trace" / f"manifest-broker-sto-{node}.json"
    return decode(path.read_bytes(), str(path))


async def until_written(capture: Capture, table: str, number: int) -> None:
    await eventually(lambda: capture.rows[table] >= number)


async def test_what_is_told_is_written_in_order_of_time_when_it_closes(tmp_path: Path) -> None:
    capture = opened(tmp_path)
    capture.session("ann", True, "join")
    capture.subscription("ann", PLAYED, "subscribe", "sto")
    capture.publication(PLAYED, "play")
    capture.event(Event(INBOX, b"", encode_tail(format_topic(INBOX), 1, "x", "notification", b"{}")))
    capture.session("ann", True, "leave")
    await capture.close()
    (joined, left), (follow,), (event,) = (rows(tmp_path, table) for table in ("sessions", "subscription_log", "publications"))
    ann, bob = joined["user"], event["topic"]
    assert joined == {"time_ms": joined["time_ms"], "user": ann, "site": "sto", "device": "mobile", "action": "join"}
    assert left == joined | {"time_ms": left["time_ms"], "action": "leave"}
    assert follow["time_ms"] < event["time_ms"] < left["time_ms"]
    assert follow == {
        "time_ms": follow["time_ms"],
        "subscriber": ann,
        "service": "presence",
        "topic": bob,
        "site": "sto",
        "action": "subscribe",
    }
    assert event == {"time_ms": event["time_ms"], "service": "presence", "topic": bob, "site": "sto", "kind": "play"}
    assert {name: info.rows for name, info in manifest(tmp_path).tables.items()} == {
        "sessions": 2,
        "subscription_log": 1,
        "publications": 1,
    }


@pytest.mark.parametrize(
    ("uri", "event_id", "kind"),
    [
        ("hm://presence/user/bob/", "1", "play"),
        (f"hm://playlist/user/{'o' * MAX_ID}/playlist/{'p' * MAX_ID}/", "i" * 64, "k" * 32),
        (f"hm://notifications/feed/{'a' * MAX_ID}%artist-playlist/", "i" * 64, "a-kind"),
    ],
)
async def test_the_kind_of_an_event_is_in_its_tail_however_long_names_are(tmp_path: Path, uri: str, event_id: str, kind: str) -> None:
    capture = opened(tmp_path)
    payload = b'{"id":"x","kind":"other"}' + b" " * 999
    capture.event(Event(parse_topic(uri), b"", encode_tail(uri, 10**13 - 1, event_id, kind, payload)))
    capture.event(Event(parse_topic(uri), b"", b"what a peer got wrong"))
    await capture.close()
    assert [row["kind"] for row in rows(tmp_path, "publications")] == [kind, None]


async def test_a_clock_that_is_set_back_leaves_no_disorder(tmp_path: Path) -> None:
    capture = opened(tmp_path)
    clock = capture._wall
    assert isinstance(clock, Clock)
    for start in (5000.0, 3000.0, 4000.0):
        clock.s = start
        capture.publication(PLAYED, "play")
    await capture.close()
    assert [row["time_ms"] for row in rows(tmp_path, "publications")] == [3_001_000, 4_001_000, 5_001_000]


async def test_nobody_is_written_as_a_follower_of_himself(tmp_path: Path) -> None:
    capture = opened(tmp_path)
    for uri in ("hm://presence/user/bob/", "hm://notifications/feed/bob%friend-joined/", "hm://playlist/user/bob/playlist/1/"):
        capture.subscription("bob", parse_topic(uri), "subscribe", "sto")
    await capture.close()
    assert [row["service"] for row in rows(tmp_path, "subscription_log")] == ["playlist"]


async def test_the_key_is_made_once_for_its_owner_alone_and_gives_all_nodes_the_same_numbers(tmp_path: Path) -> None:
    nodes = [opened(tmp_path, node) for node in ("b1", "b2")]
    for capture in nodes:
        capture.publication(PLAYED, "play")
        await capture.close()
    one, other = rows(tmp_path, "publications")
    assert one["topic"] == other["topic"]
    assert stat.S_IMODE((tmp_path / "capture.key").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "trace").rglob("*key*")] == []


async def test_a_segment_is_written_as_soon_as_it_is_full(tmp_path: Path) -> None:
    capture = opened(tmp_path, segment_rows=3)
    for _ in range(7):
        capture.publication(PLAYED, "play")
    await until_written(capture, "publications", 6)
    assert len(rows(tmp_path, "publications")) == manifest(tmp_path).tables["publications"].rows == 6
    await capture.close()
    assert len(rows(tmp_path, "publications")) == 7
    assert [path.name for path in (tmp_path / "trace").rglob("*.partial")] == []


async def test_a_segment_is_written_when_it_is_old(tmp_path: Path) -> None:
    capture = opened(tmp_path, segment_s=0.01)
    capture.publication(PLAYED, "play")
    await until_written(capture, "publications", 1)
    await capture.close()


async def test_rows_beyond_the_queue_are_dropped_and_counted(tmp_path: Path) -> None:
    """Nothing is written while this test does not await: what is told meanwhile waits."""
    capture = opened(tmp_path, segment_rows=2, queue_rows=5)
    for _ in range(9):
        capture.publication(PLAYED, "play")
    assert capture.counters()["capture_dropped_total"] == {"publications": 4}
    await until_written(capture, "publications", 4)
    capture.publication(PLAYED, "play")
    await capture.close()
    assert len(rows(tmp_path, "publications")) == 6
    assert manifest(tmp_path).dropped == {"publications": 4}


async def test_a_full_disk_stops_the_capture_with_one_line_and_nothing_else(tmp_path: Path) -> None:
    """The second file goes to a device that is always full; what would have come with it is lost, too."""
    folder = tmp_path / "trace" / "publications"
    folder.mkdir(parents=True)
    (folder / ".part-broker-sto-b1-000002.parquet.partial").symlink_to("/dev/full")
    with capture_logs() as lines:
        capture = opened(tmp_path, segment_rows=2)
        for _ in range(4):
            capture.publication(PLAYED, "play")
        capture.session("ann", False, "join")
        await asyncio.wait(capture._writing)
        capture.publication(PLAYED, "play")
        await capture.close()
    assert capture.counters() == {"capture_rows_total": {"publications": 2}, "capture_dropped_total": {"publications": 3, "sessions": 1}}
    assert [(line["event"], line["log_level"]) for line in lines] == [("capture stopped", "error")]
    assert "No space left on device" in lines[0]["reason"]
    assert manifest(tmp_path).tables["publications"].rows == len(rows(tmp_path, "publications")) == 2
    assert [path.name for path in folder.iterdir()] == ["part-broker-sto-b1-000001.parquet"]


async def test_a_folder_that_goes_away_stops_the_capture_and_close_is_quiet(tmp_path: Path) -> None:
    capture = opened(tmp_path, segment_rows=1)
    await asyncio.wait(capture._writing)
    (tmp_path / "trace").rename(tmp_path / "moved")
    with capture_logs() as lines:
        capture.publication(PLAYED, "play")
        await capture.close()
        await capture.close()
    assert capture.dropped == {"publications": 1}
    assert len(lines) <= 1


async def test_a_process_that_starts_again_goes_on_counting_and_replaces_nothing(tmp_path: Path) -> None:
    for number in (1, 2):
        capture = opened(tmp_path, "b1" if number < 3 else "b2")
        capture.publication(PLAYED, "play")
        await capture.close()
    other = opened(tmp_path, "b1-2")  # whose files begin alike
    other.publication(PLAYED, "play")
    await other.close()
    assert sorted(path.name for path in (tmp_path / "trace" / "publications").iterdir()) == [
        "part-broker-sto-b1-000001.parquet",
        "part-broker-sto-b1-000002.parquet",
        "part-broker-sto-b1-2-000001.parquet",
    ]
    assert [manifest(tmp_path, node).tables["publications"].rows for node in ("b1", "b1-2")] == [2, 1]


async def test_a_manifest_that_lags_behind_its_files_is_put_right_at_the_next_start(tmp_path: Path) -> None:
    """As after a death between a file and its manifest."""
    capture = opened(tmp_path)
    before = tmp_path / "trace" / "manifest-broker-sto-b1.json"
    capture.publication(PLAYED, "play")
    await capture.close()
    told = json.loads(before.read_bytes())
    before.write_text(json.dumps(told | {"tables": {}, "dropped": {"sessions": 3}}))
    await opened(tmp_path).close()
    assert manifest(tmp_path).tables["publications"].rows == 1
    assert (manifest(tmp_path).start_ms, manifest(tmp_path).dropped) == (told["start_ms"], {"sessions": 3})


def test_a_process_that_is_killed_leaves_a_trace_that_can_be_read(tmp_path: Path) -> None:
    """It dies without a word after two segments: they are whole, and the manifest tells of them."""
    program = f"""
import asyncio, os, sys
from pathlib import Path
from tests.infra.runtime.capture.test_capture import PLAYED, opened, until_written

async def main():
    capture = opened(Path({str(tmp_path)!r}), segment_rows=2)
    for _ in range(5):
        capture.publication(PLAYED, "play")
    await until_written(capture, "publications", 4)
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    died = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[4], timeout=DEADLINE_S * 2)
    assert died.returncode == -9
    assert len(rows(tmp_path, "publications")) == manifest(tmp_path).tables["publications"].rows == 4


def test_without_a_path_there_is_no_capture() -> None:
    assert Capture.open(CaptureOptions(), "broker", "sto", "b1", wall=Clock(), log=get_logger("broker", "b1", "sto")) is None


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"path": "trace"}, "needs capture.key_file"),
        ({"path": "trace", "key_file": "trace/key"}, "keep the key elsewhere"),
        ({"path": "trace", "key_file": "key", "segment_rows": 0}, "segment_rows"),
        ({"path": "trace", "key_file": "key", "segment_rows": 9, "queue_rows": 8}, "at most queue_rows"),
        ({"path": "trace", "key_file": "key", "segment_s": 0}, "segment_s"),
        ({"path": "file", "key_file": "key"}, "choose another folder"),
        ({"path": "trace", "key_file": "file/key"}, "cannot be made"),
        ({"path": "damaged", "key_file": "key"}, "damaged"),
    ],
)
async def test_options_that_cannot_be_used_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "damaged" / "publications").mkdir(parents=True)
    (tmp_path / "damaged" / "publications" / "part-broker-sto-b1-000001.parquet").write_bytes(b"PAR1 and then nothing more of it PAR1")
    with pytest.raises(ConfigError, match=complaint):
        Capture.open(CaptureOptions(**options), "broker", "sto", "b1", wall=Clock(), log=get_logger("broker", "b1", "sto"))


async def test_without_pyarrow_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"segue\[analytics\]"):
        opened(tmp_path)
