"""How long an access point waits for an aggregator that it has called, and which one is called next."""

from typing import cast

import msgspec
import pytest

from accesspoint.source import FAILOVER_BEATS, Source
from infra.runtime.link import Link
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from tests.support.bare_core import OPTIONS, KeptFrames, make_core

AGGREGATORS = ["a1", "a2"]


class CalledAggregators:
    """The aggregators as the links of an access point. Each answers `answer_beats` after it was called, unless it is given up before."""

    def __init__(self, answer_beats: int) -> None:
        self.answer_beats = answer_beats
        self.waited: dict[str, int] = {}
        self.source = Source(
            msgspec.structs.replace(OPTIONS, aggregators=AGGREGATORS),
            make_core(),
            cast(Node, self),
            lambda: 0.0,
            get_logger("accesspoint", "ap1", "sto"),
        )
        self.source.start()

    def dial(self, address: str, role: str, site: str | None) -> None:
        self.waited[address] = 0

    def hang_up(self, address: str) -> None:
        del self.waited[address]

    def beat(self) -> None:
        """Lets one heartbeat pass."""
        for address in self.waited:
            self.waited[address] += 1
        if self.source.link is None and self.waited[self.source.address] >= self.answer_beats:
            self.source.link_up(cast(Link, DialledLink(self.source.address)))
        self.source.tick()

    def lose(self) -> None:
        """Breaks the link."""
        assert self.source.link is not None, "none was reached"
        self.source.link_down(self.source.link)


class DialledLink(KeptFrames):
    """A link to an aggregator that keeps what was sent."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.dialled = address

    def knows(self, kind: type) -> bool:
        return False


@pytest.mark.parametrize("answer_beats", [FAILOVER_BEATS, 2 * FAILOVER_BEATS, 4 * FAILOVER_BEATS])
def test_aggregators_that_are_slow_are_reached_in_the_end(answer_beats: int) -> None:
    """Under load all are slow. If each were given up as soon as the first, nobody would be served until the load is gone."""
    called = CalledAggregators(answer_beats)
    for _ in range(20 * FAILOVER_BEATS):
        called.beat()
    assert called.source.link is not None
    assert list(called.waited) == [called.source.address]


def test_the_next_one_is_called_soon_at_first_and_again_soon_when_one_has_answered() -> None:
    called = CalledAggregators(4 * FAILOVER_BEATS)
    for _ in range(20 * FAILOVER_BEATS):
        called.beat()
    called.lose()
    failovers = called.source.failovers
    for _ in range(FAILOVER_BEATS + 1):
        called.beat()
    assert called.source.failovers == failovers + 1


def test_one_that_never_answers_delays_the_others_no_longer_than_a_bounded_time() -> None:
    called = CalledAggregators(answer_beats=10**9)
    for _ in range(100 * FAILOVER_BEATS):
        called.beat()
    failovers = called.source.failovers
    for _ in range(4 * FAILOVER_BEATS + 1):
        called.beat()
    assert called.source.failovers == failovers + 1
