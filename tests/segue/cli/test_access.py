"""segue.cli.access: where a command asks, and with what, is said by its options or by the environment."""

import click
import pytest
from click.testing import CliRunner

from segue.cli.access import Access
from segue.cli.admin.operating import operator_options
from segue.cli.command_line import cli
from segue.cli.user_access import social_options


def said(*options: str, **variables: str) -> str:
    """Returns what a command says, which asks where nobody answers."""
    result = CliRunner().invoke(cli, ["privacy", "show", *options], env=variables)
    assert result.exit_code == 1
    return result.output


def test_an_address_and_a_token_come_from_the_environment_and_an_option_stands_above_it() -> None:
    assert "nobody answers at http://127.0.0.1:1;" in said(SEGUE_SOCIAL_URL="http://127.0.0.1:1", SEGUE_TOKEN="x")
    assert "nobody answers at http://127.0.0.1:2;" in said(
        "--url", "http://127.0.0.1:2", SEGUE_SOCIAL_URL="http://127.0.0.1:1", SEGUE_TOKEN="x"
    )


def test_several_addresses_stand_in_one_variable() -> None:
    where = said(SEGUE_SOCIAL_URL="http://127.0.0.1:1 http://127.0.0.1:2", SEGUE_TOKEN="x")
    assert "nobody answers at http://127.0.0.1:1 or http://127.0.0.1:2;" in where


def test_a_users_token_in_the_environment_is_never_shown_as_a_services() -> None:
    @click.command()
    @operator_options
    def whose(access: Access) -> None:
        click.echo(str(access.token))

    def token(**variables: str) -> str:
        return CliRunner().invoke(whose, [], env=variables).output

    assert token(SEGUE_TOKEN="users") == "None\n"
    assert token(SEGUE_TOKEN="users", SEGUE_SERVICE_TOKEN="services") == "services\n"


@pytest.mark.parametrize(
    ("options", "token"),
    [([], "mine"), (["--user", "bob"], "None"), (["--user", "bob", "--token", "given"], "given"), (["--token", "given"], "given")],
)
def test_whom_an_option_names_stands_above_the_token_of_the_environment(options: list[str], token: str) -> None:
    @click.command()
    @social_options
    def whose(user: str | None, access: Access) -> None:
        click.echo(str(access.token))

    assert CliRunner().invoke(whose, options, env={"SEGUE_TOKEN": "mine"}).output == f"{token}\n"
