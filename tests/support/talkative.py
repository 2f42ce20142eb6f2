"""Links on which everything may be said, for tests of what carries it."""

from itertools import product
from typing import Final

from infra.kernel.frames import AnyFrame
from infra.kernel.link_rights import ALL_OPS, EVERY_KIND, LinkKind, Rights

EVERYTHING: Final = Rights(frozenset(AnyFrame.__args__), ALL_OPS, EVERY_KIND)


def talkative(*roles: str) -> list[LinkKind]:
    """Returns a table in which nodes of these roles may say everything to each other."""
    return [LinkKind(caller, called, "any site", EVERYTHING, EVERYTHING) for caller, called in product(roles, repeat=2)]
