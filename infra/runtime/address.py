"""Addresses, at which a process listens or a peer is found: host and port, written `127.0.0.1:7811` or `[::1]:7811`."""

from typing import Self

from infra.kernel.errors import ConfigError
from infra.kernel.public_address import is_this_machine


class Address(tuple[str, int]):
    """A frozen `(host, port)`, which unpacks as such. Port 0 means: pick a free one."""

    # No named tuple or dataclass: msgspec would expect an array or a table where the file has a string.

    __slots__ = ()

    def __new__(cls, host: str, port: int) -> Self:
        return super().__new__(cls, (host, port))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Returns the address that `text` names. Raises `ConfigError` that shows the form."""
        host, _, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if not host or (":" in host) != bracketed or not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise ConfigError(f"an address is host:port, for example 127.0.0.1:7811 (port 0 picks a free one); got {text!r}")
        return cls(host, int(port))

    @property
    def host(self) -> str:
        return self[0]

    @property
    def port(self) -> int:
        return self[1]

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it. Of names, that is true of `localhost` alone."""
        return is_this_machine(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
