"""The size of a trace, known before it is made."""

import shutil
from pathlib import Path

import pytest

from analytics.errors import TraceError
from analytics.generator.estimate import check_room, fractions, whole_rows
from analytics.generator.profile import profile

SPOTIFY = profile("spotify", 1, 1)


def test_presence_is_the_greater_part_of_the_rows() -> None:
    rows = whole_rows(SPOTIFY)
    assert 1 < rows["subscriptions"] / SPOTIFY.pairs < 2
    assert 1 < rows["publications"] / (SPOTIFY.topics * 2763) < 2


def test_sessions_and_log_are_of_the_same_users() -> None:
    found = fractions(SPOTIFY, publications=None, sessions=10_000_000)
    assert found["sessions"] == found["subscription_log"] == pytest.approx(10_000_000 / whole_rows(SPOTIFY)["subscription_log"])
    assert found["subscriptions"] == found["counts"] == found["publications"] == 1


def test_more_rows_than_there_are_is_all_of_them_and_none_is_none() -> None:
    assert fractions(SPOTIFY, publications=10**12, sessions=0) == dict.fromkeys(whole_rows(SPOTIFY), 1.0) | {
        "sessions": 0,
        "subscription_log": 0,
    }


def test_a_disk_without_room_is_told_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=200_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(TraceError, match=r"would take about 0\.[34] GB, and the disk has 0\.2 GB left; make room, choose another"):
        check_room(tmp_path / "not" / "yet", SPOTIFY, fractions(SPOTIFY, 0, 0))
    check_room(tmp_path, profile("spotify", 0.1, 1), fractions(SPOTIFY, 0, 0))
