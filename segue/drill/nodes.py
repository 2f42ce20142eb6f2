"""What a drill asks of its cluster, whether its nodes share a process or not."""

from typing import Any, Final, NamedTuple, Protocol

import msgspec

from accesspoint.options import AccessPointOptions
from broker.options import BrokerOptions
from broker.window_bounds import WindowBounds
from infra.kernel.topics import Kind
from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import SITES, Shape

READY_S: Final = 60.0
# An access point that is asked to stop says so for a second, and sends four clients away in each that follows.
DRAIN_WAIT_S: Final = 1.0
DRAIN_PER_S: Final = 4.0
# A topic has twenty events a second here: what is published in `seconds` fits.
KEPT: Final = WindowBounds(keep="all", events=4_000, bytes=2 << 20, seconds=120.0)
# The kinds of which something is kept. Where an heir has a copy, it is as much.
COPIES: Final = {Kind.PLAYLIST: 0, Kind.ARTIST: 1}
SHAPE: Final = Shape(sites=SITES[:2], brokers=2, aggregators=2, accesspoints=2, presence=0, policy="open")


class DrillWindows(NamedTuple):
    """The windows of brokers: the `bounds` of kinds that have one, and the bytes that each broker has for all of it."""

    bounds: WindowBounds = KEPT
    window_bytes: int = 64 << 20


USUAL: Final = DrillWindows()


class DrillNodes(Protocol):
    """The nodes of a cluster, by name: "site/node". Some can do more: hang, or have a clock that is off.

    `secret` signs tokens for all. `windows` is what brokers keep.
    """

    secret: bytes
    windows: DrillWindows

    def doors(self, role: str, site: str) -> list[str]:
        """Returns the addresses at which clients or services reach the nodes of a role that run at a site."""

    def names(self) -> list[str]:
        """Returns the nodes that run."""

    async def ready(self) -> None:
        """Waits until all nodes that run are ready. Raises TimeoutError."""

    async def figures(self, name: str) -> dict[str, Any]:
        """Returns the figures of a node that runs, by the name of the metric."""

    async def start(self, name: str) -> None:
        """Starts a node again, at its former door."""

    async def stop(self, name: str) -> None:
        """Asks a node to stop, and waits until it has."""

    async def kill(self, name: str) -> None:
        """Ends a node without a goodbye."""

    def cut(self, one: str, other: str) -> None:
        """Keeps two nodes, or two sites, from reaching each other. Nobody is told."""

    def heal(self) -> None:
        """Lets everybody reach everybody."""


def name_of(options: RoleOptions) -> str:
    """Returns the name of the node that `options` are for."""
    return f"{options.site}/{options.node}"


def drill_options(shape: Shape, windows: DrillWindows = USUAL) -> list[RoleOptions]:
    """Returns the options of all nodes of a drill of this `shape`, whose brokers have these `windows`."""
    return [_changed(options, windows) for options in shape.options()]


def _changed(options: RoleOptions, windows: DrillWindows) -> RoleOptions:
    match options:
        case AccessPointOptions():
            return msgspec.structs.replace(options, drain_wait_s=DRAIN_WAIT_S, drain_per_s=DRAIN_PER_S)
        case BrokerOptions():
            kept = {kind: msgspec.structs.replace(windows.bounds, copies=copies) for kind, copies in COPIES.items()}
            return msgspec.structs.replace(options, window=kept, window_bytes=windows.window_bytes)
        case _:
            return options
