"""`segue analyze`."""

from typing import Final

import click

from ..lazy_group import Entry, LazyGroup

COMMANDS: Final = (
    Entry("import", "segue.cli.analyze.importing:importing", "Make the trace DIR of a published data set"),
    Entry("generate", "segue.cli.analyze.generate:generate", "Make a trace DIR like those that were never published"),
    Entry("validate", "segue.cli.analyze.validate:validate", "Read every row of the trace DIR and say what is wrong with it"),
    Entry("characterize", "segue.cli.analyze.characterize:characterize", "Compute every metric and figure that TRACE supports"),
    Entry("compare", "segue.cli.analyze.compare:compare", "Hold the workloads A and B against each other"),
)


@click.group(cls=LazyGroup, entries=COMMANDS)
def analyze() -> None:
    """Know the workload: make, check, characterize and compare traces (docs/characterize.md)."""
