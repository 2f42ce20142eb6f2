"""Artist monitoring as a process: it opens the store, and reaches the notification module."""

from collections.abc import Mapping
from pathlib import Path

from infra.kernel.roles import ARTIST

from ..service import ServiceRole
from .options import ArtistOptions
from .store import ArtistStores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite
from .work import ArtistWork


class ArtistService(ServiceRole[ArtistOptions, ArtistWork]):
    """One artist monitoring service."""

    role = ARTIST

    def broker_addresses(self) -> Mapping[str, str]:
        """See `ServiceRole`."""
        return self.options.brokers

    async def open_work(self) -> ArtistWork:
        """See `ServiceRole`."""
        stores = await self._open_stores()
        self.opened.push_async_callback(stores.close)
        return ArtistWork(self.options, stores, self.neighbours, self.context)

    async def _open_stores(self) -> ArtistStores:
        options = self.options
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, options.max_followed)
        return await open_sqlite(Path(options.path), options.max_followed)
