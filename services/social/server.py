"""The social service as a process: it opens the store, and reaches playlist services."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.kernel.roles import PLAYLIST, SOCIAL
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler

from ..asking_point import asking_handler
from ..service import ServiceRole
from .options import SocialOptions
from .store import SocialStores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite
from .work import SocialWork


class SocialService(ServiceRole[SocialOptions, SocialWork]):
    """One social service. What is promised and not done when it closes waits in the store."""

    role = SOCIAL

    def broker_addresses(self) -> Mapping[str, str]:
        """See `ServiceRole`."""
        return self.options.brokers

    def peer_addresses(self) -> Mapping[str, Sequence[str]]:
        """See `ServiceRole`."""
        return {PLAYLIST: self.options.playlist} if self.options.playlist else {}

    async def open_work(self) -> SocialWork:
        """See `ServiceRole`."""
        stores = await self._open_stores()
        self.opened.push_async_callback(stores.close)
        return SocialWork(self.options, stores, self.neighbours, self.context)

    def link_up(self, link: Link) -> LinkHandler:
        """See `ServiceRole`. An access point that asks who may see what hears of it when that has changed."""
        return asking_handler(link, super().link_up(link), self.work.barring)

    async def _open_stores(self) -> SocialStores:
        options, bounds = self.options, (self.options.max_followed, self.options.max_contacts)
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, f"{self.site}/{self.node}", self.context.wall, *bounds)
        return await open_sqlite(Path(options.path), *bounds)
