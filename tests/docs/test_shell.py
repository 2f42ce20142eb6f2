"""The shell that pages are typed into is a reader's, and a walk notices what is not as its page says."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.docs.shell import Shell
from tests.docs.walk import Walk

TIMEOUT_S = 30.0


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    async with Shell(tmp_path, tmp_path, {"PATH": "/bin:/usr/bin"}) as shell:
        yield shell


async def test_a_command_is_told_by_its_exit_code_and_what_it_prints(shell: Shell) -> None:
    result = await shell.run("echo out; echo err >&2; (exit 3)", timeout_s=TIMEOUT_S)
    assert (result.exit_code, result.out, result.err) == (3, "out\n", "err\n")


async def test_variables_last_from_one_command_to_the_next(shell: Shell) -> None:
    await shell.run("TOKEN=$(echo secret)", timeout_s=TIMEOUT_S)
    assert (await shell.run("echo $TOKEN", timeout_s=TIMEOUT_S)).out == "secret\n"


async def test_a_command_that_goes_on_for_too_long_is_told_with_what_it_printed(shell: Shell) -> None:
    with pytest.raises(AssertionError, match=r"did not end within 0\.5 s:\nbegun"):
        await shell.run("echo begun; sleep 600", timeout_s=0.5)


async def test_what_serves_is_waited_for_and_ended_by_ctrl_c(shell: Shell) -> None:
    job = await shell.start("sleep 0.1; echo ready; exec sleep 600", ready="ready", timeout_s=TIMEOUT_S)
    assert (await shell.stop(job, timeout_s=TIMEOUT_S)).exit_code == 130


async def test_what_ends_before_it_serves_is_told_with_what_it_printed(shell: Shell) -> None:
    with pytest.raises(AssertionError, match=r"ended at once:\nno"):
        await shell.start("echo no", ready="ready", timeout_s=TIMEOUT_S)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("```sh\ntrue\nfalse\n```\n", r"x\.md:3: false\nexit code 1"),
        ("```sh\necho Traceback >&2\n```\n", r"x\.md:2: .*\nexit code 0"),
        ("```sh\necho '{}'\n```\n\n```json\n[]\n```\n", r"x\.md:2: .*\nthe page shows"),
        ("```python\nraise SystemExit(1)\n```\n", r"x\.md:1: line-1\.py\nexit code 1"),
    ],
    ids=["exit code", "traceback", "output", "script"],
)
async def test_a_page_that_is_not_as_it_says_fails_where_that_shows(block: str, told: str, tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    with pytest.raises(AssertionError, match=told):
        async with Walk("x.md", folder) as walk:
            await walk.all(block)
