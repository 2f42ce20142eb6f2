"""`segue token`: only for those whom a door lets in."""

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.kernel.errors import ConfigError
from infra.kernel.grants import Grants
from infra.kernel.topics import parse_topic
from infra.runtime.http.admin_access import MONITOR
from infra.runtime.tokens import AuthOptions, Verifier
from segue.cli.command_line import cli
from segue.cli.state import keys_of
from segue.cli.token import SERVICES
from services.service import CALLERS


def test_every_service_gets_a_token(tmp_path: Path) -> None:
    for service in SERVICES:
        result = CliRunner().invoke(cli, ["token", "--service", service, "--state", str(tmp_path)])
        assert (result.exit_code, result.output.count(".")) == (0, 2)
    assert set(SERVICES) == (CALLERS - {"accesspoint"}) | {"operator", MONITOR}


@pytest.mark.parametrize(("service", "said"), [("playlists", "did you mean playlist?"), ("foo", "known here: presence, playlist, social")])
def test_a_service_that_does_not_exist_gets_none_and_the_nearest_is_named(service: str, said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["token", "--service", service, "--state", str(tmp_path)])
    assert (result.exit_code, f"there is no service {service}" in result.output, said in result.output) == (2, True, True)


@pytest.mark.parametrize("user", ["", "e v e", "eve/bob", "x" * 129])
def test_a_name_that_no_door_takes_gets_none(user: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["token", "--user", user, "--state", str(tmp_path)])
    assert isinstance(result.exception, ConfigError)
    assert "a name is" in str(result.exception)


def printed(state: Path, *arguments: str) -> str:
    result = CliRunner().invoke(cli, ["token", "--state", str(state), *arguments])
    assert result.exit_code == 0, result.output
    return result.output.strip()


def test_a_token_may_say_what_its_user_may_follow(tmp_path: Path) -> None:
    token = printed(tmp_path, "--user", "alice", "--topic", "hm://presence/user/*/", "--kind", "artist", "--ttl", "60")
    grants = Verifier(AuthOptions(), keys_of(tmp_path), lambda: None).client(token, time.time()).grants
    assert grants == Grants.of(topics=["hm://presence/user/*/"], kinds=["artist"])
    assert grants is not None
    assert not grants.allows(parse_topic("hm://playlist/user/bob/playlist/p/"))


def test_a_token_for_a_subscription_is_for_that_alone(tmp_path: Path) -> None:
    token = printed(tmp_path, "--subscription", "--user", "alice", "--topic", "hm://presence/user/bob/")
    door = Verifier(AuthOptions(), keys_of(tmp_path), lambda: None)
    assert door.subscription(token, time.time()).user == "alice"
    refused = CliRunner().invoke(cli, ["token", "--subscription", "--user", "alice", "--state", str(tmp_path)])
    assert (refused.exit_code, "--topic hm://" in refused.output) == (2, True)


def test_a_token_may_have_the_issuer_and_the_audience_that_are_asked_for(tmp_path: Path) -> None:
    options = AuthOptions(issuer="https://issuer.example", audience="segue")
    token = printed(tmp_path, "--service", "presence", "--issuer", "https://issuer.example", "--audience", "segue")
    assert Verifier(options, keys_of(tmp_path), lambda: None).service(token, time.time()).name == "presence"


@pytest.mark.parametrize(
    "arguments",
    [("--user", "alice", "--topic", "hm://presence/user/al*/"), ("--service", "presence", "--topic", "hm://presence/user/*/")],
)
def test_what_no_door_would_take_is_not_signed(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["token", "--state", str(tmp_path), *arguments])
    assert isinstance(result.exception, ConfigError)
