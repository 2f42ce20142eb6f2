"""An entrance that lets everybody in."""

import asyncio
from collections.abc import Callable

from infra.kernel.places import HeldPlace, Places, VisitorLimits
from infra.runtime.entrance import Entrance
from infra.runtime.http.message import closing_answer

ROOM = 1 << 20


def wide_open(make: Callable[[], asyncio.Protocol] = asyncio.Protocol, *, size: int = ROOM, per_address: int = ROOM) -> Entrance:
    """Returns an entrance to protocols that `make` makes, which know nothing of places; all find room, unless `size` or `per_address` say
    something else. Nobody comes too often."""
    limits = VisitorLimits(per_address=per_address, new_per_s=1e9, new_per_address_per_s=1e9)

    def placed(place: HeldPlace) -> asyncio.Protocol:
        return make()

    return Entrance(places=Places(size, limits), make=placed, refusal=closing_answer)
