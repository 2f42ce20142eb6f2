"""The files of shared secrets: read, made, and changed without a moment in which there is none."""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

import jwt

from infra.kernel.errors import ConfigError

from .given_file import read_closed
from .private_folder import make_private
from .whole_file import write_new

SECRET_FILE: Final = "secret.key"  # noqa: S105 - the name of a file
PREVIOUS_FILE: Final = "secret.previous.key"
NEXT_FILE: Final = "secret.next.key"
MIN_SECRET_BYTES: Final = 32  # RFC 7518, 3.2: as long as the hash


def read_secret(path: Path) -> bytes:
    """Returns the shared secret in `path`. Raises `ConfigError` when it is short, or when everybody on the machine may read it."""
    data = read_closed(path).strip()
    if len(data) < MIN_SECRET_BYTES:
        raise ConfigError(f"{path} holds {len(data)} bytes; a secret needs at least {MIN_SECRET_BYTES}: openssl rand -hex 32 > {path}")
    try:
        jwt.get_algorithm_by_name("HS256").prepare_key(data)
    except jwt.InvalidKeyError:
        raise ConfigError(f"{path} holds a public or private key, not a secret; public keys go into auth.jwks_file") from None
    return data


def ensure_secret(state_dir: Path) -> Path:
    """Returns the secret file of `state_dir`, made with random content and mode 0600 where there is none. Raises as `read_secret`."""
    path = state_dir / SECRET_FILE
    try:
        create_secret(path)
    except OSError as error:
        raise ConfigError(f"the state directory {state_dir} cannot be used: {error.strerror}; choose another: --state DIR") from None
    read_secret(path)
    return path


def create_secret(path: Path) -> None:
    """Makes a file with random content and mode 0600 at `path`, and its folder, unless they exist. Raises OSError."""
    make_private(path.parent)
    if not path.exists():
        with suppress(FileExistsError):  # another process was first
            write_new(path, secrets.token_hex(MIN_SECRET_BYTES).encode() + b"\n")


def renew_secret(state_dir: Path) -> None:
    """Gives `state_dir` a new secret, and keeps the one before it as `PREVIOUS_FILE`: tokens that it signed stay valid.

    There is a secret at every moment. Raises `ConfigError` for a directory without a good secret, or that is being changed already.
    """
    path, following = state_dir / SECRET_FILE, state_dir / NEXT_FILE
    current = read_secret(path)
    try:
        write_new(following, secrets.token_hex(MIN_SECRET_BYTES).encode() + b"\n")
    except FileExistsError:
        raise ConfigError(f"the secret is being changed by somebody else; if that is not so, remove {following}") from None
    except OSError as error:
        raise ConfigError(f"{following} cannot be written: {error.strerror}") from None
    try:
        forget_previous(state_dir)
        write_new(state_dir / PREVIOUS_FILE, current + b"\n")
        following.replace(path)
    except BaseException:
        following.unlink(missing_ok=True)
        raise


def forget_previous(state_dir: Path) -> bool:
    """Removes the secret before the present one, and returns whether there was one: tokens that it signed are no longer valid."""
    path = state_dir / PREVIOUS_FILE
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there
