"""`segue new-secret`: tokens of the secret before are good until an operator ends that."""

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.kernel.errors import ConfigError, Refused
from infra.runtime.tokens import AuthOptions, Verifier
from segue.cli.command_line import cli
from segue.cli.state import keys_of


def run(state: Path, *arguments: str) -> str:
    result = CliRunner().invoke(cli, [*arguments, "--state", str(state)])
    assert result.exit_code == 0, result.output
    return result.output.strip()


def test_a_secret_is_changed_without_a_gap(tmp_path: Path) -> None:
    """DPS-28: nobody restarts. A process that has read the files before learns of the change from the first token of the new secret."""
    keys = keys_of(tmp_path)
    door = Verifier(AuthOptions(), keys, lambda: None)
    old = run(tmp_path, "token", "--user", "alice")
    assert "stay valid until: segue new-secret --forget-previous" in run(tmp_path, "new-secret")
    new = run(tmp_path, "token", "--user", "alice")
    assert [door.client(token, time.time()).user for token in (new, old)] == ["alice"] * 2
    assert "no longer valid" in run(tmp_path, "new-secret", "--forget-previous")
    keys.reload()
    assert door.client(new, time.time()).user == "alice"
    with pytest.raises(Refused, match="bad-token"):
        door.client(old, time.time())
    assert "no token of a secret before is valid" in run(tmp_path, "new-secret", "--forget-previous")


def test_where_there_is_no_secret_there_is_none_to_change(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["new-secret", "--state", str(tmp_path)])
    assert isinstance(result.exception, ConfigError)
