"""`segue token`: tokens for users and services, signed with this machine's secret."""

import time
from pathlib import Path
from typing import Final

import click

from infra.kernel.grants import GRANTED_KINDS
from infra.kernel.suggestion import suggest
from infra.runtime.tokens import issue

from ..cluster.tokens import TOKEN_TTL_S
from .finite import Finite
from .state import default_state, secret_of

# The names in service tokens. `operator` is a person who runs jobs and replays dead letters, `monitor` a program that reads admin
# doors, such as Prometheus.
SERVICES: Final = ("presence", "playlist", "social", "artist", "notification", "operator", "monitor")


@click.command()
@click.option("--user", help="A client of this user.")
@click.option("--service", help=f"A service: {', '.join(SERVICES)}.")
@click.option("--topic", "topics", multiple=True, help="What the user may follow with it; * is any id. May be repeated.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([str(kind) for kind in GRANTED_KINDS]),
    help="A kind of topic that the user may follow with it.",
)
@click.option("--subscription", is_flag=True, help="Not to connect with: it lets a connected user follow each --topic.")
@click.option("--ttl", "ttl_s", default=TOKEN_TTL_S, type=Finite(min=1), show_default=True, help="Seconds until it expires.")
@click.option("--issuer", help="Its `iss`, where auth.issuer is set.")
@click.option("--audience", help="Its `aud`, where auth.audience is set.")
@click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept.")
def token(
    user: str | None,
    service: str | None,
    topics: tuple[str, ...],
    kinds: tuple[str, ...],
    subscription: bool,
    ttl_s: float,
    issuer: str | None,
    audience: str | None,
    state: Path,
) -> None:
    """Print a token for a user or for a service."""
    if (user is None) == (service is None):
        raise click.UsageError("give either --user NAME or --service NAME")
    if service is not None and service not in SERVICES:
        raise click.BadParameter(f"there is no service {service}; {suggest(service, SERVICES)}", param_hint="--service")
    if subscription and not topics:
        raise click.UsageError("--subscription needs what it is for: --topic hm://...")
    made = issue(
        secret_of(state),
        user=user,
        service=service,
        ttl_s=ttl_s,
        now_s=time.time(),
        topics=topics or None,
        kinds=kinds or None,
        is_subscription=subscription,
        issuer=issuer,
        audience=audience,
    )
    click.echo(made)
