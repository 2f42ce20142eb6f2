"""Who is let in by a broker, whatever the conduct towards their role is."""

from typing import cast

import pytest

from broker.mesh import Mesh
from broker.options import BrokerOptions
from broker.orders import ClusterOrders
from broker.peer_roles import PeerRoles
from broker.revocation_keeper import RevocationKeeper
from broker.ring_wishes import RingWishes
from infra.kernel.errors import Refused
from infra.kernel.frames import HIGHEST_TAG, Hello, View
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler


class Everybody:
    """The conduct towards a role whose nodes are all welcome. `view`: that of the mesh."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.admitted: list[Hello] = []

    def admit(self, hello: Hello) -> None:
        self.admitted.append(hello)

    def link_up(self, link: Link) -> LinkHandler:
        raise AssertionError("nobody is linked here")


def peers(view: View) -> tuple[PeerRoles, Everybody]:
    role = Everybody(view)
    options = BrokerOptions(site="sto", slot="b1", sites={"sto": {"b1": "sto/b1"}})
    roles = dict.fromkeys(("aggregator", "broker", "presence"), role)
    return PeerRoles(
        options, roles, cast(Mesh, role), cast(RevocationKeeper, None), cast(ClusterOrders, None), cast(RingWishes, None)
    ), role


def hello(role: str, tags: int = HIGHEST_TAG) -> Hello:
    return Hello(role, "n1", "sto", 1, 1, View(0, ()), tags=tags)


def test_a_role_that_has_no_business_with_brokers_hears_who_has() -> None:
    roles, _ = peers(View(1, ("b1",)))
    with pytest.raises(Refused, match="aggregators") as refused:
        roles.admit(hello("accesspoint"))
    assert refused.value.code.name == "wrong-peer"


@pytest.mark.parametrize("role", ["aggregator", "broker"])
def test_whoever_subscribes_must_know_of_shares_while_there_are_some(role: str) -> None:
    """DPS-15: it would take another broker for the owner."""
    whole, _ = peers(View(1, ("b1", "b2")))
    whole.admit(hello(role, tags=0))
    growing, everybody = peers(View(2, ("b1", "b2"), (256, 32)))
    with pytest.raises(Refused, match="shares"):
        growing.admit(hello(role, tags=0))
    growing.admit(hello(role))
    growing.admit(hello("presence", tags=0))
    assert [each.role for each in everybody.admitted[1:]] == [role, "presence"]
