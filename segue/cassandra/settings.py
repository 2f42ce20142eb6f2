"""The settings of a server. They are kept in its folder, so that a later start needs no more than the folder."""

import re
import socket
from pathlib import Path
from string import Template
from typing import Final, Literal, get_args

import msgspec

from infra.kernel.errors import ConfigError
from infra.runtime.whole_file import write_whole

Sync = Literal["periodic", "batch"]

HOST: Final = "127.0.0.1"
# periodic: the client hears "written" at once, and a crash may take back the last 10 s. batch: only when the disk has it.
_COMMITLOG: Final[dict[Sync, str]] = {
    "periodic": "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms",
    "batch": "commitlog_sync: batch",
}
_YAML: Final = Path(__file__).with_name("cassandra.yaml")


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one server. `port` is for CQL clients, `storage_port` for other nodes; it must be there even for one node."""

    port: int
    storage_port: int
    heap: str = "512M"
    sync: Sync = "periodic"

    def check(self) -> None:
        """Raises ConfigError for settings that cannot be."""
        if not re.fullmatch(r"[1-9]\d*[MG]", self.heap):
            raise ConfigError(f"heap {self.heap!r}: write it as 512M or 2G")
        if self.sync not in get_args(Sync):
            raise ConfigError(f"sync {self.sync!r}: it is one of {', '.join(get_args(Sync))}")

    def yaml(self, data: Path) -> str:
        """Returns the text of cassandra.yaml for a server with its data in `data`."""
        values = {"port": self.port, "storage_port": self.storage_port, "data": data, "commitlog": _COMMITLOG[self.sync]}
        return Template(_YAML.read_text(encoding="utf-8")).substitute({"names": "$names", **values})

    @property
    def heap_mb(self) -> int:
        """The greatest heap in MiB."""
        return int(self.heap[:-1]) * (1024 if self.heap.endswith("G") else 1)


def known(file: Path) -> ServerSettings | None:
    """Returns the settings of the last start; None if there was none. Raises ConfigError if the file is not what `save` wrote."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=ServerSettings)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{file} is damaged ({error}): remove its folder, or give another --dir") from None


def save(file: Path, settings: ServerSettings) -> None:
    """Keeps `settings` in `file` for the next start."""
    write_whole(file, msgspec.json.encode(settings))


def free_ports(count: int) -> list[int]:
    """Returns `count` ports of the loopback on which nobody listens just now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def check_free(port: int) -> None:
    """Raises ConfigError if somebody listens on this port of the loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ConfigError(f"port {port} cannot be had ({error.strerror}): give another --port, or 0 for a free one") from None
