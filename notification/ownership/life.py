"""The name of one life of a node, in a file that is locked while the process lives.

The lock tells the next process under the node's name that the former life has ended, however it ended. So it need not wait
until others take that life for dead.
"""

import fcntl
import secrets
from pathlib import Path

from infra.kernel.errors import ConfigError
from infra.runtime.private_folder import make_private


class Life:
    """A life of a node: `name` is its own, `former` that of the life before ("": none is known)."""

    def __init__(self, folder: Path, site: str, node: str) -> None:
        """Raises ConfigError when another process has the same folder and name, or the folder cannot be used."""
        path = folder / f"{site}-{node}.life"
        self._label = f"{site}/{node}"
        try:
            make_private(folder)
            self._file = path.open("a+", encoding="utf-8")
            path.chmod(0o600)
        except OSError as error:
            raise ConfigError(f"notification.path: {path} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise ConfigError(f"{path} is in use: give each notification node its own name (notification.node)") from None
        self._file.seek(0)
        self.former = self.name = self._file.read()
        self.renew()

    def renew(self) -> None:
        """Begins a new life: the one before has ended."""
        self.former, self.name = self.name, f"{self._label}#{secrets.token_hex(6)}"
        self._file.truncate(0)
        self._file.write(self.name)
        self._file.flush()

    def close(self) -> None:
        """Lets another process go on under the node's name. May be called twice."""
        self._file.close()
