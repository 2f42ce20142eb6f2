"""Where the laboratory keeps things."""

from pathlib import Path

import pytest

from overlay.simulator.places import own_places


def test_a_checkout_comes_first_and_then_the_users_own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    checkout, cache = own_places("things")
    assert checkout == Path(__file__).resolve().parents[3] / "build" / "things"
    assert cache == tmp_path / ".cache" / "segue" / "things"
