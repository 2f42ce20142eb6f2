"""The audit log: whole lines that are only ever added, readable by their owner, in a bounded number of files."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.runtime.audit import AuditLog, AuditOptions
from infra.runtime.tokens import Service
from tests.support.full_disk import room_until
from tests.support.recording_log import RecordingLog

WHO = Service("support", expires_s=0.0, id="t-1")
AT_S = 1_795_231_479.0


def log_at(path: Path | None, log: RecordingLog, **options: int) -> AuditLog:
    return AuditLog(AuditOptions(path=path, **options), log, lambda: AT_S)


def lines_of(path: Path) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def test_a_line_says_who_did_what_to_whom_when_and_from_where(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log_at(path, RecordingLog()).write(WHO, "ban", "user ann", address="10.0.0.1", result="ok", seconds=60)
    assert lines_of(path) == [
        {
            "ts": "2026-11-21T03:24:39Z",
            "who": "support",
            "token_id": "t-1",
            "what": "ban",
            "on": "user ann",
            "from": "10.0.0.1",
            "result": "ok",
            "seconds": 60,
        }
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_change_is_written_down_when_it_has_been_made(tmp_path: Path) -> None:
    """DPS-25: with what was found out while it was made."""
    path, on = tmp_path / "audit.jsonl", list[str]()
    with log_at(path, RecordingLog()).change(WHO, "disconnect", on, address="10.0.0.1") as details:
        assert not path.exists()
        on += ["user", "ann"]
        details["sessions"] = 2
    (line,) = lines_of(path)
    assert line.pop("ts") == "2026-11-21T03:24:39Z"
    assert line == {
        "who": "support",
        "token_id": "t-1",
        "what": "disconnect",
        "on": "user ann",
        "from": "10.0.0.1",
        "result": "ok",
        "sessions": 2,
    }


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (Refused("forbidden"), "forbidden"),
        (Refused("bad-field", "no such site"), "bad-field"),
        (Unavailable("the disk is full"), "unavailable"),
        (ZeroDivisionError("a defect"), "internal-error"),
        (asyncio.CancelledError(), "internal-error"),
    ],
)
def test_a_change_that_was_not_made_is_written_down_too(tmp_path: Path, error: BaseException, result: str) -> None:
    """DPS-25: and whoever wanted it gets the error as it was."""
    path = tmp_path / "audit.jsonl"
    with pytest.raises(type(error)) as raised, log_at(path, RecordingLog()).change(WHO, "ban", [], address=""):
        raise error
    assert raised.value is error
    (line,) = lines_of(path)
    assert (line["what"], line["on"], line["result"]) == ("ban", "-", result)


def test_what_somebody_sent_cannot_begin_a_line_of_its_own_nor_fill_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log_at(path, RecordingLog()).write(WHO, "ban", 'x\n{"who":"root"}' + "y" * 10_000, address="", result="ok")
    (line,) = lines_of(path)
    assert line["who"] == "support"
    assert path.stat().st_size < 1000


def test_files_are_rotated_by_size_and_the_oldest_goes(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    audit = log_at(path, RecordingLog(), max_bytes=400, files=3)
    for n in range(20):
        audit.write(WHO, "ban", f"user u{n}", address="", result="ok")
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(file.stat().st_size <= 400 for file in tmp_path.iterdir())
    kept = [line["on"] for name in reversed(files) for line in lines_of(tmp_path / name)]
    assert kept == [f"user u{n}" for n in range(20 - len(kept), 20)]


def test_two_processes_share_a_file_and_every_line_is_whole(tmp_path: Path) -> None:
    """One write a line, to a file that is opened for appending; also while the other one rotates it."""
    path = tmp_path / "audit.jsonl"
    script = (
        "import sys; from pathlib import Path; from infra.runtime.audit import AuditLog, AuditOptions; "
        "from infra.runtime.logs import get_logger; from infra.runtime.tokens import Service; "
        "audit = AuditLog(AuditOptions(path=Path(sys.argv[1]), max_bytes=4000, files=100), get_logger('x', 'y', 'z')); "
        "[audit.write(Service('s', 0.0), 'ban', f'{sys.argv[2]}-{n}', address='', result='ok') for n in range(200)]"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("a", "b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    found = [line["on"] for file in tmp_path.iterdir() for line in lines_of(file)]
    assert sorted(map(str, found)) == sorted(f"{name}-{n}" for name in "ab" for n in range(200))


def test_a_line_that_cannot_be_written_is_told_and_counted_and_the_change_goes_on(tmp_path: Path) -> None:
    log = RecordingLog()
    audit = log_at(tmp_path / "nowhere" / "audit.jsonl", log)
    audit.write(WHO, "ban", "user ann", address="", result="ok")
    assert audit.failures == 1
    assert [(level, event) for level, event, _ in log.lines] == [("error", "the audit log cannot be written")]


def test_on_a_full_disk_no_half_line_stays_for_the_next_one_to_be_written_onto(tmp_path: Path) -> None:
    path, log = tmp_path / "audit.jsonl", RecordingLog()
    audit = log_at(path, log)
    audit.write(WHO, "ban", "user ann", address="10.0.0.1", result="ok")
    with room_until(path.stat().st_size + 10):
        audit.write(WHO, "ban", "user bob", address="10.0.0.1", result="ok")
    audit.write(WHO, "ban", "user cid", address="10.0.0.1", result="ok")
    assert ([line["on"] for line in lines_of(path)], audit.failures) == (["user ann", "user cid"], 1)
    assert [(level, event) for level, event, _ in log.lines] == [("error", "the audit log cannot be written")]


def test_without_a_file_the_lines_are_in_the_ordinary_log() -> None:
    log = RecordingLog()
    log_at(None, log).write(WHO, "ban", "user ann", address="10.0.0.1", result="ok")
    assert [(level, event) for level, event, _ in log.lines] == [("info", "audit")]


def test_a_file_of_others_is_not_opened_to_them(tmp_path: Path) -> None:
    """A new file is its owner's alone, whatever the process lets others do with its files."""
    path = tmp_path / "audit.jsonl"
    before = os.umask(0)
    try:
        log_at(path, RecordingLog()).write(WHO, "ban", "user ann", address="", result="ok")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o077 == 0


def test_options_that_would_lose_lines_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 is the least"):
        AuditOptions(files=1).check()
