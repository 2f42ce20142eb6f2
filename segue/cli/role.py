"""`segue ROLE --config FILE`: one role, one process."""

import asyncio
import random
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.runtime.address import Address
from infra.runtime.certificate_end import watched
from infra.runtime.door_opener import DoorOpener
from infra.runtime.event_loop import run, stopped_by_signals
from infra.runtime.http.admin import Admin
from infra.runtime.http.admin_access import AdminAccess
from infra.runtime.key_reload import key_reload
from infra.runtime.link_auth import LinkAuth
from infra.runtime.logs import configure, get_logger
from infra.runtime.renewal import all_of
from infra.runtime.tokens import Keys, Verifier
from infra.runtime.wire.tcp import TcpNetwork

from ..cluster.factory import RoleFactory
from ..cluster.process import Process
from ..cluster.process_file import ProcessFile, read
from ..cluster.role_spec import RoleOptions, RoleSpec
from ..cluster.roles import ROLES, metrics_of
from ..cluster.tokens import signer
from .processes import run_side_by_side


def command(role: str) -> click.Command:
    """Returns the subcommand that runs `role`."""
    spec = ROLES[role]

    @click.command(role, help=f"{spec.help}.\n\nIts options are the table [{role}] of a configuration file.")
    @click.option("--config", "path", type=click.Path(path_type=Path), required=True, help="TOML file.")
    @click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=f"Override, such as {role}.admin='\"127.0.0.1:0\"'.")
    @click.option("--json", "as_json", is_flag=True, help="Print the addresses as one JSON line when the doors are open.")
    @click.option("--shared-ports", is_flag=True, help="The link port is held open for us by the process that started us.")
    def run_role(path: Path, settings: tuple[str, ...], as_json: bool, shared_ports: bool) -> None:
        file, options = read(path, role, parse_settings(settings))
        configure(file.log.format, file.log.level)
        run(_serve(spec, file, options, as_json, shared_ports))

    return _with_processes(run_role) if spec.shares_door else run_role


def parse_settings(settings: tuple[str, ...]) -> dict[str, str]:
    """Returns `--set` arguments as dotted keys and TOML literals. Raises ConfigError for one without a `=`."""
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [key for key, equals, _ in pairs if not equals]:
        raise ConfigError(f"--set {wrong[0]} needs a value, such as --set {wrong[0]}=1")
    return {key: value for key, _, value in pairs}


async def _serve(spec: RoleSpec[Any], file: ProcessFile, options: RoleOptions, as_json: bool, shared_ports: bool) -> None:
    """Runs the role until a signal comes, then drains it."""
    address = Address.parse(options.admin)
    log = get_logger("keys", options.node, options.site)
    keys = Keys.load(file.auth, file.outgoing, log) if spec.checks_tokens or file.auth.has_keys else Keys()
    verifier, fetch = await _verifier(file, keys)
    rng, token = random.Random(secrets.randbits(64)), signer(keys, file.auth) if keys.secret else None
    opener = DoorOpener(file.tls, get_logger("doors", options.node, options.site))
    links = LinkAuth(file.link_auth, log=get_logger("links", options.node, options.site))
    network = TcpNetwork(shared_ports, links, opener.failures)
    shared: dict[str, Any] = {"outgoing": file.outgoing, "opener": opener, "audit": file.audit, "link_auth": links}
    factory = RoleFactory(network, verifier, rng, token=token, **shared)
    access = AdminAccess(factory.tokens() if keys.algorithms else None)
    access.check_address(f"{spec.name}.admin", address)
    metrics = metrics_of([spec.name])
    async with (
        Process(factory, [options]) as process,
        Admin(process.roles, address.host, address.port, metrics, opener, links=links, access=access, limits=file.admin) as admin,
        watched(get_logger("certificates", options.node, options.site), opener.end, links.end),
    ):
        (role,) = process.roles
        addresses = {"role": role.role, "door": getattr(role, "address", None), "admin": admin.address}
        renew_keys = key_reload(keys, fetch, log)
        with stopped_by_signals(all_of(opener.on_hang_up, renew_keys, links.on_hang_up, process.on_hang_up)) as stopped:
            click.echo(msgspec.json.encode(addresses) if as_json else f"{role.role} {role.site}/{role.node} at {addresses['door']}")
            await stopped.wait()
        await process.drain()


async def _verifier(file: ProcessFile, keys: Keys) -> tuple[Verifier, Callable[[], None]]:
    """Returns what checks tokens, and what has public keys fetched.

    They are fetched now, and again where a token names a key that is not known.
    """
    refreshing: set[asyncio.Task[Any]] = set()  # the event loop holds tasks weakly

    def refresh() -> None:
        task = asyncio.ensure_future(keys.refresh())
        refreshing.add(task)
        task.add_done_callback(refreshing.discard)

    if file.auth.jwks_url:
        await keys.refresh()
    return Verifier(file.auth, keys, refresh), refresh


def _with_processes(single: click.Command) -> click.Command:
    """Returns `single` with an option that runs several processes on one port: the kernel spreads the clients (SO_REUSEPORT)."""

    @click.pass_context
    def run_many(context: click.Context, /, processes: int, **arguments: Any) -> None:
        if processes == 1:
            context.invoke(single.callback, **arguments)  # type: ignore[arg-type]
        else:
            context.exit(_run_processes(str(single.name), processes, **arguments))

    many = click.option("--processes", default=1, type=click.IntRange(1, MAX_LINKS), show_default=True, help="Processes on one port.")
    command = click.Command(single.name, callback=run_many, params=list(single.params), help=single.help)
    return many(command)


def _run_processes(role: str, processes: int, path: Path, settings: tuple[str, ...], as_json: bool, shared_ports: bool) -> int:
    """Runs processes with names and admin ports of their own. Returns their exit code."""
    options: Any
    _, options = read(path, role, parse_settings(settings))
    if Address.parse(options.door).port == 0:
        raise ConfigError(f"{role}.door needs a port that is not 0, so that all processes share it")
    admin = Address.parse(options.admin)
    commands = []
    for n in range(processes):
        port = admin.port + n if admin.port else 0
        mine = [f'{role}.node="{options.node}-{n + 1}"', f'{role}.admin="{admin.host}:{port}"', f"{role}.reuse_port=true"]
        arguments = [item for setting in (*settings, *mine) for item in ("--set", setting)]
        flags = ["--json"] * as_json + ["--shared-ports"] * shared_ports
        commands.append(["-m", "segue", role, "--config", str(path), *arguments, *flags])
    return run_side_by_side(commands)


def __getattr__(name: str) -> click.Command:
    """Returns the command of the role `name`, so that `segue.cli.role:broker` is a place as that of any other command."""
    if name not in ROLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command(name)
