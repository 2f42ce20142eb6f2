"""The peers: what each needs, how it starts, and how a generator publishes to it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ..dialects.nats import TOKEN
from ..plan import Publishing, Target
from ..process import ROOT, spawned
from ..setting import BenchSetting
from .pair import bench_pair
from .ports import await_port, free_port

_NATS: Final = """
listen: "127.0.0.1:{tcp}"
authorization {{ token: "{token}", timeout: 60 }}
websocket {{ listen: "127.0.0.1:{ws}", {tls} }}
{more}
"""
_MOSQUITTO: Final = """
persistence false
log_type error
listener {tcp} 127.0.0.1
allow_anonymous true
listener {ws} 127.0.0.1
socket_domain ipv4
protocol websockets
allow_anonymous true
"""


class Peer(NamedTuple):
    """A server to compare with.

    - `missing`: says what is not installed; "" if nothing.
    - `start`: runs it while a block lasts.
    - `publishing`, `publishers`: how a generator publishes, and on how many connections.
    """

    missing: Callable[[BenchSetting], str]
    start: Callable[[BenchSetting], AbstractContextManager[Target]]
    publishing: Publishing
    publishers: int


def _lacks_program(name: str) -> Callable[[BenchSetting], str]:
    return lambda setting: "" if setting.program(name) else f"absent: there is no {name} on PATH or in --peers-dir"


@contextmanager
def _nats(setting: BenchSetting, tls: str = "no_tls: true", more: str = "") -> Iterator[Target]:
    tcp, ws = free_port(), free_port()
    config = setting.scratch / "nats.conf"
    config.write_text(_NATS.format(tcp=tcp, ws=ws, token=TOKEN, tls=tls, more=more))
    with spawned([_program(setting, "nats-server"), "-c", str(config)], setting.server_core) as process:
        await_port(process, tcp)
        await_port(process, ws)
        yield Target(speaks="nats", clients_at=f"127.0.0.1:{ws}", publish_at=f"127.0.0.1:{tcp}", pids=[process.pid])


@contextmanager
def nats_over_tls(setting: BenchSetting) -> Iterator[Target]:
    """Runs NATS with a certificate at its door for WebSockets. Publishers speak plain TCP to it."""
    pair = bench_pair(setting)
    with _nats(setting, f'tls {{ cert_file: "{pair.certificate}", key_file: "{pair.key}" }}') as target:
        yield msgspec.structs.replace(target, ca_file=str(pair.ca_file))


@contextmanager
def nats_with_streams(setting: BenchSetting) -> Iterator[Target]:
    """Runs NATS with JetStream, for streams in memory."""
    with _nats(setting, more=f'jetstream {{ store_dir: "{setting.scratch}", max_memory_store: 1G }}') as target:
        yield target


@contextmanager
def _mosquitto(setting: BenchSetting) -> Iterator[Target]:
    tcp, ws = free_port(), free_port()
    config = setting.scratch / "mosquitto.conf"
    config.write_text(_MOSQUITTO.format(tcp=tcp, ws=ws))
    with spawned([_program(setting, "mosquitto"), "-c", str(config)], setting.server_core) as process:
        await_port(process, tcp)
        await_port(process, ws)
        yield Target(speaks="mosquitto", clients_at=f"127.0.0.1:{ws}", publish_at=f"127.0.0.1:{tcp}", pids=[process.pid])


@contextmanager
def _naive(setting: BenchSetting) -> Iterator[Target]:
    python = python_with(setting, "aiohttp, redis")
    assert python is not None
    store, port = free_port(), free_port()
    redis = [_program(setting, "redis-server"), "--bind", "127.0.0.1", "--port", str(store), "--save", "", "--appendonly", "no"]
    with (
        spawned([*redis, "--dir", str(setting.scratch)], setting.server_core) as database,
        spawned([python, str(ROOT / "bench" / "naive.py"), str(port), str(store)], setting.server_core) as process,
    ):
        await_port(database, store)
        await_port(process, port)
        where = f"127.0.0.1:{port}"
        yield Target(speaks="naive", clients_at=where, publish_at=where, pids=[process.pid, database.pid])


def _lacks_for_naive(setting: BenchSetting) -> str:
    if not setting.program("redis-server"):
        return "absent: there is no redis-server on PATH or in --peers-dir"
    if python_with(setting, "aiohttp, redis") is None:
        return "absent: the Python package redis is not installed here or in a venv in --peers-dir"
    return ""


def python_with(setting: BenchSetting, packages: str) -> str | None:
    """Returns a Python that can import `packages`, such as "aiohttp, redis": a venv's in the peers' directories, or this one."""
    venvs = [str(directory / "venv" / "bin" / "python") for directory in setting.peers_dirs]
    for python in (*venvs, sys.executable):
        if Path(python).exists() and not subprocess.run([python, "-c", f"import {packages}"], capture_output=True).returncode:
            return python
    return None


def _program(setting: BenchSetting, name: str) -> str:
    found = setting.program(name)
    assert found is not None, name
    return found


PEERS: Final = {
    "nats": Peer(_lacks_program("nats-server"), _nats, "tcp", 4),
    "mosquitto": Peer(_lacks_program("mosquitto"), _mosquitto, "tcp", 4),
    "naive": Peer(_lacks_for_naive, _naive, "single", 32),
}
