"""Counters by node and kind."""

from overlay.simulator.counters import CONTROL, KINDS, NAMES, UNWANTED, count


def test_each_node_and_kind_has_its_own_place() -> None:
    messages, sizes = [0] * (2 * KINDS), [0] * (2 * KINDS)
    count(messages, sizes, 0, UNWANTED, 10)
    count(messages, sizes, 1, CONTROL, 20)
    count(messages, sizes, 1, CONTROL, 30)
    assert messages == [0, 0, 0, 1, 2, 0, 0, 0]
    assert sizes == [0, 0, 0, 10, 50, 0, 0, 0]
    assert NAMES[UNWANTED] == "unwanted"
    assert len(NAMES) == KINDS
