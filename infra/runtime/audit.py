"""The audit log: a line for each change that an operator makes, that is only ever added to.

A line is one JSON object and one write to a file opened for appending: two processes may share the file, and a crash leaves whole lines.
The file is readable by its owner alone. It is rotated by size; a few older files are kept beside it, with numbers behind their names. It
never names a token, a secret or a payload: who made the change is the name and the id of the token that was shown.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.kernel.option_checks import check_numbers

from .logs import Logger
from .whole_file import append_whole

MODE: Final = 0o600
MAX_VALUE_CHARS: Final = 300


class AuditOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the table `[audit]`.

    - `path`: the file. Without it, changes are lines of the ordinary log.
    - `max_bytes`: when a file is larger than this, a new one is begun.
    - `files`: how many files are kept, the newest included.
    """

    path: Path | None = None
    max_bytes: int = 16 << 20
    files: int = 8

    def check(self) -> None:
        """Raises ConfigError when a number cannot be used."""
        check_numbers("audit", self)
        if self.files < 2:
            raise ConfigError(f"audit.files is {self.files}; 2 is the least, or a rotation would throw away what was written last")


class AuditedService(Protocol):
    """Whoever makes a change, as their token names them."""

    @property
    def name(self) -> str:
        """The name of the service."""

    @property
    def id(self) -> str:
        """The id of the token, "" if it has none."""


class AuditLog:
    """The audit log of one process. `log` gets the lines where the options name no file, and what goes wrong with the file."""

    def __init__(self, options: AuditOptions, log: Logger, wall: Callable[[], float] = time.time) -> None:
        self.failures = 0
        self._options, self._log, self._wall = options, log, wall

    @contextmanager
    def change(self, who: AuditedService, what: str, on: Sequence[str], *, address: str) -> Iterator[dict[str, Any]]:
        """Adds a line when the block ends in which the change is made, also when it was refused or failed.

        - `who`, `what`, `address`: see `write`.
        - `on`: the words for whom or what it is about; the block may still add some.

        The block gets a dictionary for the `details`.
        """
        result = "internal-error"
        details: dict[str, Any] = {}
        try:
            yield details
            result = "ok"
        except Refused as refused:
            result = refused.code.name
            raise
        except Unavailable:
            result = "unavailable"
            raise
        finally:
            self.write(who, what, " ".join(on) or "-", address=address, result=result, **details)

    def write(self, who: AuditedService, what: str, on: str, *, address: str, result: str, **details: str | float | bool | None) -> None:
        """Adds a line.

        - `who`: made the change; `address` is where they asked from.
        - `what`: the change, such as "disconnect"; `on` is whom or what it is about.
        - `result`: "ok", or the name of the code with which it was refused.
        - `details`: numbers and short words, never what a client has sent as a payload.

        A line that cannot be written is an error in the ordinary log, with the same words; the change is made all the same.
        """
        words: dict[str, Any] = {
            "who": who.name,
            "token_id": who.id,
            "what": what,
            "on": on,
            "from": address,
            "result": result,
            **details,
        }
        words = {key: value[:MAX_VALUE_CHARS] if isinstance(value, str) else value for key, value in words.items()}
        if self._options.path is None:
            self._log.info("audit", **words)
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self._wall())) + "Z"
        try:
            self._append(self._options.path, msgspec.json.encode({"ts": at, **words}) + b"\n")
        except OSError as trouble:
            self.failures += 1
            self._log.error("the audit log cannot be written", path=str(self._options.path), reason=trouble.strerror, **words)

    def _append(self, path: Path, line: bytes) -> None:
        # Opened for each line: changes are rare, and another process may have rotated the file since the last one.
        while True:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not _is_same(descriptor, path):
                    continue  # it was rotated while we waited for the lock
                if 0 < os.fstat(descriptor).st_size > self._options.max_bytes - len(line):
                    self._rotate(path)
                    continue
                append_whole(descriptor, line)
                return
            finally:
                os.close(descriptor)

    def _rotate(self, path: Path) -> None:
        """Gives every file the next number; the last one is overwritten by the one before it. The lock of the newest is held."""
        names = [path, *(path.with_name(f"{path.name}.{n}") for n in range(1, self._options.files))]
        for older, newer in zip(reversed(names[1:]), reversed(names[:-1]), strict=True):
            if newer.exists():
                newer.replace(older)


def _is_same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
