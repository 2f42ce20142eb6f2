"""Commands as real processes that are ended from outside: by a signal at a chosen moment, or because nobody reads what they print."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]
SETTLED_S: Final = 0.5
# For whoever hangs: kernels of the overlays take 40 s to compile on a busy machine.
END_S: Final = 100.0
# What Python and its libraries say when something comes out of them that should not.
COMPLAINTS: Final = ("Traceback", "Aborted", "Exception ignored", "never retrieved", "never awaited", "leaked", "KeyboardInterrupt")
_IMPORTED: Final = "import time:"

Moment = Callable[[str], bool]


class End(NamedTuple):
    """The end of a process: its return code, negative where it died of a signal, and what it said on both outputs."""

    code: int
    said: str

    @property
    def complaints(self) -> list[str]:
        """The words that nobody wants to read."""
        return [word for word in COMPLAINTS if word in self.said]


def at_first() -> Moment:
    """Returns the moment at which the first module is imported after the one that is in charge of signals."""
    return imported("infra.runtime.stopping", further=1)


def imported(module: str, further: int = 0) -> Moment:
    """Returns the moment at which `module` has been imported, and `further` others after it."""
    seen: list[str] = []

    def is_now(line: str) -> bool:
        if line.startswith(_IMPORTED) and (seen or line.endswith(f" {module}")):
            seen.append(line)
        return len(seen) > further

    return is_now


def says(words: str) -> Moment:
    """Returns the moment at which it prints `words`."""
    return lambda line: words in line


def settled(_: str) -> bool:
    """Returns False: the moment is when it says nothing any more, because it waits for something."""
    return False


async def ended(command: list[str], moment: Moment, number: int, folder: Path, *, to_all: bool = False) -> End:
    """Runs `command`, arguments of Python, in `folder`, and sends it the signal `number` at the `moment`. Returns how it ended.

    Ctrl-C goes to all of its group, as on a terminal; SIGTERM does only with `to_all`. It returns when nobody has the outputs of the
    command open any more, so that what it started has ended, too.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "importtime", *command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(END_S):
            said = await _until(process, moment)
            with suppress(ProcessLookupError):
                # Not process.send_signal, which may take the process' end from asyncio.
                (os.killpg if to_all or number == signal.SIGINT else os.kill)(process.pid, number)
            assert process.stdout is not None
            said += (await process.stdout.read()).decode()
            code = await process.wait()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return End(code, "\n".join(line for line in said.splitlines() if not line.startswith(_IMPORTED)))


async def _until(process: asyncio.subprocess.Process, moment: Moment) -> str:
    """Returns what it says up to the moment, or to its end."""
    assert process.stdout is not None
    said = ""
    while True:
        try:
            line = (await asyncio.wait_for(process.stdout.readline(), SETTLED_S if moment is settled else None)).decode()
        except TimeoutError:
            return said
        said += line
        if not line or moment(line.rstrip()):
            return said


async def unread(command: list[str], folder: Path) -> End:
    """Runs `command` in `folder` with a standard output that nobody reads. What it said is its standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"},
            start_new_session=True,
        )
    finally:
        os.close(writer)
    try:
        async with asyncio.timeout(END_S):
            _, said = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode is not None
    return End(process.returncode, said.decode())
