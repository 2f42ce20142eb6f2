"""A group of commands that are imported when they are called, and listed without it."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from infra.runtime.stopping import die, heeding


class Entry(NamedTuple):
    """A command of a group: where it is, as "package.module:attribute", and how its help begins."""

    name: str
    place: str
    help: str

    def load(self) -> click.Command:
        """The command itself. There is nothing to undo while it is imported, so a signal ends the process at once."""
        module, _, attribute = self.place.partition(":")
        with heeding(die):
            found: click.Command = getattr(import_module(module), attribute)
        return found


class LazyGroup(click.Group):
    """A group of `entries`."""

    def __init__(self, *args: Any, entries: Sequence[Entry], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.entries = {each.name: each for each in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, sorted."""
        return sorted(self.entries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, which is imported now."""
        return self.entries[name].load() if name in self.entries else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists them as click does, from the entries alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.entries[name].help) for name in self.list_commands(ctx)])
