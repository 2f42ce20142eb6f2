"""The lists of commands: they are told without importing anything, and are true."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from infra.runtime.whole_file import write_whole
from segue.cli.command_line import cli
from segue.cli.lazy_group import LazyGroup
from segue.cli.output_file import OutputFile, write_output
from segue.demo.captured import whole

# What takes longer to import than all that is needed to answer.
HEAVY = {"aiohttp", "asyncio", "cassandra", "cryptography", "msgspec", "numpy", "rich", "structlog", "uvloop"}


def lazy_groups(group: click.Group = cli) -> Iterator[LazyGroup]:
    if isinstance(group, LazyGroup):
        yield group
        for entry in group.entries.values():
            command = entry.command.get()
            if isinstance(command, click.Group):
                yield from lazy_groups(command)


@pytest.mark.parametrize("group", list(lazy_groups()), ids=lambda group: group.name)
def test_what_a_list_says_of_a_command_is_how_its_help_begins(group: LazyGroup) -> None:
    for entry in group.entries.values():
        command = entry.command.get()
        assert command.name == entry.name
        assert (command.help or "").startswith(entry.help.rstrip("."))


@pytest.mark.parametrize("group", list(lazy_groups()), ids=lambda group: group.name)
def test_a_list_has_one_line_of_80_columns_for_each_command_under_the_heading_of_its_section(group: LazyGroup) -> None:
    listed = CliRunner().invoke(group, ["--help"], env={"COLUMNS": "80"}).output
    width = max(map(len, group.entries))
    for heading, entries in group.sections.items():
        lines = listed.partition(f"{heading}:\n")[2].partition("\n\n")[0].splitlines()
        assert lines == [f"  {each.name:{width}}  {each.help}" for each in entries]
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["analyze", "--help"], ["plan", "--help"]], ids=" ".join)
def test_help_and_version_import_next_to_nothing(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "segue", *arguments], capture_output=True, text=True, check=True)
    assert {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()} & HEAVY == set()


def test_a_file_is_written_whole_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    write_whole(file, b"before")

    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError):  # noqa: PT011 - any
        write_whole(file, b"after")
    assert file.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    write_whole(link, b"all of it")
    assert link.is_symlink()
    assert file.read_bytes() == b"all of it"


def test_an_output_file_is_refused_before_the_work_and_made_after_it(tmp_path: Path) -> None:
    option = OutputFile()
    for wrong in (tmp_path, tmp_path / "none" / "file"):
        with pytest.raises(click.BadParameter, match=str(wrong)):
            option.convert(str(wrong), None, None)
    file = option.convert(str(tmp_path / "file"), None, None)
    assert list(tmp_path.iterdir()) == []
    write_output(file, b"{}")
    assert file.read_bytes() == b"{}"


def test_half_a_captured_run_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "trace"

    def capture() -> None:
        with whole(folder):
            folder.mkdir()
            folder.read_bytes()

    with pytest.raises(IsADirectoryError):
        capture()
    assert not folder.exists()
