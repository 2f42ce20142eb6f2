"""`segue up`: every role of one site, or of several, in one process."""

import random
import secrets
from pathlib import Path
from typing import Final

import click
import msgspec

from accesspoint.authorization.arbiter import Policy
from analytics.offloading.plan import PlanOptions
from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.roles import ACCESSPOINT, AGGREGATOR, BROKER, DECISION, NOTIFICATION, PRESENCE, SOCIAL
from infra.runtime.address import Address
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.certificate_end import watched
from infra.runtime.door_opener import DoorOpener
from infra.runtime.event_loop import run, stopped_by_signals
from infra.runtime.http.admin import Admin
from infra.runtime.http.admin_access import AdminAccess
from infra.runtime.key_reload import key_reload
from infra.runtime.listening import CannotListen
from infra.runtime.logs import configure, get_logger
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.private_folder import make_private
from infra.runtime.renewal import all_of
from infra.runtime.tls.contexts import TlsOptions
from infra.runtime.tokens import Keys

from ..cluster.factory import RoleFactory
from ..cluster.process import Process
from ..cluster.roles import ROLES, metrics_of, role_of
from ..cluster.shape import SITES, STORING, Shape
from ..mailbox.letters import Letters
from .finite import Finite
from .first_page import first_page, mailbox
from .state import default_state, held, keys_of

PORT_BASE = 7700
CAPTURE_KEY = "capture.key"
PEM: Final = click.Path(path_type=Path, dir_okay=False)
# All roles but the decision service. That one runs where there is a limit, and needs the extra `analytics`.
UNLIMITED: Final = tuple(role for role in ROLES if role != DECISION)
PLAN: Final = PlanOptions()
# The policies that need nothing else, and what each means.
POLICIES: Final[dict[str, str]] = {
    "social": ": users decide who sees what they play; until they do, friends do who follow each other",
    "token": ": tokens say what their users may see",
    "open": ": everybody sees everything",
}


@click.command()
@click.option("--roles", default=",".join(UNLIMITED), show_default=True, help="Which roles to run, with commas.")
@click.option("--sites", default=1, type=click.IntRange(1, len(SITES)), show_default=True, help="How many sites.")
@click.option("--brokers", default=1, type=click.IntRange(1, 16), show_default=True, help="Brokers per site.")
@click.option("--aggregators", default=1, type=click.IntRange(1, 16), show_default=True, help="Aggregators per site.")
@click.option("--accesspoints", default=1, type=click.IntRange(1, 9), show_default=True, help="Access points per site.")
@click.option("--port-base", default=PORT_BASE, type=click.IntRange(0, 65_000), show_default=True, help="First port; 0 takes free ones.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where doors listen; others than loopback need a certificate.")
@click.option("--tls-cert", type=PEM, help="The certificate of all doors, as PEM: they speak https and wss then. SIGHUP reads it again.")
@click.option("--tls-key", type=PEM, help="Its private key, as PEM, mode 600.")
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
@click.option("--policy", type=click.Choice(list(POLICIES)), help="Who may see what.  [default: social where that service runs, else open]")
@click.option("--mail", "has_mailbox", is_flag=True, help="Send mails, all of them to a mailbox on the page.")
@click.option("--private", multiple=True, metavar="NETWORK", help="Not public, and may be called all the same, such as 127.0.0.1.")
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
    host: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    state: Path,
    store: str,
    cassandra_port: int,
    catalogue: Path | None,
    capture: Path | None,
    capacity: int | None,
    threshold: int,
    period: float,
    policy: Policy | None,
    has_mailbox: bool,
    private: tuple[str, ...],
    as_json: bool,
    log_format: str,
    log_level: str,
) -> None:
    """Run a whole site, or several, in this one process.

    Open the first address in a browser on this machine. Clients connect to the second one, services publish to the third;
    `segue token` makes tokens for both.
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
        broker_state=state / "store",
        catalogue=str(catalogue or _empty_catalogue(state)),
        store=store,  # type: ignore[arg-type]  # click has checked it
        cassandra=CassandraOptions(port=cassandra_port),
        capture=CaptureOptions(path=str(capture), key_file=str(state / CAPTURE_KEY)) if capture else CaptureOptions(),
        decision=_plan(capacity, threshold, period) if DECISION in wanted else None,
        host=host,
        port_base=port_base,
        policy=policy,
    )
    if shape.effective_policy == "social" and SOCIAL not in wanted:
        raise click.UsageError("--policy social needs the role social, which says who may see what; add it to --roles")
    if has_mailbox and not (Address(host, 0).is_loopback and {NOTIFICATION, ACCESSPOINT} <= set(wanted)):
        raise click.UsageError("--mail shows mails on the page, which is on loopback and needs the roles notification and accesspoint")
    outgoing = OutgoingOptions(private=list(private))
    outgoing.check()
    tls = _tls(host, tls_cert, tls_key)
    with held(state):
        try:
            keys, doors = keys_of(state), DoorOpener(tls, is_alone=True)
            factory = RoleFactory.local(keys, random.Random(secrets.randbits(64)), doors, outgoing)
            run(_up(shape, wanted, keys, factory, has_mailbox=has_mailbox, as_json=as_json))
        except CannotListen as taken:
            moves = "--port-base N moves all addresses, 0 takes free ones"
            raise ConfigError(f"cannot listen on {taken.address} ({taken.reason}); {moves}") from taken


def _tls(host: str, certificate: Path | None, key: Path | None) -> TlsOptions:
    """Returns how doors at `host` are opened. Raises UsageError where others could listen in, and for half a pair."""
    if (certificate is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together: give both or neither")
    if certificate is None and not Address(host, 0).is_loopback:
        raise click.UsageError(f"--host {host} can be reached by other machines, and tokens would go in the clear: give --tls-cert, too")
    return TlsOptions(certificate=certificate, key=key)


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
    make_private(state)
    path.touch()
    return path


async def _up(shape: Shape, roles: list[str], keys: Keys, factory: RoleFactory, *, has_mailbox: bool, as_json: bool) -> None:
    async with mailbox(shape, is_wanted=has_mailbox) as (mailed, letters):
        await _serve(mailed, roles, keys, factory, letters, as_json=as_json)


async def _serve(shape: Shape, roles: list[str], keys: Keys, factory: RoleFactory, letters: Letters | None, *, as_json: bool) -> None:
    doors = factory.opener
    options = [each for each in shape.options() if role_of(each) in roles]
    metrics = metrics_of(role for role in ROLES if role in roles)
    access = AdminAccess(factory.tokens())
    http, ws = doors.scheme("http"), doors.scheme("ws")
    async with (
        Process(factory, options) as process,
        Admin(process.roles, shape.host, shape.admin_port, metrics, doors, access=access) as admin,
        first_page(process, shape, keys, doors, letters) as page,
        watched(get_logger("certificates", "", ""), doors.end),
    ):
        if {BROKER, AGGREGATOR} <= set(roles):
            await process.settled()
        addresses: dict[str, list[str] | str] = {
            **({"page": page.link} if page is not None else {}),
            "clients": [f"{ws}://{each.address}/v1/connect" for each in process.of(ACCESSPOINT)],
            "services": [f"{http}://{each.address}/v1/events" for each in process.of(BROKER)],
            **{name: [f"{http}://{each.address}" for each in process.of(name)] for name in STORING if process.of(name)},
            NOTIFICATION: [f"{http}://{each.address}/v1/notifications" for each in process.of(NOTIFICATION)],
            **({"mail": f"smtp://127.0.0.1:{shape.email.port}"} if shape.email is not None else {}),
            "admin": admin.address,
            "policy": shape.effective_policy,
        }
        renew_keys = key_reload(keys, lambda: None, get_logger("keys", "", ""))
        with stopped_by_signals(all_of(doors.on_hang_up, renew_keys, process.on_hang_up)) as stopped:
            if as_json:
                click.echo(msgspec.json.encode(addresses))
            else:
                _show(addresses)
            await stopped.wait()
        await process.drain()


def _show(addresses: dict[str, list[str] | str]) -> None:
    for what, where in addresses.items():
        for each in [where] if isinstance(where, str) else where:
            click.echo(f"{what:10} {each}{POLICIES[each] if what == 'policy' else ''}")
    click.echo("ready; stop with Ctrl-C")
