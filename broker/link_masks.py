"""The masks of the links that subscribe: which are of aggregators of this site, and which of brokers of others. Pure."""

from collections.abc import Callable

from infra.kernel.topics import Topic

OwnerAt = Callable[[str, Topic], str | None]


class LinkMasks:
    """The subscribing links of a broker, each a number, the *bit*.

    - `local`: mask of all aggregators of this site; `far`: of all brokers of others.
    - `owner_at(site, topic)`: returns the slot that owns `topic` at another site; None while nobody knows.
    """

    __slots__ = ("_owner_at", "_sites", "far", "local")

    def __init__(self, owner_at: OwnerAt = lambda site, topic: None) -> None:
        self.local = self.far = 0
        # site -> slot -> mask with the one bit of that broker's link.
        self._sites: dict[str, dict[str, int]] = {}
        self._owner_at = owner_at

    def open(self, bit: int, far: bool, peer: tuple[str, str]) -> None:
        """Adds link `bit`, to the node `peer` (site and name). `far`: whether that is a broker of another site."""
        if far:
            self.far |= 1 << bit
            self._sites.setdefault(peer[0], {})[peer[1]] = 1 << bit
        else:
            self.local |= 1 << bit

    def close(self, bit: int) -> None:
        """Takes link `bit` out of every mask: the next link may get the same number."""
        self.local &= ~(1 << bit)
        self.far &= ~(1 << bit)
        for links in self._sites.values():
            # By value: a broker that came back has a newer link under its name, which stays.
            for slot in [slot for slot, flag in links.items() if flag == 1 << bit]:
                del links[slot]

    def once_per_site(self, far: int, topic: Topic) -> int:
        """Returns `far` with one bit for each site.

        While a topic moves at another site, two of its brokers want it. The copy goes to the owner if it is one of them.
        """
        for site, links in self._sites.items():
            found = far & sum(links.values())
            if found & found - 1:
                to_owner = found & links.get(self._owner_at(site, topic) or "", 0)
                far ^= found ^ (to_owner or found & -found)  # `x & -x` is the lowest bit of x: one of them, always the same
        return far
