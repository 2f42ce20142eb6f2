"""Folders of state: closed when we make them, told about when they were not."""

from pathlib import Path

import pytest

from infra.runtime.private_folder import make_private, warn_of_others
from tests.support.recording_log import RecordingLog


def test_a_folder_that_we_make_is_its_owners_alone_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "state"
    make_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o750)
    make_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize(("mode", "is_told"), [(0o755, True), (0o701, True), (0o750, False), (0o700, False)])
def test_a_folder_that_everybody_may_look_into_is_told_about(tmp_path: Path, mode: int, *, is_told: bool) -> None:
    log = RecordingLog()
    tmp_path.chmod(mode)
    warn_of_others(tmp_path, log)
    assert bool(log.lines) is is_told
    assert all(f"chmod 700 {tmp_path}" in str(line) for line in log.lines)
