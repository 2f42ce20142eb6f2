"""`segue admin revoke` and `revocations`: which tokens are taken no more."""

import click

from infra.kernel.printable import printable
from segue.sdk.operator import Operator
from segue.sdk.operator_answers import MadeRevocation, StandingRevocation

from ..access import Access
from ..as_json import json_option, show
from .moments import shown_time
from .operating import operated, operator_options, show_kept, show_table


@click.command()
@click.option("--user", help="All tokens of this user.")
@click.option("--service", help="All tokens of this service.")
@click.option("--jti", help="The one token with this id.")
@click.option("--issued-before", type=float, metavar="UNIX_S", help="Only tokens issued before this.  [default: before now]")
@click.option("--until", type=float, metavar="UNIX_S", help="When they have expired.  [default: after the longest life of a token]")
@json_option
@operator_options
def revoke(
    user: str | None,
    service: str | None,
    jti: str | None,
    issued_before: float | None,
    until: float | None,
    as_json: bool,
    access: Access,
) -> None:
    """Take tokens no more: of a user, of a service, or one. Their sessions end everywhere, and no door takes them."""
    if sum(each is not None for each in (user, service, jti)) != 1:
        raise click.UsageError("say whose: --user NAME, --service NAME or --jti ID")
    made = operated(
        access,
        lambda operator: operator.revoke(user=user, service=service, jti=jti, issued_before=issued_before, until=until),
    )
    show(made, as_json, _tell_made)


def _tell_made(made: MadeRevocation) -> None:
    revoked = made.revocation
    what = f"token {revoked.name}" if revoked.kind == "token" else f"tokens of {revoked.kind} {revoked.name}"
    click.echo(f"revoked: {printable(what)}, issued before {shown_time(revoked.issued_before)}")
    show_kept(made.kept)


@click.command()
@json_option
@operator_options
def revocations(as_json: bool, access: Access) -> None:
    """Show which tokens are taken no more, and until when that is kept."""
    show(operated(access, _all), as_json, _tell)


def _tell(found: list[StandingRevocation]) -> None:
    rows = [(each.kind, each.name, shown_time(each.issued_before), shown_time(each.until)) for each in found]
    show_table(("kind", "name", "issued before", "kept until"), rows, "none")


async def _all(operator: Operator) -> list[StandingRevocation]:
    return [each async for each in operator.revocations()]
