"""`make fuzz`: odd inputs for the readers of what strangers send, for as long as one likes."""

import random
import secrets
import sys

import click

from tests.fuzz.fuzzing import TARGETS, fuzz, keep


@click.command()
@click.option("--seconds", default=60.0, type=click.FloatRange(min=0), show_default=True, help="How long, for all targets together.")
@click.option("--target", "names", multiple=True, type=click.Choice(list(TARGETS)), help="Only this one. May be repeated.")
@click.option("--seed", type=int, help="Play the same inputs again.  [default: a random one, which is told]")
def main(seconds: float, names: tuple[str, ...], seed: int | None) -> None:
    """Fuzz the targets, one after the other. What leads to something new is added to the corpus, and so is what is found."""
    seed = secrets.randbits(32) if seed is None else seed
    chosen = names or tuple(TARGETS)
    click.echo(f"seed {seed}")
    is_bad = False
    for name in chosen:
        result = fuzz(name, rng=random.Random(seed), seconds=seconds / len(chosen))
        for data in result.news:
            keep(name, data)
        click.echo(f"{name}: {result.played:,} inputs, {len(result.news)} new in the corpus, {len(result.findings)} found")
        for finding in result.findings:
            is_bad = True
            click.echo(
                f"{finding.trouble}\n{name} cannot stand this input, kept as {keep(name, finding.data)}:\n{finding.data!r}", err=True
            )
    sys.exit(is_bad)


main()
