"""What services may publish, and for how long that is remembered."""

import pytest

from broker.grants import GRANT_S, PublishingGrants
from infra.kernel.errors import Refused
from infra.kernel.places import HeldPlace
from infra.runtime.http.door import Head
from infra.runtime.tokens import Service


class Clocks:
    """The clocks of a node, and what a token is worth."""

    def __init__(self) -> None:
        self.wall_s, self.now_s, self.checked = 1_000_000.0, 5.0, 0
        self.is_good = True

    def verify(self, token: str, wall_s: float) -> Service:
        """Returns the playlist service while its token is good."""
        self.checked += 1
        if not self.is_good:
            raise Refused("bad-token", "it has ended")
        return Service("playlist", 2_000_000.0)

    def grants(self) -> PublishingGrants:
        """Returns grants that go by these clocks."""
        return PublishingGrants(self.verify, lambda: self.wall_s, lambda: self.now_s)


def head() -> Head:
    return Head("POST", "/v1/events", "", {b"authorization": b"Bearer x", b"content-type": b"application/json"}, True, HeldPlace())


def test_a_token_is_looked_at_once_in_a_while() -> None:
    clocks = Clocks()
    grants = clocks.grants()
    assert grants.of(head()) is grants.of(head())
    assert clocks.checked == 1
    clocks.now_s += GRANT_S + 0.1
    grants.of(head())
    assert clocks.checked == 2


def test_a_wall_clock_that_is_set_back_does_not_prolong_a_grant() -> None:
    clocks = Clocks()
    grants = clocks.grants()
    grants.of(head())
    clocks.is_good = False
    clocks.wall_s -= 86_400
    clocks.now_s += GRANT_S + 0.1
    with pytest.raises(Refused, match="it has ended"):
        grants.of(head())
