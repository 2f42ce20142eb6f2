"""The state directory, where the signing secret of this machine lives."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.kernel.errors import ConfigError
from infra.runtime.private_folder import make_private
from infra.runtime.secret_file import PREVIOUS_FILE
from infra.runtime.tokens import AuthOptions, Keys, ensure_secret, read_secret


def default_state() -> Path:
    """Returns the state directory that is used without `--state`: `$XDG_STATE_HOME/segue`, or `~/.local/state/segue`."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "segue"


@contextmanager
def held(state: Path) -> Iterator[None]:
    """Keeps `state` for this process while the block runs. Raises ConfigError when another one has it."""
    make_private(state)
    with (state / "up.lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"another segue up uses the state in {state}; give this one its own: --state DIR --port-base N") from None
        yield


def secret_of(state: Path) -> bytes:
    """Returns the signing secret in `state`. The first call makes it (mode 0600). Raises ConfigError if others can read it."""
    return read_secret(ensure_secret(state))


def keys_of(state: Path) -> Keys:
    """Returns the keys in `state`: the signing secret, and the one before it if it was changed. Makes and raises as `secret_of`."""
    return Keys.load(AuthOptions(secret_file=ensure_secret(state), previous_secret_file=state / PREVIOUS_FILE))
