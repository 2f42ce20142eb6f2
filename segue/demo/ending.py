"""The end of a run: what holds and what does not, in words, as JSON and as the exit code."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import msgspec
from rich.table import Table
from rich.text import Text

from segue.cli.output_file import write_output
from segue.cli.palette import BAD, GREEN, WARN


class RunOutcome(Protocol):
    """The outcome of a run."""

    @property
    def is_good(self) -> bool:
        """Whether everything is as it must be."""

    def document(self) -> dict[str, Any]:
        """Returns all of it, for JSON."""


def verdict(holds: Iterable[str], problems: Iterable[str], hints: Iterable[str] = ()) -> Table:
    """Returns the last lines of a summary, one sentence each: what `holds`, the `problems`, and `hints`."""
    table = Table.grid(padding=(0, 1))
    for each in holds:
        table.add_row(Text("✓", style=GREEN), Text(each, style="bold"))
    for each in problems:
        table.add_row(Text("✗", style=BAD), Text(each))
    for each in hints:
        table.add_row(Text("→", style=WARN), Text(each))
    return table


def end(outcome: RunOutcome, file: Path | None) -> None:
    """Writes the JSON of `outcome` to `file`, if there is one. Exits with 1 if the outcome is not good."""
    if file is not None:
        write_output(file, msgspec.json.format(msgspec.json.encode(outcome.document())) + b"\n")
    if not outcome.is_good:
        sys.exit(1)
