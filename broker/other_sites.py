"""The other sites, as one broker sees them: they are told what is wanted here, and say how far that is installed there."""

from collections.abc import Mapping

from infra.kernel.announcer import PARTING_BEATS, Announcer

from .client import SiteClient
from .recorded_rows import Rows


class OtherSites:
    """The clients of all other sites, by their sites."""

    def __init__(self, clients: Mapping[str, SiteClient]) -> None:
        self._clients = clients
        # What must be reached at each site before former owners may give up the topics that have come, and how long that has taken.
        self._adopted: dict[str, int] = {}
        self._adopted_beats = 0

    def __bool__(self) -> bool:
        return bool(self._clients)

    @property
    def announcers(self) -> list[Announcer]:
        """Those that tell them what is wanted."""
        return [client.announcer for client in self._clients.values()]

    def want(self, news: Rows) -> None:
        """Tells them that topics are wanted here from now on."""
        for client in self._clients.values() if news else ():
            client.want(news)

    def unwant(self, rows: Rows) -> None:
        """Tells them that topics are wanted here no more."""
        for client in self._clients.values() if rows else ():
            client.unwant(topic for _, topic in rows)

    def reweigh(self, rows: Rows) -> None:
        """Tells them about how many follow topics here by now."""
        for client in self._clients.values() if rows else ():
            client.reweigh(rows)

    def ask_all(self) -> None:
        """Asks them for an answer behind all that they have sent."""
        for client in self._clients.values():
            client.announcer.ask_all()

    @property
    def marks(self) -> dict[str, int]:
        """What each site must reach for all to be installed there that is wanted now."""
        return {site: client.announcer.mark() for site, client in self._clients.items()}

    @property
    def reached(self) -> dict[str, int]:
        """How far each of them is."""
        return {site: client.announcer.reached.get(site, 0) for site, client in self._clients.items()}

    # Topics that have come from another broker of this site.

    def adopt(self, news: Rows) -> Mapping[str, int]:
        """Tells them that adopted topics are wanted here. Returns what they must reach to know that."""
        self.want(news)
        self._adopted, self._adopted_beats = self.marks, 0
        return self._adopted

    @property
    def are_adopting(self) -> bool:
        """Whether one of them may not know yet that adopted topics are wanted here."""
        return bool(self._adopted)

    def know_adopted(self) -> bool:
        """Returns whether they know that adopted topics are wanted here. None is waited for that is gone, or for ever."""
        self._adopted = {
            site: mark
            for site, mark in self._adopted.items()
            if self._clients[site].alive and self._clients[site].announcer.reached.get(site, 0) < mark
        }
        return not self._adopted or self._adopted_beats > PARTING_BEATS

    def tick(self) -> None:
        """Counts a heartbeat."""
        self._adopted_beats += 1
