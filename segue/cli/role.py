"""`segue ROLE --config FILE`: one role, one process."""

import asyncio
import os
import random
import secrets
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from accesspoint.options import AccessPointOptions
from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.runtime.address import Address
from infra.runtime.config import load
from infra.runtime.event_loop import run, stopped_by_signals
from infra.runtime.http.admin import Admin
from infra.runtime.logs import LogOptions, configure, get_logger
from infra.runtime.stopping import heeding, held
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.tcp import TcpNetwork
from notification.options import NotificationOptions
from services.artist.options import ArtistOptions
from services.decision.options import DecisionOptions
from services.playlist.options import PlaylistOptions
from services.presence.options import PresenceOptions
from services.social.options import SocialOptions

from ..cluster.metrics import METRICS
from ..cluster.process import Parts, Process, RoleOptions
from .state import service_token


class ProcessFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a configuration file may hold. A file has the table of the role it is for, and may have those of others."""

    auth: AuthOptions = AuthOptions()
    log: LogOptions = LogOptions()
    broker: BrokerOptions | None = None
    decision: DecisionOptions | None = None
    aggregator: AggregatorOptions | None = None
    presence: PresenceOptions | None = None
    notification: NotificationOptions | None = None
    social: SocialOptions | None = None
    playlist: PlaylistOptions | None = None
    artist: ArtistOptions | None = None
    accesspoint: AccessPointOptions | None = None


def read(path: Path, role: str, overrides: dict[str, str]) -> tuple[ProcessFile, RoleOptions]:
    """The file, and its table for `role`. Raises ConfigError."""
    file = load(path, ProcessFile, overrides)
    options: RoleOptions | None = getattr(file, role)
    if options is None:
        raise ConfigError(f"{path}: there is no table [{role}]")
    return file, options


def command(role: str) -> click.Command:
    """The subcommand that runs `role`."""

    @click.command(role, help=f"Run one {role} with the table [{role}] of a configuration file.")
    @click.option("--config", "path", type=click.Path(path_type=Path), required=True, help="TOML file.")
    @click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=f"Override, such as {role}.admin='\"127.0.0.1:0\"'.")
    @click.option("--json", "as_json", is_flag=True, help="Print the addresses as one JSON line when the doors are open.")
    @click.option("--shared-ports", is_flag=True, help="The link port is held open for us by the process that started us.")
    def run_role(path: Path, settings: tuple[str, ...], as_json: bool, shared_ports: bool) -> None:
        file, options = read(path, role, parse_settings(settings))
        configure(file.log.format, file.log.level)
        run(_serve(file, options, as_json, shared_ports))

    if role == "accesspoint":
        return _with_processes(run_role)
    return run_role


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """`--set` arguments as dotted keys and TOML literals. Raises ConfigError for one without a `=`."""
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise ConfigError(f"--set {wrong[0]} needs a value, such as --set {wrong[0]}=1")
    return {key: value for key, _, value in pairs}


async def _serve(file: ProcessFile, options: RoleOptions, as_json: bool, shared_ports: bool) -> None:
    has_no_door = isinstance(options, AggregatorOptions | PresenceOptions | DecisionOptions)
    keys = Keys() if has_no_door else Keys.load(file.auth)
    log = get_logger("keys", "", options.site)
    refreshing: set[asyncio.Task[Any]] = set()

    async def fetch() -> None:
        if not await keys.refresh():
            log.warning("public keys not fetched", reason=keys.failure)

    def refresh() -> None:
        task = asyncio.ensure_future(fetch())
        refreshing.add(task)
        task.add_done_callback(refreshing.discard)

    if file.auth.jwks_url:
        await fetch()
    rng, token = random.Random(secrets.randbits(64)), partial(service_token, keys.secret) if keys.secret else None
    parts = Parts(TcpNetwork(reuse_port=shared_ports), Verifier(file.auth, keys, refresh), rng, token=token)
    address = Address.parse(options.admin)
    async with Process(parts, [options]) as process, Admin(process.roles, address.host, address.port, METRICS) as admin:
        (role,) = process.roles
        addresses = {"role": role.role, "door": getattr(role, "address", None), "admin": admin.address}
        with stopped_by_signals() as stopped:
            click.echo(msgspec.json.encode(addresses) if as_json else f"{role.role} {role.site}/{role.node} at {addresses['door']}")
            await stopped.wait()
        await process.drain()


def _with_processes(single: click.Command) -> click.Command:
    """Access points may be several processes on one port: the kernel spreads the clients (SO_REUSEPORT)."""

    @click.pass_context
    def run_many(context: click.Context, /, processes: int, **arguments: Any) -> None:
        if processes == 1:
            context.invoke(single.callback, **arguments)  # type: ignore[arg-type]
        else:
            _spawn(processes, **arguments)

    many = click.option("--processes", default=1, type=click.IntRange(1, MAX_LINKS), show_default=True, help="Processes on one port.")
    command = click.Command(single.name, callback=run_many, params=list(single.params), help=single.help)
    return many(command)


def _spawn(processes: int, path: Path, settings: tuple[str, ...], as_json: bool, shared_ports: bool) -> None:
    """Run children with names and admin ports of their own; stop them all when one stops or a signal arrives."""
    _, options = read(path, "accesspoint", parse_settings(settings))
    assert isinstance(options, AccessPointOptions)
    if Address.parse(options.door).port == 0:
        raise ConfigError("accesspoint.door needs a port that is not 0, so that all processes share it")
    admin = Address.parse(options.admin)
    commands = []
    for n in range(processes):
        port = admin.port + n if admin.port else 0
        mine = [f'accesspoint.node="{options.node}-{n + 1}"', f'accesspoint.admin="{admin.host}:{port}"', "accesspoint.reuse_port=true"]
        arguments = [item for setting in (*settings, *mine) for item in ("--set", setting)]
        flags = ["--json"] * as_json + ["--shared-ports"] * shared_ports
        commands.append([sys.executable, "-m", "segue", "accesspoint", "--config", str(path), *arguments, *flags])
    sys.exit(_all_until_one_ends(commands))


def _all_until_one_ends(commands: list[list[str]]) -> int:
    """Runs them side by side; a signal is passed on, and when one ends all are stopped. Returns the highest exit code."""
    children: list[subprocess.Popen[bytes]] = []

    def stop(_: int = signal.SIGTERM) -> None:
        for child in children:
            child.terminate()

    with heeding(stop):
        with held():  # of a child that is being started nobody knows yet that it has to be stopped
            # A group of its own: Ctrl-C reaches us alone, and each child is asked once, so that it drains in peace.
            children += [subprocess.Popen(command, process_group=0) for command in commands]  # noqa: S603 - our own command
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        stop()
        return max(_exit_code(child.wait()) for child in children)


def _exit_code(ended: int) -> int:
    """Returns the exit code that a child stands for: 0 if it ended by the signal of `stop` before it could drain, as it was asked to."""
    if ended == -signal.SIGTERM:
        return 0
    return ended if ended >= 0 else 128 - ended


accesspoint, aggregator, artist, broker = map(command, ("accesspoint", "aggregator", "artist", "broker"))
notification, decision, playlist, presence, social = map(command, ("notification", "decision", "playlist", "presence", "social"))
