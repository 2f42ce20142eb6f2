"""A keyspace that tests share, one after the other: to make one takes seconds, to empty it does not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from infra.runtime.cassandra.client import Cassandra, CassandraOptions
from segue.cassandra import Server
from services.cql import scripts

KEPT = frozenset({"migrations", "migration_locks"})


@asynccontextmanager
async def empty_keyspace(server: Server, *modules: str) -> AsyncIterator[Cassandra]:
    """Returns a store with the tables of `modules`, all of them empty."""
    keyspace = f"shared_{'_'.join(modules)}"
    store = await Cassandra.open(CassandraOptions(port=server.port, keyspace=keyspace))
    try:
        for module in modules:
            await store.migrate(module, scripts(module))
        for (table,) in await store.execute("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace):
            if table not in KEPT and await store.execute(f"SELECT * FROM {table} LIMIT 1"):  # noqa: S608 - names of our own
                await store.change_schema(f"TRUNCATE {table}")
        yield store
    finally:
        await store.close()
