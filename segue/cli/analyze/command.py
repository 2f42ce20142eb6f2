"""`segue analyze`."""

from typing import Final

import click

from ..lazy_group import LazyGroup, entry

COMMANDS: Final = (
    entry("import", "segue.cli.analyze.importing:importing", "Make the trace DIR of a published data set"),
    entry("generate", "segue.cli.analyze.generate:generate", "Make a trace DIR like those that were never published"),
    entry("validate", "segue.cli.analyze.validate:validate", "Read every row of the trace DIR and say what is wrong with it"),
    entry("characterize", "segue.cli.analyze.characterize:characterize", "Compute every metric and figure that TRACE supports"),
    entry("compare", "segue.cli.analyze.compare:compare", "Hold the workloads A and B against each other"),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def analyze() -> None:
    """Know the workload: make, check, characterize and compare traces (docs/characterize.md)."""
