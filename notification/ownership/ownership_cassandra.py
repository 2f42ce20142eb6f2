"""Who owns which shard, in Cassandra: the part of the store that nodes agree by.

What is written on a condition is always written so.
"""

from ..tables_cassandra import CassandraTables
from .core import UNCLAIMED, Claims, NodeRecord


class OwnershipCassandra(CassandraTables):
    """Nodes, claims and the epoch. Each write is done on a condition: of two that meet, one is."""

    async def beat(self, member: NodeRecord, last: int) -> bool:
        """See `Store`."""
        if last:
            sql = "UPDATE members SET counter = ? WHERE node = ? IF counter = ?"
            return await self._db.swap(sql, member.counter, member.node, last)
        return await self._db.swap("INSERT INTO members (node, site, address, counter) VALUES (?, ?, ?, ?) IF NOT EXISTS", *member)

    async def bury(self, node: str, counter: int) -> bool:
        """See `Store`."""
        return await self._db.swap("DELETE FROM members WHERE node = ? IF counter = ?", node, counter)

    async def members(self) -> list[NodeRecord]:
        """See `Store`."""
        return [NodeRecord(*row) for row in await self._db.execute("SELECT node, site, address, counter FROM members")]

    async def claims(self) -> Claims:
        """See `Store`."""
        found = await self._db.execute("SELECT version, owners FROM claims WHERE id = 0")
        return Claims(found[0][0], tuple(found[0][1].split(","))) if found else UNCLAIMED

    async def claim(self, claims: Claims, version: int) -> bool:
        """See `Store`."""
        owners = ",".join(claims.owners)
        if version:
            return await self._db.swap(
                "UPDATE claims SET version = ?, owners = ? WHERE id = 0 IF version = ?", claims.version, owners, version
            )
        return await self._db.swap("INSERT INTO claims (id, version, owners) VALUES (0, ?, ?) IF NOT EXISTS", claims.version, owners)

    async def epoch(self) -> int:
        """See `Store`."""
        found = await self._db.execute("SELECT epoch FROM epoch WHERE id = 0")
        return int(found[0][0]) if found else 0

    async def begin_epoch(self, epoch: int, former: int) -> bool:
        """See `Store`."""
        if former:
            return await self._db.swap("UPDATE epoch SET epoch = ? WHERE id = 0 IF epoch = ?", epoch, former)
        return await self._db.swap("INSERT INTO epoch (id, epoch) VALUES (0, ?) IF NOT EXISTS", epoch)
