"""`segue new-epoch`: an operator says that a notification store was put back from a copy, where the nodes cannot notice it."""

import time
from pathlib import Path
from typing import Final

import click

from infra.kernel.errors import ConfigError
from infra.kernel.roles import NOTIFICATION
from infra.runtime.event_loop import run
from notification.epoch import begin_epoch
from notification.options import NotificationOptions
from notification.stores import open_store

from ..cluster.process_file import read
from .role import parse_settings
from .state import default_state

FILE: Final = "notification.sqlite"


@click.command("new-epoch")
@click.option(
    "--config", "path", type=click.Path(path_type=Path), help="TOML file of a notification node.  [default: as `segue up` stores]"
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override, as for `segue notification`.")
@click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where `segue up` keeps its state.")
def new_epoch(path: Path | None, settings: tuple[str, ...], state: Path) -> None:
    """Begin a new epoch of a notification store, so that every device begins again.

    Do it after the store was put back from a copy together with everything beside it, or in Cassandra, before the nodes start.
    """
    if path is None:
        if settings:
            raise click.UsageError("--set overrides a key of a file; name it with --config")
        options = NotificationOptions(site="", node="", brokers={}, path=state / "store")
    else:
        _, options = read(path, NOTIFICATION, parse_settings(settings))  # type: ignore[assignment]  # of that table
    click.echo(f"the epoch is now {run(_begin(options))}")


async def _begin(options: NotificationOptions) -> int:
    """Begins the epoch and returns it. Raises ConfigError and Unavailable."""
    if options.store == "sqlite" and not (options.path / FILE).exists():
        raise ConfigError(f"there is no {FILE} in {options.path}; name the node's file with --config, or the folder with --state")
    store = await open_store(options, time.time)
    try:
        return await begin_epoch(store, await store.epoch(), time.time)
    finally:
        await store.close()
