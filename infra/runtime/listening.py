"""Addresses that a process wants to listen at and cannot have."""

from collections.abc import Iterator
from contextlib import contextmanager

from infra.kernel.errors import ConfigError

from .network_reason import network_reason


class CannotListen(ConfigError):  # noqa: N818 - it says what happened
    """A ConfigError: nobody can listen at `address`, for the `reason`. `option` is where it is configured."""

    def __init__(self, option: str, address: str, reason: str) -> None:
        self.address, self.reason = address, reason
        super().__init__(f"{option}: cannot listen on {address} ({reason}); choose another address, or port 0 for a free one")


@contextmanager
def listening(option: str, address: str) -> Iterator[None]:
    """Raises CannotListen, which names the `address` and its `option`, for an OSError of the block."""
    try:
        yield
    except OSError as error:
        raise CannotListen(option, address, network_reason(error)) from error
