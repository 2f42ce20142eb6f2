"""`segue analyze`."""

import click

from .importing import importing
from .validate import validate


@click.group()
def analyze() -> None:
    """Know the workload: make, check, characterize and compare traces (docs/characterize.md)."""


for command in (importing, validate):
    analyze.add_command(command)
