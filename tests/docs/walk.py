"""A walk through one page: everything that it asks for is done, in order, and every exit code is looked at."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import click

from tests.docs.order import ROOT
from tests.docs.page import Command, File, Script, Step, Stop, steps
from tests.docs.shell import Job, Result, Shell
from tests.docs.shown import differs
from tests.docs.tables import as_run, is_server, why_not
from tests.support.browser import Browser, find_browser

TIMEOUT_S: Final = 240.0
PATH: Final = 'export PATH="$PWD/.venv/bin:$PATH"'
# What a page says of the site that its commands need, and does not start itself.
SITE: Final = "`segue up`"
# What a script in a browser is given besides, and the first thing that it logs.
TOKEN: Final = "segue token --user alice"
_LOGGED: Final = "new Promise((resolve) => {{ console.log = resolve; const token = '{token}';\n{script} }})"


def clone(folder: Path) -> None:
    """Makes `folder` look like a fresh clone after `make setup-all`: what the pages make is made in it, and not here."""
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if not entry.name.startswith(".") and entry.name != "build":
            (folder / entry.name).symlink_to(entry)
    (folder / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if not entry.name.startswith("."):
            (folder / ".venv" / entry.name).symlink_to(entry)
    for marker in (".ready", ".analytics-ready", ".all-ready"):
        (folder / ".venv" / marker).touch()
    folder.with_name("curl").mkdir()
    (folder.with_name("curl") / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n", encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """Returns what a reader's shell has: none of this test's own settings, and state that is kept beside the clone."""
    kept = {name: os.environ[name] for name in ("HOME", "JAVA_HOME", "CI") if name in os.environ}
    kept |= {"XDG_STATE_HOME": str(folder.with_name("state")), "CURL_HOME": str(folder.with_name("curl"))}
    return kept | {"PATH": os.defpath + ":/usr/local/bin", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


@dataclass
class Walk:
    """One reader of one page, in a clone at `folder`."""

    page: str
    folder: Path
    jobs: list[Job] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        prints = self.folder.with_name("prints") / self.page.replace("/", "-")
        prints.mkdir(parents=True)
        self._shell = await Shell(self.folder, prints, environment(self.folder)).__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._shell.__aexit__(kind, error, trace)

    async def all(self, text: str) -> None:
        """Walks the page, whose text is `text`, to its end. Raises AssertionError at the first thing that is not as the page says."""
        todo = steps(text)
        if PATH not in text:
            await self._shell.run(PATH, timeout_s=TIMEOUT_S)
        if SITE in text and not any(isinstance(step, Command) and step.text.startswith("segue up") for step in todo):
            await self._command(Command(text="segue up", line=0))
        for step in todo:
            await self._step(step)
        await self._stop()

    async def _step(self, step: Step) -> None:
        match step:
            case Stop():
                await self._stop()
            case File():
                (self.folder / step.name).write_text(step.text, encoding="utf-8")
            case Command() | Script() if reason := why_not(self.page, step.text):
                self._say(step.line, f"not run, because {reason}: {step.text.splitlines()[0]}")
            case Command():
                await self._command(step)
            case Script():
                await self._script(step)

    async def _command(self, step: Command) -> None:
        command = as_run(step.text)
        self._say(step.line, command)
        if (ready := is_server(command)) is not None:
            self.jobs.append(await self._shell.start(command, ready=ready, timeout_s=TIMEOUT_S))
            return
        result = await self._shell.run(command, timeout_s=TIMEOUT_S)
        self._judge(step.line, command, result, {0})
        if step.shown is not None:
            difference = differs(step.shown, result.out)
            assert difference is None, f"{self.page}:{step.line}: {command}\n{difference}"

    async def _script(self, step: Script) -> None:
        self._say(step.line, f"{step.language}: {step.text.splitlines()[0]}")
        if step.language == "python":
            script = self.folder / f"line-{step.line}.py"
            script.write_text(step.text, encoding="utf-8")
            self._judge(step.line, script.name, await self._shell.run(f"python {script.name}", timeout_s=TIMEOUT_S), {0})
            return
        async with Browser(find_browser()) as browser:
            logged = await browser.value(
                _LOGGED.format(token=(await self._shell.run(TOKEN, timeout_s=TIMEOUT_S)).out.strip(), script=step.text)
            )
            assert logged["op"] != "error", f"{self.page}:{step.line}: {logged}"

    async def _stop(self) -> None:
        """Ends what runs in other shells, the latest first."""
        while self.jobs:
            job = self.jobs.pop()
            result = await self._shell.stop(job, timeout_s=TIMEOUT_S)
            self._judge(0, job.command, result, {0, 130})
            assert result.out, f"{self.page}: {job.command} printed nothing until the page ended\n{result.err}"

    def _judge(self, line: int, command: str, result: Result, fine: set[int]) -> None:
        story = f"{self.page}:{line}: {command}\nexit code {result.exit_code}\n{result.out}\n{result.err}"
        assert result.exit_code in fine, story
        assert "Traceback" not in result.err, story

    def _say(self, line: int, what: str) -> None:
        click.echo(f"{self.page}:{line}: {what}")
