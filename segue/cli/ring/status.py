"""`segue ring status` and `abort`: where the rings are, and that they stay there."""

import click

from segue.sdk.operator_answers import StandingRing, StandingSlot

from ..access import Access
from ..admin.operating import show_table
from ..as_json import json_option, show
from .ring_options import sites_options
from .sites import Sites, at_sites

COLUMNS = ("site", "slot", "share", "goal", "done")


@click.command()
@json_option
@sites_options
def status(as_json: bool, access: Access) -> None:
    """Show which share of the ring each broker has at each site, which it is to have, and whether it is done with the last step."""
    show(at_sites(access, _states), as_json, _tell)


@click.command()
@json_option
@sites_options
def abort(as_json: bool, access: Access) -> None:
    """Have every ring stay where it is. What stands is valid: each topic has its owner."""
    show(at_sites(access, _stopped), as_json, _tell)


async def _states(sites: Sites) -> list[StandingRing]:
    return [state for _, state in sites.values()]


async def _stopped(sites: Sites) -> list[StandingRing]:
    return [await operator.stop_ring(site) for site, (operator, _) in sites.items()]


def _tell(states: list[StandingRing]) -> None:
    rows = [(state.site, *_cells(each)) for state in states for each in state.slots]
    show_table(COLUMNS, rows, "no view yet")
    for state in states:
        if state.waits_for:
            click.echo(f"{state.broker} of {state.site} waits for {', '.join(state.waits_for)}")


def _cells(slot: StandingSlot) -> tuple[str, ...]:
    return slot.slot, str(slot.share), str(slot.goal), "yes" if slot.done else "not yet"
