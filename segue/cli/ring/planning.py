"""`segue ring plan`."""

from pathlib import Path

import click
import msgspec

from ..access import Access
from ..admin.operating import show_table
from ..output_file import OutputFile, write_output
from .ring_options import SlotNames, sites_options
from .ring_plan import RingPlan, planned
from .sites import Sites, at_sites

COLUMNS = ("round", "site", "change", "topics", "bytes", "about")


@click.command()
@click.option("--add", type=SlotNames(), default=(), help="Brokers that are to have their full share, such as b4,b5.")
@click.option("--drain", type=SlotNames(), default=(), help="Brokers that are to have nothing, such as b2.")
@click.option("--gentle", is_flag=True, help="One broker after the other: fewer topics at once, more rounds.")
@click.option("--output", type=OutputFile(), default=Path("ring-plan.json"), show_default=True, help="The file of the plan.")
@sites_options
def plan(add: tuple[str, ...], drain: tuple[str, ...], gentle: bool, output: Path, access: Access) -> None:
    """Write down how brokers are added or drained: the rounds, how many topics move in each, and how long that takes.

    Nothing is changed yet: segue ring run does that.
    """

    async def make(sites: Sites) -> RingPlan:
        return planned([state for _, state in sites.values()], add, drain, gentle=gentle)

    made = at_sites(access, make)
    _tell(made)
    write_output(output, msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n")


def _tell(made: RingPlan) -> None:
    rows = [
        (str(number), each.site, changes(each.before, each.goal), f"{each.rows:,}", f"{each.bytes:,}", f"{each.seconds:g} s")
        for number, each in enumerate(made.rounds, 1)
    ]
    show_table(COLUMNS, rows, "nothing to do: all is as it shall be")


def changes(before: dict[str, int], goal: dict[str, int]) -> str:
    """Returns what changes between two shares of slots, in words."""
    changed = [slot for slot in sorted(goal) if goal[slot] != before.get(slot, 0)]
    return ", ".join(f"{slot} {before.get(slot, 0)} -> {goal[slot]}" for slot in changed)
