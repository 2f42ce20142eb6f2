"""Options that take a number."""

import click
import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from segue.cli.finite import Finite


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999"])
def test_what_is_not_finite_is_refused_though_it_is_below_and_above_no_limit(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Finite(min=0, min_open=True).convert(text, None, None)


def test_a_number_of_the_range_is_taken_and_others_are_not() -> None:
    assert Finite(min=0).convert("2.5", None, None) == 2.5
    with pytest.raises(click.BadParameter):
        Finite(min=0).convert("-1", None, None)


@pytest.mark.parametrize(
    "command",
    ["demo --seconds", "offload-demo --capacity", "plan provision trace --hours", "replay trace --speed", "top --interval", "up --period"],
)
def test_a_command_says_which_option_is_not_a_finite_number(command: str) -> None:
    result = CliRunner().invoke(cli, [*command.split(), "nan"])
    assert result.exit_code == 2
    assert command.split()[-1] in result.stderr
    assert "nan is not a finite number" in result.stderr
