"""docs/sdk-calls.md says what both clients, the commands and the scenarios have."""

import click
import pytest

from segue.cli.command_line import cli
from tests.clients.calls_page import (
    COMMANDS,
    IN_PYTHON,
    IN_TYPESCRIPT,
    INTERNAL,
    PAGE,
    PARTS,
    calls,
    in_typescript,
    named_in_typescript,
    render,
)


def test_the_page_is_as_it_is_made() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: .venv/bin/python -m tests.clients.calls_page"


@pytest.mark.parametrize("part", [name for name, (_, file) in PARTS.items() if file is not None])
def test_both_clients_have_the_same_calls(part: str) -> None:
    wanted = {str(in_typescript(part, name)) for name in calls(part) if f"{part}.{name}" not in IN_TYPESCRIPT}
    others = {where.removeprefix(f"{part}.") for where in IN_PYTHON if where.startswith(f"{part}.")}
    assert named_in_typescript(part) == wanted | others


def test_what_is_said_of_single_calls_is_said_of_calls_that_there_are() -> None:
    there = {f"{part}.{name}" for part in PARTS for name in calls(part)}
    assert {*COMMANDS, *IN_TYPESCRIPT} <= there
    assert all(hasattr(PARTS[part][0], name) for part, _, name in (each.rpartition(".") for each in INTERNAL))


@pytest.mark.parametrize("command", sorted(set(COMMANDS.values())))
def test_each_command_is_there_with_its_options(command: str) -> None:
    found: click.Command = cli
    context = click.Context(cli)
    for word in command.split():
        if word.startswith("--"):
            assert any(word in parameter.opts for parameter in found.params)
        else:
            assert isinstance(found, click.Group)
            inner = found.get_command(context, word)
            assert inner is not None
            found = inner
    assert found is not cli
