"""`segue ring`."""

from typing import Final

import click

from ..lazy_group import LazyGroup, entry

COMMANDS: Final = (
    entry("status", "segue.cli.ring.status:status", "Show which share of the ring each broker has"),
    entry("plan", "segue.cli.ring.planning:plan", "Write down how brokers are added or drained"),
    entry("run", "segue.cli.ring.running:run", "Carry PLAN out"),
    entry("abort", "segue.cli.ring.status:abort", "Have every ring stay where it is"),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def ring() -> None:
    """Add brokers to the ring and drain them, while everything goes on (docs/ring.md)."""
