"""`segue up`: every role of one site, or of several, in one process."""

import random
import secrets
from pathlib import Path
from typing import Final

import click
import msgspec

from analytics.offloading.plan import PlanOptions
from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.roles import ACCESSPOINT, AGGREGATOR, BROKER, DECISION, NOTIFICATION, PRESENCE
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.event_loop import run, stopped_by_signals
from infra.runtime.http.admin import Admin
from infra.runtime.listening import CannotListen
from infra.runtime.logs import configure

from ..cluster.factory import RoleFactory
from ..cluster.process import Process
from ..cluster.roles import ROLES, metrics_of, role_of
from ..cluster.shape import SITES, STORING, Shape
from .finite import Finite
from .state import default_state, held, secret_of

PORT_BASE = 7700
CAPTURE_KEY = "capture.key"
# All roles but the decision service. That one runs where there is a limit, and needs the extra `analytics`.
UNLIMITED: Final = tuple(role for role in ROLES if role != DECISION)
PLAN: Final = PlanOptions()


@click.command()
@click.option("--roles", default=",".join(UNLIMITED), show_default=True, help="Which roles to run, with commas.")
@click.option("--sites", default=1, type=click.IntRange(1, len(SITES)), show_default=True, help="How many sites.")
@click.option("--brokers", default=1, type=click.IntRange(1, 16), show_default=True, help="Brokers per site.")
@click.option("--aggregators", default=1, type=click.IntRange(1, 16), show_default=True, help="Aggregators per site.")
@click.option("--accesspoints", default=1, type=click.IntRange(1, 9), show_default=True, help="Access points per site.")
@click.option("--port-base", default=PORT_BASE, type=click.IntRange(0, 65_000), show_default=True, help="First port; 0 takes free ones.")
@click.option(
    "--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret and what is stored are kept."
)
@click.option(
    "--store", type=click.Choice(["sqlite", "cassandra"]), default="sqlite", show_default=True, help="Where notifications are kept."
)
@click.option("--cassandra-port", default=9042, show_default=True, help="Of the server that `segue cassandra start` has started.")
@click.option("--catalogue", type=click.Path(path_type=Path), help="What artists have released, as JSON lines.  [default: one in --state]")
@click.option("--capture", type=click.Path(path_type=Path), help="Write a trace of the workload to this folder; see `segue analyze`.")
@click.option(
    "--capacity", type=click.IntRange(min=0), help="Deliveries in a period; topics beyond it leave real time.  [default: no limit]"
)
@click.option(
    "--threshold", type=click.IntRange(min=1), default=PLAN.threshold, show_default=True, help="Events that satisfy a subscriber."
)
@click.option("--period", type=Finite(min=1), default=PLAN.period_s, show_default=True, help="Seconds between two decisions.")
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one JSON line when ready.")
@click.option("--log-format", type=click.Choice(["console", "json"]), default="console", show_default=True)
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="warning", show_default=True)
def up(
    roles: str,
    sites: int,
    brokers: int,
    aggregators: int,
    accesspoints: int,
    port_base: int,
    state: Path,
    store: str,
    cassandra_port: int,
    catalogue: Path | None,
    capture: Path | None,
    capacity: int | None,
    threshold: int,
    period: float,
    as_json: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Run a whole site, or several, in this one process.

    Clients connect to the first address, services publish to the second; `segue token` makes tokens for both.
    """
    configure(log_format, log_level)  # type: ignore[arg-type]  # click has checked them
    wanted = [*roles.split(","), *([DECISION] if capacity is not None else [])]
    if unknown := sorted(set(wanted) - ROLES.keys()):
        raise click.UsageError(f"no role {', '.join(unknown)}; there are {', '.join(ROLES)}")
    shape = Shape(
        sites=SITES[:sites],
        brokers=brokers,
        aggregators=aggregators,
        accesspoints=accesspoints,
        presence=int(PRESENCE in wanted),
        notification=int(NOTIFICATION in wanted),
        services=tuple(service for service in STORING if service in wanted),
        state=state / "store",
        catalogue=str(catalogue or _empty_catalogue(state)),
        store=store,  # type: ignore[arg-type]  # click has checked it
        cassandra=CassandraOptions(port=cassandra_port),
        capture=CaptureOptions(path=str(capture), key_file=str(state / CAPTURE_KEY)) if capture else CaptureOptions(),
        decision=_plan(capacity, threshold, period) if DECISION in wanted else None,
        port_base=port_base,
    )
    with held(state):
        try:
            run(_up(shape, wanted, secret_of(state), as_json))
        except CannotListen as taken:
            moves = "--port-base N moves all addresses, 0 takes free ones"
            raise ConfigError(f"cannot listen on {taken.address} ({taken.reason}); {moves}") from taken


def _plan(capacity: int | None, threshold: int, period_s: float) -> PlanOptions:
    """Returns what the decision service decides on. Where it decides often it also surveys and overlaps for less time.

    Raises UsageError for values that contradict each other.
    """
    survey_s, overlap_ms = min(PLAN.survey_s, period_s / 2), int(min(PLAN.overlap_ms, period_s * 1000))
    plan = PlanOptions(capacity=capacity, threshold=threshold, period_s=period_s, survey_s=survey_s, overlap_ms=overlap_ms)
    try:
        plan.check()
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    return plan


def _empty_catalogue(state: Path) -> Path:
    """Returns the path of the catalogue in `state`, which is empty at first. What is put into it is announced once a day."""
    path = state / "catalogue.jsonl"
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch()
    return path


async def _up(shape: Shape, roles: list[str], secret: bytes, as_json: bool) -> None:
    factory = RoleFactory.local(secret, random.Random(secrets.randbits(64)))
    options = [each for each in shape.options() if role_of(each) in roles]
    metrics = metrics_of(role for role in ROLES if role in roles)
    async with Process(factory, options) as process, Admin(process.roles, shape.host, shape.admin_port, metrics) as admin:
        if {BROKER, AGGREGATOR} <= set(roles):
            await process.settled()
        addresses: dict[str, list[str] | str] = {
            "clients": [f"ws://{each.address}/v1/connect" for each in process.of(ACCESSPOINT)],
            "services": [f"http://{each.address}/v1/events" for each in process.of(BROKER)],
            **{name: [f"http://{each.address}" for each in process.of(name)] for name in STORING if process.of(name)},
            NOTIFICATION: [f"http://{each.address}/v1/notifications" for each in process.of(NOTIFICATION)],
            "admin": admin.address,
        }
        with stopped_by_signals() as stopped:
            if as_json:
                click.echo(msgspec.json.encode(addresses))
            else:
                _show(addresses)
            await stopped.wait()
        await process.drain()


def _show(addresses: dict[str, list[str] | str]) -> None:
    for what, where in addresses.items():
        for each in [where] if isinstance(where, str) else where:
            click.echo(f"{what:10} {each}")
    click.echo("ready; stop with Ctrl-C")
