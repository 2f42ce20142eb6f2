"""When a ring has settled."""

import random

import msgspec
import pytest

from segue.drill import ring as settling
from segue.drill.local_nodes import LocalNodes
from segue.drill.nodes import SHAPE
from segue.drill.ring import is_full, settle
from segue.sdk.operator_answers import StandingRing, StandingSlot

TINY = msgspec.structs.replace(SHAPE, sites=SHAPE.sites[:1], aggregators=1, accesspoints=1)


def ring(**shares: int) -> StandingRing:
    slots = tuple(StandingSlot(slot, share, share, True) for slot, share in shares.items())
    return StandingRing("sto", "b1", 1, slots, tuple(shares), 8, 0, 0.0, 0.0)


def test_a_ring_is_full_when_as_many_brokers_as_run_have_everything_and_the_others_nothing() -> None:
    assert is_full(ring(b1=256, b2=256), 2)
    assert is_full(ring(b1=256, b2=256, b3=0), 2)
    assert not is_full(ring(b1=256, b2=256, b3=32), 2)
    assert not is_full(ring(b1=256, b2=224), 2)
    assert not is_full(ring(b1=256), 2)
    late = msgspec.structs.replace(ring(b1=256), slots=(StandingSlot("b1", 256, 256, False),))
    assert not is_full(late, 1)


async def test_a_ring_settles_when_its_brokers_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with LocalNodes(random.Random(1), TINY) as nodes:
        await nodes.ready()
        await settle(nodes, "sto")
        await nodes.stop("sto/b2")
        await settle(nodes, "sto")
        await nodes.roles["sto/b1"].close()  # its door is shut: nobody says anything
        monkeypatch.setattr(settling, "READY_S", 0.1)
        with pytest.raises(TimeoutError, match="the ring of sto has not settled"):
            await settle(nodes, "sto")
