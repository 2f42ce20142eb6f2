"""Files that an operator names in the options: read, and refused where they hold a secret that everybody may read."""

from pathlib import Path

from infra.kernel.errors import ConfigError

from .private_folder import OTHERS


def read_given(path: Path) -> bytes:
    """Returns what is in the file at `path`. Raises ConfigError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def check_closed(path: Path) -> None:
    """Raises ConfigError when every user of this machine may read the file at `path`, which holds a secret."""
    try:
        mode = path.stat().st_mode & 0o777
    except OSError as error:
        raise _unreadable(path, error) from None
    if mode & OTHERS:
        raise ConfigError(f"{path} can be read by every user of this machine (mode {mode:o}); run: chmod 600 {path}")


def read_closed(path: Path) -> bytes:
    """Returns the secret in the file at `path`. Raises ConfigError, also when every user of this machine may read it."""
    check_closed(path)
    return read_given(path)


def read_password(option: str, path: Path) -> str:
    """Returns the password in the file at `path`, which `option` names: its first line. Raises ConfigError as `read_closed`.

    Raises it also for a file that is empty, or no UTF-8.
    """
    try:
        password = read_closed(path).decode().partition("\n")[0].rstrip("\r")
    except ConfigError as error:
        raise ConfigError(f"{option}: {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{option}: {path} is not UTF-8") from None
    if not password:
        raise ConfigError(f"{option}: {path} is empty; write the password into it, and nothing else")
    return password


def _unreadable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path} cannot be read: {error.strerror}")
