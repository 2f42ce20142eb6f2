"""A group of commands that are imported when they are called, and listed without it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from infra.runtime.stopping import die, heeding

from ..cluster.imported import Imported


class CommandEntry(NamedTuple):
    """A command of a group: its name, where it is, and how its help begins."""

    name: str
    command: Imported[click.Command]
    help: str


def entry(name: str, place: str, help: str) -> CommandEntry:
    """Returns the entry of the command `name` that is at `place`, "package.module:attribute", and whose help begins with `help`."""
    return CommandEntry(name, Imported(place), help)


class LazyGroup(click.Group):
    """A group of commands in `sections`: by heading, in the order in which they are listed."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[CommandEntry]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections
        self.entries = {each.name: each for each in _all(sections)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns all names, in the order of the sections."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Returns the command `name`, which is imported now; None if there is none. A signal meanwhile ends the process at once."""
        if name not in self.entries:
            return None
        with heeding(die):  # nothing has begun yet that would have to be undone
            return self.entries[name].command.get()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the sections as click does, from the entries alone, with one column for the names of all."""
        width = max(map(len, self.entries))
        for heading, entries in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(each.name.ljust(width), each.help) for each in entries])


def _all(sections: Mapping[str, Sequence[CommandEntry]]) -> Iterable[CommandEntry]:
    return (each for entries in sections.values() for each in entries)
