"""What the pages tell a reader to type exists, also where it does not run here as it is printed: options, targets, files, names."""

import ast
import re
import shlex
from pathlib import Path

import click
import pytest

import segue
from segue.cli.command_line import cli
from tests.docs.order import PAGES, ROOT
from tests.docs.page import Command, parse, steps

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def python(page: str) -> list[str]:
    """Returns the blocks of Python on a page."""
    return [block.text for block in parse(text(page)) if block.language == "python"]


def commands(page: str) -> list[list[str]]:
    """Returns the words of every command that a page asks for, and of those inside `$(...)`."""
    found = []
    for step in steps(text(page)):
        if isinstance(step, Command):
            line = step.text.replace("\\\n", " ").replace("|\n", "| ")
            inner = re.findall(r"\$\(([^()]*)\)", line)
            for command in (*re.split(r" \| ", re.sub(r"\$\([^()]*\)", "X", line)), *inner):
                found.append(shlex.split(command, comments=True))
    return [words for words in found if words]


ALL = [pytest.param(words, id=f"{page}: {' '.join(words)[:60]}") for page in PAGES for words in commands(page)]


def program(words: list[str]) -> list[str]:
    """Returns a command without the variables that are set for it."""
    return words[1:] if re.match(r"[A-Z_]+=", words[0]) else words


@pytest.mark.parametrize("words", [each for each in ALL if program(each.values[0])[:1] == ["segue"]])  # type: ignore[arg-type]
def test_a_segue_command_is_understood(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsed by the command itself, down to the values of its options; nothing is run."""
    monkeypatch.chdir(tmp_path)  # where a file that is to be written does no harm
    _, *arguments = program(words)
    with click.Context(cli) as context:
        name, command, rest = cli.resolve_command(context, arguments)
        assert name is not None
        assert command is not None
        with command.make_context(name, rest, parent=context):
            pass


@pytest.mark.parametrize("words", [each for each in ALL if program(each.values[0])[:1] == ["make"]])  # type: ignore[arg-type]
def test_a_make_target_exists(words: list[str]) -> None:
    targets = [word for word in words[1:] if "=" not in word]
    assert set(targets) <= TARGETS


@pytest.mark.parametrize("words", ALL)
def test_a_command_names_only_files_that_exist(words: list[str]) -> None:
    named = [word for word in words if re.match(r"(infra|examples|tests|docs|requirements)/", word)]
    assert [word for word in named if not (ROOT / word.partition("::")[0]).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if python(page)])
def test_python_on_a_page_compiles_and_uses_what_segue_exports(page: str) -> None:
    for block in python(page):
        used = {node.attr for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Attribute) and is_segue(node.value)}
        assert used <= set(segue.__all__)


def is_segue(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "segue"


def test_the_tour_uses_the_commands_that_it_should() -> None:
    used = {words[1] for words in commands("README.md") if words[0] in ("segue", "make")}
    assert used >= {"demo", "test", "setup", "up", "listen", "act", "notify", "token", "top"}
