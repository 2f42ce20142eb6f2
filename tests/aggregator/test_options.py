"""Options of an aggregator that cannot work are refused with what to do about it."""

import msgspec
import pytest

from aggregator.options import AggregatorOptions
from infra.kernel.errors import ConfigError

OPTIONS = AggregatorOptions(site="sto", node="a1", brokers={"b1": "127.0.0.1:7811"})


def test_the_least_that_must_be_said_is_enough() -> None:
    OPTIONS.check()


def test_an_aggregator_without_brokers_is_told_how_they_are_named() -> None:
    with pytest.raises(ConfigError, match=r'aggregator\.brokers is empty.*b1 = "127'):
        msgspec.structs.replace(OPTIONS, brokers={}).check()


def test_a_link_holds_less_than_all_that_waits() -> None:
    with pytest.raises(ConfigError, match=r"aggregator\.max_link_bytes"):
        msgspec.structs.replace(OPTIONS, max_link_bytes=OPTIONS.max_link_queue_bytes).check()
