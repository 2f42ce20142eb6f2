"""Segue in the compositions that are measured."""

import http.client
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import tomli_w

from infra.kernel.link_handshake import node_name
from segue.cli.state import secret_of
from segue.cluster.ports import Ports

from ..feeder import SITE
from ..meter import children
from ..plan import Target
from ..process import BenchError, Spawned, spawned
from ..setting import BenchSetting
from .link_files import Proved, link_auth
from .pair import bench_pair

READY_S: Final = 15.0
POLL_S: Final = 0.02
NODES: Final = [node_name(SITE, *node) for node in (("broker", "b1"), ("aggregator", "a1"), ("accesspoint", "ap1"))]
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
max_events_per_s = 1000000
max_topic_events_per_s = 1000000

# All come from this machine, and as fast as they can: that is what is measured.
[broker.visitors]
new_per_s = 1000000
proxies = ["127.0.0.1"]

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
door = "{door}"
admin = "127.0.0.1:0"

[accesspoint.visitors]
new_per_s = 1000000
proxies = ["127.0.0.1"]
"""


@contextmanager
def one_process(setting: BenchSetting, arguments: Sequence[str] = ()) -> Iterator[Target]:
    """Runs `segue up`: every role in one process. `arguments` are added to the command."""
    command = [sys.executable, "-m", "segue", "up", "--state", str(setting.state), "--port-base", "0", "--log-level", "error", "--json"]
    policy = [] if "--policy" in arguments else ["--policy", "open"]
    with spawned([*command, *policy, *arguments], setting.server_core) as process:
        said = msgspec.json.decode(process.line())
        yield Target(
            speaks="segue",
            clients_at=urlsplit(said["clients"][0]).netloc,
            publish_at=urlsplit(said["services"][0]).netloc,
            admin_at=urlsplit(said["admin"]).netloc,
            pids=[process.pid],
            state=str(setting.state),
        )


@contextmanager
def three_processes(
    setting: BenchSetting, accesspoints: int = 1, links: Proved = "open", arguments: Sequence[str] = ()
) -> Iterator[Target]:
    """Runs broker, aggregator and access point as processes of their own, in this order in `pids`.

    - `accesspoints`: several share one port.
    - `links`: how links, which are TCP, are proved. With "tls" they are encrypted, too.
    - `arguments`: are added to the broker's command.
    """
    with ExitStack() as stack:
        ports = stack.enter_context(Ports())
        door = ports.take() if accesspoints > 1 else "127.0.0.1:0"
        config = _configure(setting, broker=ports.take(), aggregator=ports.take(), door=door)
        config.write_text(config.read_text() + link_auth(setting.scratch, links, NODES))
        broker, broker_said = _role(stack, setting, config, "broker", arguments)
        aggregator, _ = _role(stack, setting, config, "aggregator", [])
        many = ["--processes", str(accesspoints)] if accesspoints > 1 else []
        point, said = _role(stack, setting, config, "accesspoint", many)
        for _ in range(accesspoints - 1):
            _await_ready(point, _said(point))
        yield Target(
            speaks="segue",
            clients_at=said["door"],
            publish_at=broker_said["door"],
            admin_at=urlsplit(said["admin"]).netloc,
            pids=[broker.pid, aggregator.pid, *(children(point.pid) if many else [point.pid])],
            state=str(setting.state),
        )


@contextmanager
def access_point(setting: BenchSetting, *, tls: bool = False) -> Iterator[Target]:
    """Runs one access point that looks for its aggregator at `publish_at`. Whoever listens there feeds it. With `tls` its door is TLS."""
    with ExitStack() as stack:
        feeder = stack.enter_context(Ports()).take()
        config = _configure(setting, broker=feeder, aggregator=feeder, door="127.0.0.1:0")
        pair = bench_pair(setting) if tls else None
        if pair is not None:
            table = f'\n[tls]\ncertificate = "{pair.certificate}"\nkey = "{pair.key}"\nplain_admin = true\n'
            config.write_text(config.read_text() + table)
        process = stack.enter_context(spawned(_command(config, "accesspoint", []), setting.server_core))
        said = _said(process)
        yield Target(
            speaks="segue",
            clients_at=said["door"],
            publish_at=feeder,
            admin_at=urlsplit(said["admin"]).netloc,
            pids=[process.pid],
            state=str(setting.state),
            ca_file=str(pair.ca_file) if pair is not None else "",
        )


@contextmanager
def one_process_over_tls(setting: BenchSetting) -> Iterator[Target]:
    """Runs `segue up` with a certificate at all its doors."""
    pair = bench_pair(setting)
    with one_process(setting, ["--tls-cert", str(pair.certificate), "--tls-key", str(pair.key)]) as target:
        yield msgspec.structs.replace(target, ca_file=str(pair.ca_file))


@contextmanager
def upstream_only(setting: BenchSetting) -> Iterator[tuple[str, list[int]]]:
    """Runs broker and aggregator as two processes. Yields the aggregator's link address, and their process ids."""
    with ExitStack() as stack:
        ports = stack.enter_context(Ports())
        link = ports.take()
        config = _configure(setting, broker=ports.take(), aggregator=link, door="127.0.0.1:0")
        broker, _ = _role(stack, setting, config, "broker", [])
        aggregator, _ = _role(stack, setting, config, "aggregator", [])
        yield link, [broker.pid, aggregator.pid]


class RingSite:
    """Brokers of one site and an aggregator, each a process on the server's core, within `with ring_site(setting, slots) as site:`.

    `aggregator` is the address at which access points dial, `doors` are those of services, by slot. `pids` are all processes.
    """

    def __init__(self, stack: ExitStack, setting: BenchSetting, slots: Sequence[str], broker: Mapping[str, Any]) -> None:
        ports = stack.enter_context(Ports())
        self.aggregator = ports.take()
        self.doors: dict[str, str] = {}
        self.pids: list[int] = []
        self._stack, self._setting = stack, setting
        config = _configure(setting, broker="", aggregator=self.aggregator, door="127.0.0.1:0")
        addresses = {slot: ports.take() for slot in slots}
        self._configs = {slot: setting.scratch / f"{slot}.toml" for slot in slots}
        for slot, path in self._configs.items():
            table = tomllib.loads(config.read_text())
            table["broker"] |= {"slot": slot, "sites": {SITE: addresses}, **broker}
            table["aggregator"]["brokers"] = addresses
            path.write_text(tomli_w.dumps(table))

    def start(self, slots: Sequence[str]) -> None:
        """Starts brokers together, and waits until each of them is ready. Raises `BenchError`."""
        started = [(slot, self._spawn("broker", slot)) for slot in slots]
        for slot, process in started:
            said = _said(process)
            self.doors[slot] = said["door"]
            _await_ready(process, said)

    def start_aggregator(self) -> None:
        """Starts the aggregator, and waits until it is ready. Raises `BenchError`."""
        self._start("aggregator")

    def start_access_point(self) -> dict[str, Any]:
        """Starts an access point, and returns what it says when it is ready. Raises `BenchError`."""
        return self._start("accesspoint")

    def _start(self, role: str) -> dict[str, Any]:
        process = self._spawn(role, next(iter(self._configs)))
        said = _said(process)
        _await_ready(process, said)
        return said

    def _spawn(self, role: str, slot: str) -> Spawned:
        process = self._stack.enter_context(spawned(_command(self._configs[slot], role, []), self._setting.server_core))
        self.pids.append(process.pid)
        return process


@contextmanager
def ring_site(setting: BenchSetting, slots: Sequence[str], broker: Mapping[str, Any] = MappingProxyType({})) -> Iterator[RingSite]:
    """Prepares a site with these slots, none of which runs yet, and without an aggregator. `broker`: more options of the brokers."""
    with ExitStack() as stack:
        yield RingSite(stack, setting, slots, broker)


@contextmanager
def two_brokers(setting: BenchSetting, broker: Mapping[str, Any]) -> Iterator[Target]:
    """Runs two brokers with the options `broker`, an aggregator and an access point. It is published to the first broker."""
    with ring_site(setting, ["b1", "b2"], broker) as site:
        site.start(["b1", "b2"])
        site.start_aggregator()
        said = site.start_access_point()
        yield Target(
            speaks="segue",
            clients_at=said["door"],
            publish_at=site.doors["b1"],
            admin_at=urlsplit(said["admin"]).netloc,
            pids=site.pids,
            state=str(setting.state),
        )


def _configure(setting: BenchSetting, *, broker: str, aggregator: str, door: str) -> Path:
    secret_of(setting.state)
    path = setting.scratch / "segue.toml"
    secret = setting.state / "secret.key"
    path.write_text(_CONFIG.format(secret=secret, site=SITE, broker=broker, aggregator=aggregator, door=door))
    return path


def _command(config: Path, role: str, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "segue", role, "--config", str(config), "--json", "--shared-ports", *arguments]


def _role(stack: ExitStack, setting: BenchSetting, config: Path, role: str, arguments: Sequence[str]) -> tuple[Spawned, dict[str, Any]]:
    process = stack.enter_context(spawned(_command(config, role, arguments), setting.server_core))
    said = _said(process)
    _await_ready(process, said)
    return process, said


def _said(process: Spawned) -> dict[str, Any]:
    said: dict[str, Any] = msgspec.json.decode(process.line())
    return said


def _await_ready(process: Spawned, said: dict[str, Any]) -> None:
    deadline_s = time.monotonic() + READY_S
    where = urlsplit(said["admin"]).netloc
    while time.monotonic() < deadline_s:
        status, body = get(where, "/readyz")
        if status == http.HTTPStatus.OK:
            return
        time.sleep(POLL_S)
    raise process.failure(f"not ready after {READY_S:g} s: {body.decode()}")


def get(address: str, path: str) -> tuple[int, bytes]:
    """Makes one HTTP request to an admin listener. Returns the status and the body. Raises OSError."""
    connection = http.client.HTTPConnection(address, timeout=READY_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def counters(target: Target, role: str) -> dict[str, Any]:
    """Returns the counters of the first `role` of `target`. Raises `BenchError` if there is none."""
    status, body = get(target.admin_at, "/v1/stats")
    for each in msgspec.json.decode(body).get("roles", ()):
        if each["role"] == role:
            found: dict[str, Any] = each["counters"]
            return found
    raise BenchError(f"/v1/stats answers {status} and tells of no {role}: {body[:200]!r}")
