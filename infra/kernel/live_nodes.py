"""Live nodes: the nodes of one service that can be reached, each by its link. Pure."""

from typing import Generic, NamedTuple, TypeVar

from .ring import Ring

L = TypeVar("L")


class LiveNode(NamedTuple, Generic[L]):
    """A node, under the address that was dialled for it."""

    address: str
    link: L


class LiveNodes(Generic[L]):
    """All nodes that are up. While the same ones are up, everything that is about one user goes to one of them, by the ring."""

    def __init__(self) -> None:
        self._links: dict[str, L] = {}
        self._ring = Ring(())

    def __len__(self) -> int:
        """Returns the number of nodes that are up."""
        return len(self._links)

    def up(self, address: str, link: L) -> None:
        """Adds a node, or notes its new link."""
        self._links[address] = link
        self._ring = Ring(self._links)

    def down(self, address: str) -> None:
        """Takes a node out, if it is in."""
        self._links.pop(address, None)
        self._ring = Ring(self._links)

    def of(self, user: str) -> LiveNode[L] | None:
        """Returns the node for `user`; None when no node is up."""
        address = self._ring.owner(user.encode())
        return None if address is None else LiveNode(address, self._links[address])
