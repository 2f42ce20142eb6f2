"""Migrations: scripts of CQL, each run once for a keyspace, whichever node comes first.

A node takes the module's lock (a conditional write that expires by itself), looks again what is done, runs what is not, and records each
script when its last statement is through. A node that dies in the middle leaves a script half done and not recorded. The next node runs
it from its start, so every statement must bear repeating (`IF NOT EXISTS`).
"""

import asyncio
import random
import re
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any, Final, Protocol

from infra.kernel.backoff import Backoff
from infra.kernel.errors import ConfigError, Unavailable

from .requests import Row

LOCK_TTL_S: Final = 120
_POLL: Final = Backoff(base_s=0.05, cap_s=2.0)

_TABLES: Final = {
    "migrations": "CREATE TABLE IF NOT EXISTS migrations (module text, name text, digest text, PRIMARY KEY (module, name))",
    "migration_locks": "CREATE TABLE IF NOT EXISTS migration_locks (module text PRIMARY KEY, holder uuid)",
}
_KNOWN_TABLES: Final = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?"
_RECORDED: Final = "SELECT name, digest FROM migrations WHERE module = ?"
_RECORD: Final = "INSERT INTO migrations (module, name, digest) VALUES (?, ?, ?)"
_LOCK: Final = "INSERT INTO migration_locks (module, holder) VALUES (?, ?) IF NOT EXISTS USING TTL ?"
_KEEP: Final = "UPDATE migration_locks USING TTL ? SET holder = ? WHERE module = ? IF holder = ?"
_UNLOCK: Final = "DELETE FROM migration_locks WHERE module = ? IF holder = ?"

# What may hold a semicolon that ends nothing: texts, quoted names, comments. Comments are dropped.
_PIECE: Final = re.compile(
    r"(?P<comment>--[^\n]*|//[^\n]*|/\*.*?\*/)|(?P<end>;)|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$\$.*?\$\$|.", re.DOTALL
)


class Schema(Protocol):
    """A store as migrations see it; `Cassandra` is one."""

    async def execute(self, cql: str, *values: Any) -> list[Row]: ...

    async def swap(self, cql: str, *values: Any) -> bool: ...

    async def change_schema(self, cql: str) -> None: ...


async def migrate(store: Schema, keyspace: str, module: str, scripts: Sequence[tuple[str, str]]) -> None:
    """Runs those of `scripts`, pairs of name and text, that were never run for this `module` of `keyspace`, in their order.

    Raises ConfigError for a script that was changed after it was run, and Unavailable, also if another node holds the lock for too long.
    Cancelling leaves a script half done, to be begun again.
    """
    known = {name for (name,) in await store.execute(_KNOWN_TABLES, keyspace)}
    for table, cql in _TABLES.items():
        if table not in known:
            await store.change_schema(cql)
    if await _pending(store, module, scripts):
        async with _locked(store, module) as holder:
            for name, text in await _pending(store, module, scripts):
                await _run(store, module, text, holder)
                await store.execute(_RECORD, module, name, _digest(text))


async def _pending(store: Schema, module: str, scripts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    recorded: dict[str, str] = dict(await store.execute(_RECORDED, module))
    for name, text in scripts:
        if recorded.get(name) not in (None, _digest(text)):
            raise ConfigError(f"{module}/{name} was changed after it was run here: undo that, and write a new script instead")
    return [(name, text) for name, text in scripts if name not in recorded]


async def _run(store: Schema, module: str, text: str, holder: uuid.UUID) -> None:
    for cql in statements(text):
        if not await store.swap(_KEEP, LOCK_TTL_S, holder, module, holder):
            raise Unavailable(f"the lock of {module}'s migrations was lost to another node; start again")
        await store.change_schema(cql)


@asynccontextmanager
async def _locked(store: Schema, module: str) -> AsyncIterator[uuid.UUID]:
    holder, rng, tries = uuid.uuid4(), random.Random(), 0
    try:
        async with asyncio.timeout(LOCK_TTL_S):
            while not await store.swap(_LOCK, module, holder, LOCK_TTL_S):
                await asyncio.sleep(_POLL.delay_s(tries, rng))
                tries += 1
    except TimeoutError:
        raise Unavailable(f"another node has been migrating {module} for {LOCK_TTL_S} s; see its log") from None
    try:
        yield holder
    finally:
        await store.swap(_UNLOCK, module, holder)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def statements(text: str) -> list[str]:
    """Returns the statements of a script, without comments and the semicolons between them."""
    found = [""]
    for piece in _PIECE.finditer(text):
        match piece.lastgroup:
            case "end":
                found.append("")
            case "comment":
                found[-1] += " "
            case _:
                found[-1] += piece[0]
    return [each.strip() for each in found if each.strip()]
