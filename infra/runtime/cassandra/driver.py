"""The driver, set up as we use it, and the meaning of its errors. Everything here blocks, and runs in a thread."""

import logging
import ssl
from contextlib import suppress
from typing import Any, Final, NamedTuple

import cassandra
from cassandra.auth import AuthProvider, PlainTextAuthenticator
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable, Session
from cassandra.connection import ConnectionBusy, ConnectionException
from cassandra.policies import DCAwareRoundRobinPolicy, ExponentialReconnectionPolicy, FallthroughRetryPolicy, TokenAwarePolicy
from cassandra.protocol import IsBootstrappingErrorMessage, OverloadedErrorMessage, ServerError, TruncateError
from cassandra.query import tuple_factory

from infra.kernel.errors import ConfigError

from ..tls.contexts import client_context, load_pair
from .options import CassandraOptions

# The request was not carried out, for sure.
REFUSED: Final = (
    NoHostAvailable,
    cassandra.Unavailable,
    cassandra.UnresolvableContactPoints,
    OverloadedErrorMessage,
    IsBootstrappingErrorMessage,
    ConnectionBusy,
)
# It may have been, or may still be.
UNCERTAIN: Final = (
    cassandra.OperationTimedOut,
    cassandra.Timeout,
    cassandra.CoordinationFailure,
    ConnectionException,
    ServerError,
    TruncateError,
)
TRANSIENT: Final = REFUSED + UNCERTAIN

SCHEMA_TIMEOUT_S: Final = 30.0
_RECONNECT_BASE_S: Final = 0.25
_RECONNECT_CAP_S: Final = 2.0


class Connected(NamedTuple):
    """One cluster, and the session on our keyspace."""

    cluster: Any
    session: Any


def connect(options: CassandraOptions) -> Connected:
    """Connects, and makes the keyspace if it is not there.

    Raises ConfigError for a data centre that nobody knows, and what the driver raises.
    """
    logging.getLogger("cassandra.protocol").addFilter(_is_news)
    cluster = Cluster(
        contact_points=options.hosts,
        port=options.port,
        protocol_version=cassandra.ProtocolVersion.V5,
        auth_provider=Login(options) if options.username else None,
        execution_profiles={EXEC_PROFILE_DEFAULT: _profile(options)},
        reconnection_policy=ExponentialReconnectionPolicy(_RECONNECT_BASE_S, _RECONNECT_CAP_S, max_attempts=None),
        connect_timeout=options.timeout_s,
        control_connection_timeout=options.timeout_s,
        ssl_context=_ssl_context(options),
    )
    try:
        return Connected(cluster, _session(cluster, options))
    except BaseException:
        cluster.shutdown()
        raise


class Login(AuthProvider):  # type: ignore[misc]  # the driver has no types
    """The login of each connection, with the password that the file has when it is made. One that cannot be read leaves the last one."""

    def __init__(self, options: CassandraOptions) -> None:
        """Raises ConfigError when the password cannot be read."""
        self._options, self._password = options, options.password()

    def new_authenticator(self, host: object) -> PlainTextAuthenticator:
        """Returns the login of a connection to `host`. The driver calls it in threads of its own."""
        with suppress(ConfigError):
            self._password = self._options.password()
        return PlainTextAuthenticator(self._options.username, self._password)


def _ssl_context(options: CassandraOptions) -> ssl.SSLContext | None:
    """Returns the context of connections to nodes; None for plain ones. Raises ConfigError."""
    if not options.tls:
        return None
    context = client_context(options.ca_file)
    if options.certificate is not None and options.key is not None:
        load_pair(context, options.certificate, options.key)
    return context


def _is_news(record: logging.LogRecord) -> bool:
    """Returns whether a record is worth logging."""
    # The server warns each connection of prepared statements after USE; ours never change their keyspace.
    return "`USE <keyspace>` with prepared statements" not in record.getMessage()


def _session(cluster: Any, options: CassandraOptions) -> Session:
    try:
        session = cluster.connect()
    except NoHostAvailable:
        _check_datacenter(cluster, options.datacenter)
        raise
    if options.keyspace not in cluster.metadata.keyspaces:  # where it was made by hand, we need no right to make one
        replication = f"{{'class': 'NetworkTopologyStrategy', '{options.datacenter}': {options.replication}}}"
        session.execute(f"CREATE KEYSPACE IF NOT EXISTS {options.keyspace} WITH replication = {replication}", timeout=SCHEMA_TIMEOUT_S)
    session.set_keyspace(options.keyspace)
    return session


def _profile(options: CassandraOptions) -> Any:
    """Returns how requests are made: the driver never retries, because we do, with patience and jitter."""
    return ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(local_dc=options.datacenter)),
        retry_policy=FallthroughRetryPolicy(),
        consistency_level=cassandra.ConsistencyLevel.name_to_value[options.consistency],
        serial_consistency_level=cassandra.ConsistencyLevel.LOCAL_SERIAL,
        request_timeout=options.timeout_s,
        row_factory=tuple_factory,
    )


def _check_datacenter(cluster: Any, name: str) -> None:
    known = sorted({host.datacenter for host in cluster.metadata.all_hosts() if host.datacenter})
    if known and name not in known:
        raise ConfigError(f"cassandra.datacenter {name!r} is not one of this cluster's: {', '.join(known)}")


def in_words(error: BaseException) -> str:
    """Returns the error as an operator reads it; of several hosts, each with its own."""
    if isinstance(error, NoHostAvailable) and isinstance(error.errors, dict):
        return "; ".join(f"{host}: {cause}" for host, cause in error.errors.items()) or "no node is up"
    return f"{type(error).__name__}: {error}"
