"""`segue plan`."""

from typing import Final

import click

from ..lazy_group import LazyGroup, entry

COMMANDS: Final = (
    entry("satisfaction", "segue.cli.plan.satisfaction:satisfaction", "Choose the topics of TRACE to serve within a capacity"),
    entry("provision", "segue.cli.plan.provision:provision", "Find the fewest machines that satisfy everybody in TRACE"),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def plan() -> None:
    """Plan capacity on a trace: whom to serve, and how few machines suffice (docs/planning.md)."""
