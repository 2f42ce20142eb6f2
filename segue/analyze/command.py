"""`segue analyze`."""

import click


@click.group()
def analyze() -> None:
    """Know the workload: make, check, characterize and compare traces (docs/characterize.md)."""
