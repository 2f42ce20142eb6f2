"""`segue plan`."""

from typing import Final

import click

from ..lazy_group import Entry, LazyGroup

COMMANDS: Final = (
    Entry("satisfaction", "segue.cli.plan.satisfaction:satisfaction", "Choose the topics of TRACE to serve within a capacity"),
    Entry("provision", "segue.cli.plan.provision:provision", "Find the fewest machines that satisfy everybody in TRACE"),
)


@click.group(cls=LazyGroup, entries=COMMANDS)
def plan() -> None:
    """Plan capacity on a trace: whom to serve, and how few machines suffice (docs/planning.md)."""
