"""What a page asks its reader to do, read off its text alone: commands to type, files to save, scripts to run."""

import re
import shlex
import textwrap
from dataclasses import dataclass
from typing import Final

SHELL: Final = ("sh", "console")
SCRIPTS: Final = ("python", "js")
_FENCED: Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SAVED: Final = re.compile(r"\b[Ss]ave [^`]*as `([^`]+)`")
_STOPPED: Final = re.compile(r"(?:^|[.:] )Stop\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `before`: the prose between it and the block above it; empty where it directly follows one."""

    language: str
    text: str
    line: int
    before: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a shell block, with its continuation lines. `shown`: the block that directly follows and tells its output."""

    text: str
    line: int
    shown: Block | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A block that the reader is told to save under `name`."""

    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """A block of Python or JavaScript that runs as it stands."""

    language: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Stop:
    """A sentence that begins with "Stop": whatever runs in other shells ends here."""

    line: int


Step = Command | File | Script | Stop


def parse(page: str) -> list[Block]:
    """Returns all fenced blocks of a page, in order; those within lists, too."""
    found, end = [], 0
    for match in _FENCED.finditer(page):
        line = page.count("\n", 0, match.start()) + 1
        before = page[end : match.start()].strip()
        found.append(Block(language=match[2], text=textwrap.dedent(match[3]), line=line, before=before))
        end = match.end()
    return found


def steps(page: str) -> list[Step]:
    """Returns what a reader does who follows the page, in order. Blocks that only show something are no step."""
    found: list[Step] = []
    blocks = parse(page)
    for block, following in zip(blocks, [*blocks, None][1:], strict=True):
        if _STOPPED.search(block.before):
            found.append(Stop(line=block.line))
        if saved := _SAVED.search(block.before):
            found.append(File(name=saved[1], text=block.text, line=block.line))
        elif block.language in SHELL:
            found += _commands(block, following)
        elif block.language in SCRIPTS:
            found.append(Script(language=block.language, text=block.text, line=block.line))
    return found


def _commands(block: Block, following: Block | None) -> list[Command]:
    """Returns the commands of a shell block; what is shown behind it is of the last one."""
    if block.language == "console":
        return _typed(block)
    found = [Command(text=text, line=block.line + line) for line, text in split(block.text)]
    if following is not None and not following.before and following.language in ("json", "text"):
        found[-1] = Command(text=found[-1].text, line=found[-1].line, shown=following)
    return found


def _typed(block: Block) -> list[Command]:
    """Returns what stands behind the prompts of a console block, each with the output below it."""
    found = []
    for each in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        line = block.line + 1 + block.text.count("\n", 0, each.start())
        found.append(Command(text=each[1], line=line, shown=Block(language="text", text=each[2], line=line + 1, before="")))
    return found


def split(text: str) -> list[tuple[int, str]]:
    """Returns the commands of a shell script, each with its line (from 1): lines belong together while one is unfinished."""
    found, held, begin = [], "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        begin = begin if held else number
        held = f"{held}\n{line}" if held else line
        if not _is_unfinished(held):
            found.append((begin, held))
            held = ""
    return [(line, command) for line, command in found if command.strip()]


def _is_unfinished(command: str) -> bool:
    if command.rstrip().endswith(("\\", "|", "&&")):
        return True
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quotation that goes on
        return True
    return False
