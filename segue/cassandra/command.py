"""`segue cassandra`: a real server for this machine, in one command."""

from pathlib import Path
from typing import Final, get_args

import click

from ..cli.state import default_state
from .server import Server
from .settings import HOST, Sync

NOT_RUNNING: Final = 3

_dir_option = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: default_state() / "cassandra",
    show_default="cassandra in the state directory",
    help="Everything of the server: settings, data, logs. Remove it to forget all.",
)


@click.group()
def cassandra() -> None:
    """Run a real Cassandra server on this machine (Java 17; Maven at the first start)."""


@cassandra.command()
@_dir_option
@click.option("--port", type=click.IntRange(0, 65535), help="For CQL clients; 0 takes a free one.  [default: as last time, or 9042]")
@click.option("--heap", help="The most memory for the Java heap, as 512M or 2G.  [default: as last time, or 512M]")
@click.option(
    "--sync",
    type=click.Choice(get_args(Sync)),
    help="When a write is acknowledged: periodic, at once; batch, when the disk has it.  [default: as last time, or periodic]",
)
def start(folder: Path, port: int | None, heap: str | None, sync: Sync | None) -> None:
    """Start it in the background and wait until it answers."""
    server = Server(folder, port, sync, heap)
    if port is None and server.settings is None:
        server = Server(folder, 9042, sync, heap)
    if server.pid is None:
        click.echo("Starting Cassandra; the first start on a machine fetches 70 MB of jars ...", err=True)
    server.start()
    _tell(server)


@cassandra.command()
@_dir_option
@click.option("--kill", is_flag=True, help="End it as a crash does.")
def stop(folder: Path, kill: bool) -> None:
    """Stop it; the data stays."""
    server = Server(folder)
    pid = server.pid
    if pid is None:
        click.echo(f"no Cassandra runs in {folder}")
    else:
        server.kill() if kill else server.stop()
        click.echo(f"Cassandra (process {pid}) {'was killed' if kill else 'has stopped'}")


@cassandra.command()
@_dir_option
@click.pass_context
def status(context: click.Context, folder: Path) -> None:
    """Say whether it runs; the exit status is 0 if it answers, 3 if not."""
    server = Server(folder)
    if server.pid is None:
        click.echo(f"no Cassandra runs in {folder}")
    elif server.answers():
        _tell(server)
        return
    else:
        click.echo(f"Cassandra (process {server.pid}) runs in {folder} and does not answer yet")
    context.exit(NOT_RUNNING)


def _tell(server: Server) -> None:
    settings = server.settings
    assert settings is not None
    click.echo(f"Cassandra answers at {HOST}:{settings.port} (process {server.pid}, sync {settings.sync}, {server.dir})")
