"""A shell into which a page's commands are typed, one after the other; some of them stay in the background."""

import asyncio
import itertools
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.support.eventually import eventually

POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a command: its exit code and what it printed."""

    exit_code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Job:
    """A command in the background: its process group and where it prints."""

    command: str
    group: int
    number: int


class Shell:
    """One bash for a whole page, so that its variables last, as they do for a reader.

    `folder`: where the reader stands; `prints`: the folder for what commands print. Each job has a process group of its own, so
    that Ctrl-C means what it means at a terminal.
    """

    def __init__(self, folder: Path, prints: Path, environment: dict[str, str]) -> None:
        self._folder, self._prints, self._environment = folder, prints, environment
        self._numbers = itertools.count(1)

    async def __aenter__(self) -> Self:
        self._bash = await asyncio.create_subprocess_exec(
            # Where tests run in the background, Ctrl-C is ignored, and bash would hand that on.
            *("env", "--default-signal=INT", "bash"),
            "--noprofile",
            "--norc",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env=self._environment,
        )
        await self._tell("set -m")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for child in self._children():
            os.killpg(child, signal.SIGKILL)
        self._bash.kill()
        await self._bash.wait()

    async def run(self, command: str, *, timeout_s: float) -> Result:
        """Runs a command to its end. Raises AssertionError with what it has printed if that takes longer."""
        number = next(self._numbers)
        await self._tell(f"{{ {command}\n}} {self._redirected(number)}; echo $?")
        return await self._ended(Job(command, 0, number), timeout_s)

    async def start(self, command: str, *, ready: str, timeout_s: float) -> Job:
        """Starts a command in the background; returns when it has printed what matches `ready`.

        Raises AssertionError with what it has printed if it ends before, or takes too long.
        """
        number = next(self._numbers)
        await self._tell(f"{{ {command}\n}} {self._redirected(number)} & echo $!")
        job = Job(command, await self._answer(), number)

        def is_ready() -> bool:
            found = re.search(ready, self.printed(job)) is not None
            assert found or job.group in self._children(), f"{command} ended at once:\n{self.printed(job)}"
            return found

        def why() -> str:
            return f"{command} was not ready after {timeout_s:g} s:\n{self.printed(job)}"

        await eventually(is_ready, why, deadline_s=timeout_s, poll_s=POLL_S)
        return job

    async def stop(self, job: Job, *, timeout_s: float) -> Result:
        """Ends a job as Ctrl-C does, and returns how it ended. Raises AssertionError if it does not."""
        await self._tell(f"kill -INT -- -{job.group}; wait {job.group}; echo $?")
        return await self._ended(job, timeout_s)

    def printed(self, job: Job) -> str:
        """Returns all that a job has printed until now."""
        return self._read(job.number, "out") + self._read(job.number, "err")

    async def _ended(self, job: Job, timeout_s: float) -> Result:
        try:
            async with asyncio.timeout(timeout_s):
                exit_code = await self._answer()
        except TimeoutError:
            raise AssertionError(f"{job.command} did not end within {timeout_s:g} s:\n{self.printed(job)}") from None
        return Result(exit_code, self._read(job.number, "out"), self._read(job.number, "err"))

    def _redirected(self, number: int) -> str:
        return f"</dev/null >{self._prints}/{number}.out 2>{self._prints}/{number}.err"

    def _read(self, number: int, stream: str) -> str:
        path = self._prints / f"{number}.{stream}"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    async def _tell(self, line: str) -> None:
        assert self._bash.stdin is not None
        self._bash.stdin.write(f"{line}\n".encode())
        await self._bash.stdin.drain()

    async def _answer(self) -> int:
        assert self._bash.stdout is not None
        return int(await self._bash.stdout.readline())

    def _children(self) -> list[int]:
        return [int(each) for each in Path(f"/proc/{self._bash.pid}/task/{self._bash.pid}/children").read_text().split()]
