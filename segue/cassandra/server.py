"""A Cassandra server as a process of its own, in a folder of its own. It listens on the loopback only, without log-in.

The server outlives the process that started it, until `stop`. All methods block; in a coroutine use `async with Server(...)`, or a
thread.
"""

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from infra.kernel.errors import ConfigError, SegueError
from infra.runtime.stopping import held

from .jars import default_cache, fetch_jars, locked
from .java import find_java
from .jvm import command
from .pid_file import PidFile
from .settings import HOST, ServerSettings, Sync, check_free, free_ports, known, save

START_TIMEOUT_S: Final = 120.0
STOP_TIMEOUT_S: Final = 60.0
_POLL_S: Final = 0.05
_LOG_LINES: Final = 25
# The native protocol, version 4: an OPTIONS request without a body, and how its answer, SUPPORTED, begins.
_OPTIONS: Final = bytes([4, 0, 0, 0, 5, 0, 0, 0, 0])
_SUPPORTED: Final = bytes([0x84, 0, 0, 0, 6])


class ServerFailed(SegueError):  # noqa: N818 - it is an outcome
    """A server that does not do what it was asked. The message ends with its log."""


class Server:
    """The server of the folder `dir`. `start`, `stop` and `kill` may be called in any order, and each of them twice.

    - `port`: for CQL clients; 0 takes a free one, and so does the first start without it.
    - `sync`: when a write is acknowledged.
    - `heap`: the most memory of the Java heap.

    What is None stays as it was at the last start.
    """

    def __init__(self, dir: Path, port: int | None = None, sync: Sync | None = None, heap: str | None = None) -> None:
        self.dir = dir.absolute()
        self._asked = {name: value for name, value in (("port", port), ("sync", sync), ("heap", heap)) if value is not None}
        self._marker = f"-Dsegue.cassandra={self.dir}"
        self._pid_file = PidFile(self.dir / "pid", self._marker)

    @property
    def settings(self) -> ServerSettings | None:
        """The settings of the last start; None before the first."""
        return known(self.dir / "settings.json")

    @property
    def port(self) -> int:
        """The port for CQL clients. Raises ServerFailed before the first start."""
        if (settings := self.settings) is None:
            raise ServerFailed(f"no server was ever started in {self.dir}")
        return settings.port

    @property
    def pid(self) -> int | None:
        """The pid of the server while it runs; None otherwise."""
        return self._pid_file.pid()

    def start(self, timeout_s: float = START_TIMEOUT_S) -> Self:
        """Starts it, unless it runs, and waits until it answers. The first start on a machine fetches the jars.

        Raises ConfigError for what the operator can mend, and ServerFailed if it ends or does not answer in time; one that
        was started here is then ended.
        """
        with locked(self.dir / "lock"):
            if self.pid is None:
                self._start_new(timeout_s)
            else:
                self._check_same()
                self._wait(self.answers, timeout_s)
        return self

    def answers(self) -> bool:
        """Returns whether it speaks CQL now."""
        try:
            with socket.create_connection((HOST, self.port), timeout=2.0) as connection:
                connection.sendall(_OPTIONS)
                return connection.recv(len(_SUPPORTED), socket.MSG_WAITALL) == _SUPPORTED
        except OSError:
            return False

    def stop(self) -> None:
        """Asks it to end, and waits until it has. Raises ServerFailed if it has not within 60 s."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it as a crash does, and waits until it has ended."""
        self._end(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.to_thread(self.stop)

    def _start_new(self, timeout_s: float) -> None:
        environment, settings = dict(os.environ), self._choose()
        program, *arguments = command(settings, self.dir, find_java(environment), fetch_jars(default_cache(environment), environment))
        try:
            self._spawn([program, self._marker, *arguments])
            self._wait(self.answers, timeout_s)
        except BaseException:  # also Ctrl-C
            self.kill()
            raise

    def _check_same(self) -> None:
        settings = self.settings
        for name, value in self._asked.items():
            if (name, value) != ("port", 0) and (now := getattr(settings, name)) != value:
                raise ConfigError(f"the server in {self.dir} runs with {name} {now}; stop it before it is started with {value}")

    def _choose(self) -> ServerSettings:
        """Returns the settings to start with, and writes them to the folder. Raises ConfigError."""
        if any(each in str(self.dir) for each in ':"\\'):
            raise ConfigError(f'{self.dir}: Cassandra takes no folder with one of : " \\ in its path; give another --dir')
        ports = dict(zip(("port", "storage_port"), free_ports(2), strict=True))
        before = self.settings
        kept = {name: getattr(before, name) for name in before.__struct_fields__} if before else {}
        asked = {name: value for name, value in self._asked.items() if (name, value) != ("port", 0)}
        settings = ServerSettings(**(ports | kept | asked))
        settings.check()
        for port in (settings.port, settings.storage_port):
            check_free(port)
        save(self.dir / "settings.json", settings)
        return settings

    def _spawn(self, arguments: list[str]) -> None:
        """Starts the process by a shell that ends at once. So the server is nobody's child: it needs no reaping, and no exit ends it."""
        console = self.dir / "console.log"
        with held(), console.open("w") as log:  # between its start and the end of the block nobody could end it
            shell = ["/bin/sh", "-c", '"$@" >&2 & echo $!', "sh", *arguments]
            done = subprocess.run(  # noqa: S603 - our own command
                shell, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True, check=True
            )
            try:
                self._pid_file.write(int(done.stdout))
            except ProcessLookupError:
                raise ServerFailed(f"the server ended at once\n{self.log_tail()}") from None

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if self.pid is None:
                raise ServerFailed(f"the server ended before it answered\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"the server did not answer within {timeout_s:g} s\n{self.log_tail()}")
            time.sleep(_POLL_S)

    def _end(self, number: signal.Signals) -> None:
        self._pid_file.send(number)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.pid is not None:
            if time.monotonic() > deadline:
                raise ServerFailed(f"the server (process {self.pid}) did not end within {STOP_TIMEOUT_S:g} s\n{self.log_tail()}")
            time.sleep(_POLL_S)

    def log_tail(self) -> str:
        """Returns the last lines of the server's log."""
        lines: list[str] = []
        for name in ("console.log", "server.log"):
            file = self.dir / name
            if file.is_file():
                lines += [f"--- {file}", *file.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]]
        return "\n".join(lines)
