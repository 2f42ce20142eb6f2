"""`segue admin ban`, `unban` and `bans`: who is kept out."""

import click

from infra.kernel.printable import printable
from segue.sdk.operator import Operator
from segue.sdk.operator_answers import MadeBan, StandingBan

from ..access import Access
from ..as_json import json_option, show
from .moments import Duration, shown_time
from .operating import operated, operator_options, show_kept, show_table


@click.command()
@click.argument("user")
@click.option("--for", "seconds", type=Duration(), required=True, help="For how long: 90s, 15m, 24h, 7d.")
@json_option
@operator_options
def ban(user: str, seconds: float, as_json: bool, access: Access) -> None:
    """Keep USER out for a time: their sessions end everywhere, and no door lets them in."""

    def tell(made: MadeBan) -> None:
        click.echo(f"{printable(user)} is kept out until {shown_time(made.ban.until) if made.ban is not None else 'now'}")
        show_kept(made.kept)

    show(operated(access, lambda operator: operator.ban(user, seconds=seconds)), as_json, tell)


@click.command()
@click.argument("user")
@json_option
@operator_options
def unban(user: str, as_json: bool, access: Access) -> None:
    """Let USER in again."""
    made = operated(access, lambda operator: operator.unban(user))
    show(made, as_json, lambda _: click.echo(f"{printable(user)} may come in again"))


@click.command()
@json_option
@operator_options
def bans(as_json: bool, access: Access) -> None:
    """Show who is kept out, and until when."""
    show(operated(access, _all), as_json, _tell)


def _tell(found: list[StandingBan]) -> None:
    rows = [(each.user, shown_time(each.since), shown_time(each.until)) for each in found]
    show_table(("user", "since", "until"), rows, "nobody")


async def _all(operator: Operator) -> list[StandingBan]:
    return [each async for each in operator.bans()]
