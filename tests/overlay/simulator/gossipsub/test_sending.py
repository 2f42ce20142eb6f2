"""What a message weighs, and when the next heartbeat is."""

import pytest

from overlay.simulator import sizes
from overlay.simulator.gossipsub.options import HEARTBEAT_US
from overlay.simulator.gossipsub.sending import bits, control_bytes, next_beat_us
from overlay.simulator.gossipsub.state import GRAFT, IHAVE, IWANT, NOW, PRUNE
from tests.support.gossip_world import one_topic


@pytest.mark.parametrize(
    ("kind", "detail", "size"),
    [
        (GRAFT, 0, sizes.HEADER + sizes.TOPIC),
        (PRUNE, 1, sizes.HEADER + sizes.TOPIC + 2),
        (PRUNE, 77 << 1, sizes.HEADER + sizes.TOPIC + 2 + 16 * (sizes.ID + sizes.ADDRESS)),
        (IHAVE, (5 << 31) | 0b1011, sizes.HEADER + sizes.TOPIC + 3 * sizes.EVENT_ID),
        (IWANT, 0b11, sizes.HEADER + 2 * sizes.EVENT_ID),
    ],
)
def test_a_control_message_has_the_bytes_of_its_parts(kind: int, detail: int, size: int) -> None:
    assert control_bytes(one_topic(3).rules, kind, detail) == size


def test_set_bits_are_counted() -> None:
    assert [bits(mask) for mask in (0, 1, 0b1010, (1 << 31) - 1)] == [0, 1, 2, 31]


def test_heartbeats_come_a_second_after_each_other() -> None:
    state = one_topic(4).state
    first = next_beat_us(state, 2)
    assert 0 < first <= HEARTBEAT_US
    state.clock[NOW] = first - 1
    assert next_beat_us(state, 2) == first
    state.clock[NOW] = first
    assert next_beat_us(state, 2) == first + HEARTBEAT_US
