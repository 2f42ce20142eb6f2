"""Who owns which shard, in the SQLite file: the part of the store that nodes agree by."""

from ..tables_sqlite import SqliteTables
from .core import UNCLAIMED, Claims, NodeRecord


class OwnershipSqlite(SqliteTables):
    """Nodes, claims and the epoch. Each write is done on a condition: of two that meet, one is."""

    async def beat(self, member: NodeRecord, last: int) -> bool:
        """See `Store`."""
        if last:
            return await self._changes("UPDATE members SET counter = ? WHERE node = ? AND counter = ?", (member.counter, member.node, last))
        return await self._changes("INSERT OR IGNORE INTO members VALUES (?, ?, ?, ?)", member)

    async def bury(self, node: str, counter: int) -> bool:
        """See `Store`."""
        return await self._changes("DELETE FROM members WHERE node = ? AND counter = ?", (node, counter))

    async def members(self) -> list[NodeRecord]:
        """See `Store`."""
        return list(map(NodeRecord._make, await self._all("SELECT node, site, address, counter FROM members", ())))

    async def claims(self) -> Claims:
        """See `Store`."""
        found = await self._all("SELECT version, owners FROM claims WHERE id = 0", ())
        return Claims(found[0][0], tuple(found[0][1].split(","))) if found else UNCLAIMED

    async def claim(self, claims: Claims, version: int) -> bool:
        """See `Store`."""
        owners = ",".join(claims.owners)
        if version:
            return await self._changes("UPDATE claims SET version = ?, owners = ? WHERE version = ?", (claims.version, owners, version))
        return await self._changes("INSERT OR IGNORE INTO claims VALUES (0, ?, ?)", (claims.version, owners))

    async def epoch(self) -> int:
        """See `Store`."""
        found = await self._all("SELECT epoch FROM epoch WHERE id = 0", ())
        return int(found[0][0]) if found else 0

    async def begin_epoch(self, epoch: int, former: int) -> bool:
        """See `Store`."""
        if former:
            return await self._changes("UPDATE epoch SET epoch = ? WHERE epoch = ?", (epoch, former))
        return await self._changes("INSERT OR IGNORE INTO epoch VALUES (0, ?)", (epoch,))
