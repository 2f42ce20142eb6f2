"""infra.runtime.key_reload: SIGHUP renews the keys of a process, and bad files change nothing."""

from pathlib import Path

from structlog.testing import capture_logs

from infra.runtime.key_reload import key_reload
from infra.runtime.keys import AuthOptions, Keys
from infra.runtime.logs import get_logger
from infra.runtime.secret_file import ensure_secret, forget_previous, renew_secret


def test_a_secret_that_was_forgotten_is_good_no_longer(tmp_path: Path) -> None:
    """DPS-28: nobody restarts."""
    ensure_secret(tmp_path)
    renew_secret(tmp_path)
    keys = Keys.load(AuthOptions(secret_file=tmp_path / "secret.key", previous_secret_file=tmp_path / "secret.previous.key"))
    fetched: list[str] = []
    renew = key_reload(keys, lambda: fetched.append("now"), get_logger("keys", "", ""))
    assert renew is not None
    forget_previous(tmp_path)
    assert len(keys.held.secrets) == 2
    with capture_logs() as logs:
        renew()
    assert (len(keys.held.secrets), fetched, [entry["event"] for entry in logs]) == (1, ["now"], ["keys read again"])


def test_files_that_cannot_be_used_are_logged_and_the_keys_stay(tmp_path: Path) -> None:
    path = ensure_secret(tmp_path)
    keys = Keys.load(AuthOptions(secret_file=path))
    before = keys.held
    path.unlink()
    renew = key_reload(keys, lambda: None, get_logger("keys", "", ""))
    assert renew is not None
    with capture_logs() as logs:
        renew()
    assert keys.held is before
    assert [(entry["log_level"], "cannot be read" in entry["reason"]) for entry in logs] == [("error", True)]


def test_keys_that_came_from_nowhere_have_nothing_to_renew() -> None:
    assert key_reload(Keys(secret=b"x" * 32), lambda: None, get_logger("keys", "", "")) is None
