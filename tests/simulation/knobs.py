"""Knobs: how much production does in one turn. In some lives it is little, so that few topics take as many turns as a million does."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Final

from accesspoint import server
from aggregator import loss_notices
from broker import copies, heir_briefing, inheritance, laggards, moving, recaller, recorded_rows, told_losses
from infra.kernel import interest, moving_topics
from infra.kernel.shares import WHOLE

# Half of all lives have what production has.
TURNED_SHARE: Final = 0.5
# What production may do in one turn then: topics, ids or events.
LITTLE: Final = (1, 2, 4)
LITTLE_BYTES: Final = (1, 200, 1000)
# What a client costs that goes: all of a turn, as much as it costs, and some more.
DEAR: Final = (WHOLE, server.LEAVE_COST, WHOLE // 3)
KNOBS: Final[tuple[tuple[ModuleType, str, tuple[int, ...]], ...]] = (
    (loss_notices, "LOST_AT_ONCE", LITTLE),
    (copies, "AT_ONCE", LITTLE),
    (heir_briefing, "AT_ONCE", LITTLE),
    (inheritance, "AT_ONCE", LITTLE),
    (inheritance, "FRAME_BYTES", LITTLE_BYTES),
    (laggards, "AT_ONCE", LITTLE),
    (moving, "AT_ONCE", LITTLE),
    (recaller, "FRAME_BYTES", LITTLE_BYTES),
    (told_losses, "AT_ONCE", LITTLE),
    (recorded_rows, "AT_ONCE", LITTLE),
    (interest, "ROWS_AT_ONCE", LITTLE),
    (interest, "TOPICS_AT_ONCE", LITTLE),
    (moving_topics, "WITHDRAWN_AT_ONCE", LITTLE),
    (server, "LEAVE_COST", DEAR),
    (interest, "LOOKS_AT_ONCE", LITTLE),
)


@contextmanager
def turned(rng: random.Random | None) -> Iterator[None]:
    """Has all knobs stand where `rng` draws them while the block runs; without it, where production has them."""
    if rng is None or rng.random() >= TURNED_SHARE:
        yield
        return
    before = [getattr(module, name) for module, name, _ in KNOBS]
    for module, name, few in KNOBS:
        setattr(module, name, rng.choice(few))
    try:
        yield
    finally:
        for (module, name, _), value in zip(KNOBS, before, strict=True):
            setattr(module, name, value)
