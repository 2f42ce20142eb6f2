"""Options of the table `cassandra` of a role: where the store is, and how sure an answer must be."""

import re
from pathlib import Path
from typing import Literal

import msgspec

from infra.kernel.errors import ConfigError

from ..given_file import read_password

Consistency = Literal["ONE", "LOCAL_ONE", "LOCAL_QUORUM", "QUORUM", "EACH_QUORUM", "ALL"]


class CassandraOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The way to one keyspace.

    - `timeout_s`: the patience with one call, its waiting and its retries included.
    - `concurrency`: how many requests may be in flight at once.
    - `replication`: the copies in `datacenter`, used when the keyspace is made.
    - `tls`: connections are encrypted, and the certificate of each node and the address in it are checked.
    - `ca_file`: the authorities that are believed then, as PEM; None: those that the machine trusts.
    - `certificate`, `key`: ours, as PEM, where the nodes ask for one.
    """

    hosts: list[str] = msgspec.field(default_factory=lambda: ["127.0.0.1"])
    port: int = 9042
    keyspace: str = "segue"
    datacenter: str = "datacenter1"
    replication: int = 1
    consistency: Consistency = "LOCAL_QUORUM"
    concurrency: int = 256
    timeout_s: float = 5.0
    username: str | None = None
    password_file: Path | None = None
    tls: bool = False
    ca_file: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Raises ConfigError where the fields do not fit together."""
        if not self.hosts:
            raise ConfigError("cassandra.hosts is empty: name at least one node")
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,47}", self.keyspace):
            raise ConfigError(f"cassandra.keyspace {self.keyspace!r}: it is a letter and up to 47 of a-z 0-9 _")
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", self.datacenter):
            raise ConfigError(f"cassandra.datacenter {self.datacenter!r}: it is made of A-Z a-z 0-9 _ . -")
        if self.replication < 1 or self.timeout_s <= 0:
            raise ConfigError("cassandra.replication and cassandra.timeout_s must be more than 0")
        # A connection numbers 32768 requests; of three quarters it may have to wait for answers that nobody wants any more.
        if not 2 <= self.concurrency <= 8_192:
            raise ConfigError(f"cassandra.concurrency {self.concurrency}: it is 2 to 8192")
        if (self.username is None) != (self.password_file is None):
            raise ConfigError("cassandra.username and cassandra.password_file are given both or not at all")
        if (self.certificate is None) != (self.key is None):
            raise ConfigError("cassandra.certificate and cassandra.key are given both or not at all")
        if not self.tls and (self.ca_file is not None or self.certificate is not None):
            raise ConfigError("cassandra.ca_file and cassandra.certificate are for connections with TLS: write tls = true, too")

    def password(self) -> str:
        """Returns the first line of the password file. Raises ConfigError."""
        assert self.password_file is not None
        return read_password("cassandra.password_file", self.password_file)
