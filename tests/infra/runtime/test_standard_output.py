"""What a program prints comes out when it would without us."""

import subprocess
import sys

import pytest

PROGRAM = "import asyncio, sys, segue\nasync def main():\n    {}\n    await asyncio.to_thread(sys.stdin.read)\nsegue.run(main())"


@pytest.mark.parametrize(
    ("statement", "environment"),
    [
        ("print('now', end='')", {"PYTHONUNBUFFERED": "1"}),
        ("print('now', end='', file=sys.stderr)", {"PYTHONUNBUFFERED": "1"}),
        ("print('now', file=sys.stderr)", {}),
    ],
    ids=["output", "errors", "a line of errors"],
)
def test_what_is_not_to_be_held_back_is_read_while_the_program_runs(statement: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stdout.read(3) == b"now"
        program.stdin.close()
    assert program.returncode == 0
