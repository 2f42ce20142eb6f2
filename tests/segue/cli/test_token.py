"""`segue token`: only for those whom a door lets in."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.kernel.errors import ConfigError
from notification.handlers import OPERATOR
from segue.cli.command_line import cli
from segue.cli.token import SERVICES
from services.service import CALLERS


def test_every_service_gets_a_token(tmp_path: Path) -> None:
    for service in SERVICES:
        result = CliRunner().invoke(cli, ["token", "--service", service, "--state", str(tmp_path)])
        assert (result.exit_code, result.output.count(".")) == (0, 2)
    assert set(SERVICES) == (CALLERS - {"accesspoint"}) | {OPERATOR}


@pytest.mark.parametrize(("service", "said"), [("playlists", "did you mean playlist?"), ("foo", "known here: presence, playlist, social")])
def test_a_service_that_does_not_exist_gets_none_and_the_nearest_is_named(service: str, said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["token", "--service", service, "--state", str(tmp_path)])
    assert (result.exit_code, f"there is no service {service}" in result.output, said in result.output) == (2, True, True)


@pytest.mark.parametrize("user", ["", "e v e", "eve/bob", "x" * 129])
def test_a_name_that_no_door_takes_gets_none(user: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["token", "--user", user, "--state", str(tmp_path)])
    assert isinstance(result.exception, ConfigError)
    assert "a name is" in str(result.exception)
