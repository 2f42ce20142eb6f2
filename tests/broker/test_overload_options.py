"""Options of overload that cannot be meant are refused, with both keys."""

import msgspec
import pytest

from broker.options import BrokerOptions
from broker.overload_options import OverloadOptions
from infra.kernel.errors import ConfigError

OPTIONS = BrokerOptions(site="sto", slot="b1", sites={"sto": {"b1": "sto/b1"}})


def test_it_is_off_where_a_file_says_nothing() -> None:
    OPTIONS.check()
    assert not OPTIONS.overload.enabled


@pytest.mark.parametrize(
    ("overload", "named"),
    [
        (OverloadOptions(late_s=0.0), "broker.overload.late_s is 0"),
        (OverloadOptions(max_age_s=float("inf")), "broker.overload.max_age_s is inf"),
        (OverloadOptions(queue_bytes=-1), "broker.overload.queue_bytes is -1"),
        (OverloadOptions(queue_bytes=1 << 30), "broker.max_link_queue_bytes must be at least broker.overload.queue_bytes"),
        (OverloadOptions(held_bytes=1 << 10), "the largest payload would never be held"),
    ],
)
def test_what_cannot_be_meant_is_named(overload: OverloadOptions, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        msgspec.structs.replace(OPTIONS, overload=overload).check()
