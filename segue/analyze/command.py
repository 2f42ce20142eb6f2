"""`segue analyze`."""

import click

from .characterize import characterize
from .compare import compare
from .generate import generate
from .importing import importing
from .validate import validate


@click.group()
def analyze() -> None:
    """Know the workload: make, check, characterize and compare traces (docs/characterize.md)."""


for command in (importing, generate, validate, characterize, compare):
    analyze.add_command(command)
