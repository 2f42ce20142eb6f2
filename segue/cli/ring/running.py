"""`segue ring run`."""

from pathlib import Path

import click
import msgspec

from ..access import Access
from ..finite import Finite
from .ring_options import sites_options
from .ring_plan import RingPlan
from .ring_run import RingRun
from .sites import Sites, at_sites


@click.command()
@click.argument("plan", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--max-lag", type=Finite(min=0), default=0.25, show_default=True, help="Pause while a broker is late by more seconds.")
@click.option("--wait", type=Finite(min=0), default=60.0, show_default=True, help="So many seconds for brokers that are to be added.")
@sites_options
def run(plan: Path, max_lag: float, wait: float, access: Access) -> None:
    """Carry PLAN out, one round after the other, one site after the other. It may be repeated: what is done is skipped."""
    try:
        found = msgspec.json.decode(plan.read_bytes(), type=RingPlan)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{plan} is no plan of segue ring plan: {error}") from None

    async def work(sites: Sites) -> None:
        operators = {site: operator for site, (operator, _) in sites.items()}
        await RingRun(operators, click.echo, max_lag_s=max_lag, wait_s=wait).all(found)

    at_sites(access, work)
