"""The stored path: a notification module as a process of its own, and beside it the engine that carries its live copies."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from segue.cli.state import secret_of
from segue.cluster.ports import Ports

from ..feeder import SITE
from ..process import BenchError, Spawned, spawned
from ..setting import BenchSetting
from .segue import POLL_S, READY_S, get

StoreName = Literal["sqlite", "cassandra"]

ROLES: Final = ("broker", "presence", "notification", "aggregator", "accesspoint")
_CONFIG: Final = """
[auth]
secret_file = "{secret}"

[log]
level = "error"

[broker]
site = "{site}"
slot = "b1"
sites = {{ {site} = {{ b1 = "{broker}" }} }}
door = "127.0.0.1:0"
admin = "127.0.0.1:0"

[presence]
site = "{site}"
node = "p1"
brokers = {{ b1 = "{broker}" }}
listen = "{presence}"
admin = "127.0.0.1:0"

[notification]
site = "{site}"
node = "n1"
brokers = {{ b1 = "{broker}" }}
presence = ["{presence}"]
listen = "{notification}"
door = "127.0.0.1:0"
admin = "127.0.0.1:0"
store = "{store}"
path = "{path}"

# What is measured is how fast the module is, and not how fast one service may be.
[notification.web]
user_requests_per_s = 1000000.0
user_burst = 1000000.0
service_requests_per_s = 1000000.0
service_burst = 1000000.0

[notification.cassandra]
port = {port}
keyspace = "{keyspace}"

[aggregator]
site = "{site}"
node = "a1"
brokers = {{ b1 = "{broker}" }}
listen = "{aggregator}"
admin = "127.0.0.1:0"

[accesspoint]
policy = "open"
site = "{site}"
node = "ap1"
aggregators = ["{aggregator}"]
services = {{ presence = ["{presence}"], notification = ["{notification}"] }}
door = "127.0.0.1:0"
admin = "127.0.0.1:0"
"""


class StoredSite(msgspec.Struct, frozen=True, kw_only=True):
    """A running site. Addresses are host:port.

    - `clients_at`, `publish_at`: the access point for clients, the broker for services.
    - `notify_at`, `admin_at`, `pid`: of the notification module.
    - `state`: the folder with the secret of tokens.
    - `store`: which store it has.
    - `path`: the folder with the SQLite file.
    - `port`, `keyspace`: of Cassandra.
    """

    clients_at: str
    publish_at: str
    notify_at: str
    admin_at: str
    pid: int
    state: str
    store: StoreName
    path: str
    port: int
    keyspace: str


@contextmanager
def stored(setting: BenchSetting, store: StoreName, port: int) -> Iterator[StoredSite]:
    """Runs the notification module alone on the server's core, and all other roles on the generator's. Nothing is stored yet.

    - `setting`: the cores and folders.
    - `store`: the store of the module.
    - `port`: of the Cassandra server; means nothing with SQLite.
    """
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="stored-", dir=setting.scratch))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        keyspace = folder.name.replace("-", "_").lower()
        config = _configure(setting, folder, stack.enter_context(Ports()), store=store, port=port, keyspace=keyspace)
        running = {role: stack.enter_context(_spawned(setting, config, role)) for role in ROLES}
        said = {role: msgspec.json.decode(process.line()) for role, process in running.items()}
        for role, process in running.items():
            _await_ready(process, said[role])
        target = StoredSite(
            clients_at=said["accesspoint"]["door"],
            publish_at=said["broker"]["door"],
            notify_at=said["notification"]["door"],
            admin_at=urlsplit(said["notification"]["admin"]).netloc,
            pid=running["notification"].pid,
            state=str(setting.state),
            store=store,
            path=str(folder),
            port=port,
            keyspace=keyspace,
        )
        try:
            yield target
        except BenchError as trouble:
            trouble.add_note(str(running["notification"].failure("said meanwhile")))
            raise


def _configure(setting: BenchSetting, folder: Path, ports: Ports, **store: Any) -> Path:
    secret_of(setting.state)
    links = {role: ports.take() for role in ("broker", "presence", "notification", "aggregator")}
    config = folder / "segue.toml"
    config.write_text(_CONFIG.format(secret=setting.state / "secret.key", site=SITE, path=folder, **links, **store))
    return config


def _spawned(setting: BenchSetting, config: Path, role: str) -> Any:
    core = setting.server_core if role == "notification" else setting.generator_core
    return spawned([sys.executable, "-m", "segue", role, "--config", str(config), "--json", "--shared-ports"], core)


def _await_ready(process: Spawned, said: dict[str, Any]) -> None:
    deadline_s = time.monotonic() + READY_S
    where = urlsplit(said["admin"]).netloc
    while time.monotonic() < deadline_s:
        status, body = get(where, "/readyz")
        if status == HTTPStatus.OK:
            return
        time.sleep(POLL_S)
    raise process.failure(f"not ready after {READY_S:g} s: {body.decode()}")
