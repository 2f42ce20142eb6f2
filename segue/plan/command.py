"""`segue plan`."""

import click

from .provision import provision
from .satisfaction import satisfaction


@click.group()
def plan() -> None:
    """Plan capacity on a trace: whom to serve, and how few machines suffice (docs/planning.md)."""


for command in (satisfaction, provision):
    plan.add_command(command)
