"""`segue overlay`."""

from typing import Final

import click

from ..lazy_group import LazyGroup, entry

COMMANDS: Final = (
    entry("simulate", "segue.cli.overlay.simulate:simulate", "Simulate an overlay from a cold start"),
    entry("compare", "segue.cli.overlay.compare:compare", "Compare overlays under the same conditions"),
    entry("report", "segue.cli.overlay.report:report", "Run all studies of the overlays"),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def overlay() -> None:
    """Simulate peer-to-peer overlays (docs/overlay.md)."""
