"""The ring of a site, in a drill: all its brokers are to have their full share before the next thing is done."""

import asyncio
from typing import Final

from infra.kernel.ring import Ring
from segue.cluster.tokens import service_token
from segue.demo.until import until
from segue.sdk.errors import SegueError
from segue.sdk.operator import Operator
from segue.sdk.operator_answers import StandingRing

from .nodes import READY_S, DrillNodes

FULL: Final = 256


async def settle(nodes: DrillNodes, site: str) -> None:
    """Waits until each broker that runs at `site` says that it and the others have their full share, and nobody else has any.

    Raises TimeoutError.
    """
    doors, token = nodes.doors("broker", site), service_token(nodes.secret, "operator")

    async def is_settled() -> bool:
        rings = await asyncio.gather(*(_ring(door, token) for door in doors))
        return all(ring is not None and is_full(ring, len(doors)) for ring in rings)

    if not await until(is_settled, READY_S):
        raise TimeoutError(f"the ring of {site} has not settled after {READY_S:g} s")


async def ring_of(nodes: DrillNodes, site: str) -> Ring:
    """Returns the ring of `site`, which has settled. Raises TimeoutError where it has not."""
    await settle(nodes, site)
    standing = await _ring(nodes.doors("broker", site)[0], service_token(nodes.secret, "operator"))
    assert standing is not None
    return Ring(standing.share_of, shares=standing.share_of)


async def _ring(door: str, token: str) -> StandingRing | None:
    try:
        async with Operator(f"http://{door}", token) as operator:
            return await operator.ring()
    except SegueError:
        return None


def is_full(ring: StandingRing, brokers: int) -> bool:
    """Returns whether so many brokers have their full share, all others have none, and nobody has anything left to do."""
    shares = [share for share in ring.share_of.values() if share]
    return ring.is_there and shares == [FULL] * brokers
