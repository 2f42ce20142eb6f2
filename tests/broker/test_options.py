"""Options of a broker that cannot work are refused with what to do about it."""

import msgspec
import pytest

from broker.options import MAX_SLOTS, WAITING_SHARE, BrokerOptions
from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.runtime.link import MAX_QUEUED_BYTES


def options(**slots: int) -> BrokerOptions:
    """Sites with so many slots each; the first one is the broker's."""
    sites = {site: {f"b{n}": f"{site}/b{n}" for n in range(number)} for site, number in slots.items()}
    return BrokerOptions(site=next(iter(slots)), slot="b0", sites=sites)


def test_a_site_has_as_many_slots_as_an_epoch_can_tell_apart() -> None:
    options(sto=MAX_SLOTS).check()
    with pytest.raises(ConfigError, match=r"broker\.sites\.sto has 257 slots, a site can have 256"):
        options(sto=MAX_SLOTS + 1).check()


def test_the_brokers_of_other_sites_leave_room_for_an_aggregator() -> None:
    most = (MAX_LINKS - 1) // 2
    options(sto=most, lon=most, ash=most).check()
    with pytest.raises(ConfigError, match=r"62 brokers of other sites.*at most 62 subscribing links"):
        options(sto=most + 1, lon=most + 1, ash=most + 1).check()
    with pytest.raises(ConfigError, match="62 brokers of other sites"):
        options(sto=MAX_LINKS, lon=MAX_LINKS).check()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("broker.site", {"site": "lon"}),
        ("broker.slot", {"slot": "b9"}),
        ("broker.max_link_bytes", {"max_link_bytes": 2 * MAX_QUEUED_BYTES}),
        ("broker.max_link_queue_bytes", {"max_link_queue_bytes": 0}),
        ("broker.max_forward_bytes", {"max_forward_bytes": WAITING_SHARE * (1 << 20) - 1}),
        ("broker.max_handover_bytes", {"max_handover_bytes": 0}),
        ("broker.join_steps", {"join_steps": -1}),
        ("broker.join_steps", {"join_steps": 257}),
        ("same at every site", {"sites": {"sto": {"b0": "x"}, "lon": {"b1": "y"}}}),
    ],
)
def test_what_contradicts_itself_is_named(name: str, change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=name):
        msgspec.structs.replace(options(sto=2), **change).check()
