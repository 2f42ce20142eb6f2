"""`segue up` with a plan that cannot be meant: a usage error, before anything starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--capacity", str(1 << 62)], "capacity must be from 0 to"),
        (["--capacity", "5", "--threshold", str(10**23)], "threshold must be from 1 to"),
        (["--capacity", "5", "--period", "inf"], "is not a finite number"),
        (["--capacity", "5", "--period", "nan"], "is not a finite number"),
    ],
)
def test_a_limit_that_no_link_can_carry_is_a_usage_error(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segue.cli.up.configure", lambda *_: None)  # the logs of the other tests stay as they are
    result = CliRunner().invoke(cli, ["up", "--state", str(tmp_path), "--port-base", "0", *arguments])
    assert (result.exit_code, "Usage: " in result.output) == (2, True)
    assert said in result.output
