"""`segue token`: tokens for users and services, signed with this machine's secret."""

from pathlib import Path
from typing import Final

import click

from infra.kernel.suggestion import suggest

from ..cluster.tokens import TOKEN_TTL_S, service_token, user_token
from .state import default_state, secret_of

# The names in service tokens. `operator` is a person who runs jobs and replays dead letters.
SERVICES: Final = ("presence", "playlist", "social", "artist", "notification", "operator")


@click.command()
@click.option("--user", help="A client of this user.")
@click.option("--service", help=f"A service: {', '.join(SERVICES)}.")
@click.option("--ttl", "ttl_s", default=TOKEN_TTL_S, show_default=True, help="Seconds until it expires.")
@click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept.")
def token(user: str | None, service: str | None, ttl_s: float, state: Path) -> None:
    """Print a token for a user or for a service."""
    if (user is None) == (service is None):
        raise click.UsageError("give either --user NAME or --service NAME")
    if service is not None and service not in SERVICES:
        raise click.BadParameter(f"there is no service {service}; {suggest(service, SERVICES)}", param_hint="--service")
    secret = secret_of(state)
    click.echo(user_token(secret, user, ttl_s) if user is not None else service_token(secret, str(service), ttl_s))
