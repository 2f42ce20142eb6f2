"""infra.runtime.renewal: what is read again, or stays, and that the log says which."""

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.renewal import all_of, renewed
from tests.support.recording_log import RecordingLog


def test_what_was_read_again_is_told_with_what_the_reader_shows() -> None:
    log = RecordingLog()
    assert renewed("the keys", lambda: None, log)
    assert renewed("the certificate", lambda: {"names": ["a"]}, log)
    assert log.lines == [("info", "the keys read again", {}), ("info", "the certificate read again", {"names": ["a"]})]


def test_files_that_cannot_be_used_are_an_error_in_the_log() -> None:
    log = RecordingLog()

    def read() -> None:
        raise ConfigError("it is short")

    assert not renewed("the keys", read, log)
    assert log.lines == [("error", "the keys not read again; what was there stays", {"reason": "it is short"})]


def test_all_steps_are_taken_whatever_one_of_them_raises() -> None:
    taken: list[str] = []

    def broken() -> None:
        raise KeyError

    step = all_of(None, broken, lambda: taken.append("second"))
    assert step is not None
    with pytest.raises(KeyError):
        step()
    assert taken == ["second"]
    assert all_of(None, None) is None
