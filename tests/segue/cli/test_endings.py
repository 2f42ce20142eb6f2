"""However a command is ended from outside, it says nothing about it, tells so in its exit code, and leaves nothing half-written."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from segue.cassandra import Server
from segue.cluster.roles import ROLES
from tests.support.ended import ROOT, at_first, ended, imported, says, settled, unread
from tests.support.every_command import EXAMPLES, Ground, every_command, ground

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# They do not end with what they say: a server that others find, and roles, of which one does for all.
LASTING: Final = {("cassandra", "start"), *((role,) for role in ROLES if role != "broker")}
FOLLOW: Final = str(ROOT / "examples" / "follow.py")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("ground")) as found:
        yield found


def left_in(folder: Path) -> list[str]:
    """Returns what a command has left in its folder."""
    return [str(path) for path in folder.rglob("*")]


def test_no_command_is_missing() -> None:
    assert set(every_command()) == EXAMPLES.keys()


@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
async def test_a_command_that_is_starting_ends_at_once(site: Ground, path: tuple[str, ...], tmp_path: Path) -> None:
    """On a busy machine a quick command may have come to its own end before the signal comes."""
    example = EXAMPLES[path]
    for number in SIGNALS:
        end = await ended(site.command(path, tmp_path), at_first(), number, tmp_path)
        if end.code == example.code and not (example.stays or example.work):
            assert end.complaints == [], end.said
        else:
            assert (end.code, end.said) == (-number, "")
            assert left_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("further", [60, 400, 750])
async def test_a_command_that_is_interrupted_while_it_is_loaded_ends_at_once(site: Ground, further: int, tmp_path: Path) -> None:
    """The modules that a command needs are imported in three places: for all commands, for this one, and when its work begins."""
    for number, path in zip(SIGNALS, [("plan", "satisfaction"), ("analyze", "characterize")], strict=True):
        end = await ended(site.command(path, tmp_path), imported("infra.runtime.stopping", further), number, tmp_path)
        assert (end.code, end.complaints) == (-number, []), end.said
    assert left_in(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
async def test_a_command_at_work_undoes_what_it_began(site: Ground, path: tuple[str, ...], tmp_path: Path) -> None:
    """A server drains. What writes leaves nothing, and what it started has ended, for nobody has its outputs open any more."""
    example = EXAMPLES[path]
    number = SIGNALS[list(EXAMPLES).index(path) % 2]
    end = await ended(site.command(path, tmp_path), says(example.work) if example.work else settled, number, tmp_path)
    assert end.complaints == [], end.said
    if example.drains:
        assert end.code == 0
    elif example.stays or example.work:
        assert (end.code, left_in(tmp_path)) == (-number, [])
    else:  # it may have come to its own end before
        assert end.code in (-number, example.code)
    assert Server(tmp_path / "out").pid is None


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
async def test_spark_and_java_end_with_the_command(site: Ground, number: int, tmp_path: Path) -> None:
    """PySpark's own handler of Ctrl-C would end it with a traceback; and who stops a service sends SIGTERM to Java, too."""
    command = site.command(("analyze", "characterize"), tmp_path)
    end = await ended(command, says(" s  topics"), number, tmp_path, to_all=True)
    assert (end.code, end.complaints, left_in(tmp_path)) == (-number, [], []), end.said


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.keys() - LASTING), ids=" ".join)
async def test_a_command_whose_reader_has_gone_ends_well(site: Ground, path: tuple[str, ...], tmp_path: Path) -> None:
    end = await unread(site.command(path, tmp_path, user="bob"), tmp_path)
    # One that is refused has nothing to print, and so does not notice.
    assert end.code in (0, EXAMPLES[path].code), end.said
    assert end.complaints == []


def test_a_full_disk_behind_the_output_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "segue", "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "segue: No space left on device\n")


@pytest.mark.parametrize("number", SIGNALS)
async def test_a_program_of_the_sdk_ends_as_quietly(site: Ground, number: int, tmp_path: Path) -> None:
    for moment in (at_first(), imported("aiohttp"), settled):
        end = await ended([FOLLOW, "ws://127.0.0.1:1", "token", "bob"], moment, number, tmp_path)
        assert end.code in (-number, 128 + number)
        assert end.complaints == [], end.said


async def test_without_a_server_a_program_of_the_sdk_says_at_once_where_it_tries(tmp_path: Path) -> None:
    end = await ended([FOLLOW, "ws://127.0.0.1:1", "token", "bob"], says("trying again"), signal.SIGINT, tmp_path)
    (line,) = end.said.splitlines()
    assert line.startswith("cannot connect to ws://127.0.0.1:1/v1/connect: ")
