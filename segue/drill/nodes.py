"""What a drill asks of its cluster, whether its nodes share a process or not."""

from typing import Final, Protocol

from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import SITES, Shape

READY_S: Final = 60.0
SHAPE: Final = Shape(sites=SITES[:2], brokers=2, aggregators=2, accesspoints=2, presence=0, policy="open")


class DrillNodes(Protocol):
    """The nodes of a cluster, by name: "site/node". `secret` signs tokens for all."""

    secret: bytes

    def doors(self, role: str, site: str) -> list[str]:
        """Returns the addresses at which clients or services reach a role at a site."""

    def names(self) -> list[str]:
        """Returns the nodes that run."""

    async def ready(self) -> None:
        """Waits until all nodes that run are ready. Raises TimeoutError."""

    async def start(self, name: str) -> None:
        """Starts a node again, at its former door."""

    async def stop(self, name: str) -> None:
        """Asks a node to stop, and waits until it has."""

    async def kill(self, name: str) -> None:
        """Ends a node without a goodbye."""

    def hang(self, name: str) -> None:
        """Lets a node do nothing until `go_on`."""

    def go_on(self, name: str) -> None:
        """Lets a node that hangs go on."""

    def cut(self, one: str, other: str) -> None:
        """Keeps two nodes, or two sites, from reaching each other. Nobody is told."""

    def heal(self) -> None:
        """Lets everybody reach everybody."""

    def clock(self, name: str, seconds: float) -> None:
        """Sets the Unix time of a node so many seconds off."""


def name_of(options: RoleOptions) -> str:
    """Returns the name of the node that `options` are for."""
    return f"{options.site}/{options.node}"
