"""A real Cassandra server on this machine, from Maven artifacts and a Java: for tests, the demo and a developer's laptop."""

from .server import Server, ServerFailed
from .settings import Sync

__all__ = ["Server", "ServerFailed", "Sync"]
