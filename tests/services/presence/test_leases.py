"""Nobody is online who has gone, nobody offline who is there, and what has ended takes no memory."""

import sys
import time
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from services.presence.leases import MAX_CLIENTS, SWEEP_S, Leases

GRACE_S, JITTER_S = 5.0, 3.0
USERS = ["ann", "bob"]
NODES = ["ap1", "ap2"]
FOREVER = float("inf")


class Stay(NamedTuple):
    """That a client was at an access point from its grant on: surely until `sure_s`, surely not from `over_s` on."""

    node: str
    user: str
    client: str
    devices: int
    sure_s: float = FOREVER
    over_s: float = FOREVER

    def ending(self, sure_s: float, over_s: float) -> "Stay":
        return self._replace(sure_s=min(self.sure_s, sure_s), over_s=min(self.over_s, over_s))


class Leasing(RuleBasedStateMachine):
    """Against a list of all stays that there ever were. `here` are those whose access point still holds them."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 100.0
        self.leases = Leases(GRACE_S, JITTER_S, max_users=len(USERS))
        self.up: set[str] = set()
        self.here: dict[tuple[str, str, str], Stay] = {}
        self.past: list[Stay] = []
        for node in NODES:
            self.link_up(node)

    @rule(node=st.sampled_from(NODES))
    def link_up(self, node: str) -> None:
        if node not in self.up:
            self.up.add(node)
            self.leases.link_up(node)

    @precondition(lambda self: self.up)
    @rule(data=st.data())
    def link_down(self, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(sorted(self.up)))
        self.up.remove(node)
        self.leases.link_down(node, self.now_s)
        for stay in [stay for stay in [*self.here.values(), *self.past] if stay.node == node]:
            self._retire(stay, self.now_s + GRACE_S, self.now_s + GRACE_S + JITTER_S)

    @precondition(lambda self: self.up)
    @rule(
        data=st.data(), user=st.sampled_from(USERS), client=st.sampled_from(["c1", "c2"]), devices=st.integers(1, 3), is_here=st.booleans()
    )
    def tell(self, data: st.DataObject, user: str, client: str, devices: int, is_here: bool) -> None:
        """Tells that a `client` of `user` is here (`is_here`) or gone, perhaps without having been here."""
        node = data.draw(st.sampled_from(sorted(self.up)))
        key = node, user, client
        if is_here:
            for stay in [stay for stay in [*self.here.values(), *self.past] if (stay.node, stay.user, stay.client) == key]:
                self._retire(stay, self.now_s + GRACE_S, self.now_s + GRACE_S)
            self.past = [stay for stay in self.past if (stay.node, stay.user, stay.client) != key or stay.devices & ~devices]
            self.here[key] = Stay(node, user, client, devices)
            self.leases.grant(node, user, client, devices, self.now_s)
        else:
            if key in self.here:
                self._retire(self.here[key], self.now_s + GRACE_S, self.now_s + GRACE_S)
            self.leases.release(node, user, client, self.now_s)

    def _retire(self, stay: Stay, sure_s: float, over_s: float) -> None:
        self.here.pop((stay.node, stay.user, stay.client), None)
        if stay in self.past:
            self.past.remove(stay)
        self.past.append(stay.ending(sure_s, over_s))

    @rule(seconds=st.sampled_from([0.5, 2.0, 4.0, GRACE_S, SWEEP_S]))
    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.leases.tick(self.now_s, 0.5)

    @rule()
    def sweep(self) -> None:
        """Sweeps a whole round, or more."""
        for _ in range(int(2 * SWEEP_S / 0.5) + 2):
            self.leases.tick(self.now_s, 0.5)
        stays = [*self.here.values(), *self.past]
        assert len(self.leases) <= len({stay.user for stay in stays if self.now_s < stay.over_s})

    @invariant()
    def everybody_is_where_the_stays_say(self) -> None:
        stays = [*self.here.values(), *self.past]
        for user, found in zip(USERS, self.leases.whereabouts(USERS, self.now_s), strict=True):
            surely = possibly = 0
            for stay in stays:
                if stay.user == user:
                    surely |= stay.devices if self.now_s < stay.sure_s else 0
                    possibly |= stay.devices if self.now_s < stay.over_s else 0
            assert found & surely == surely, f"{user} is lost"
            assert found & ~possibly == 0, f"{user} is a ghost"


Leasing.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestLeasing = Leasing.TestCase


def linked(max_users: int = 1_000_000) -> Leases:
    leases = Leases(GRACE_S, JITTER_S, max_users)
    leases.link_up("ap1")
    return leases


def test_a_lost_access_point_does_not_send_everybody_offline_in_the_same_moment() -> None:
    leases, users = linked(), [f"u{n}" for n in range(1000)]
    for user in users:
        leases.grant("ap1", user, "", 1, 0.0)
    leases.link_down("ap1", 10.0)
    online = [sum(leases.whereabouts(users, 10.0 + GRACE_S + share * JITTER_S)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    for found, expected in zip(online, (1000, 750, 500, 250, 0), strict=True):
        assert abs(found - expected) < 60


def test_who_reconnects_within_the_grace_was_never_away_wherever_he_reconnects() -> None:
    leases = linked()
    leases.link_up("ap2")
    leases.grant("ap1", "ann", "phone", 2, 0.0)
    leases.release("ap1", "ann", "phone", 1.0)
    assert leases.whereabouts(["ann"], 5.9) == b"\x02"
    leases.grant("ap2", "ann", "phone", 2, 5.9)
    assert leases.whereabouts(["ann", "bob"], 1000.0) == b"\x02\x00"


def test_a_kind_of_device_that_has_gone_is_within_its_grace_too() -> None:
    leases = linked()
    for now_s, devices in ((0.0, 3), (1.0, 1), (2.0, 2), (3.0, 1)):
        leases.grant("ap1", "ann", "", devices, now_s)
        assert leases.whereabouts(["ann"], now_s) == b"\3"
    assert [leases.whereabouts(["ann"], now_s) for now_s in (7.9, 8.0)] == [b"\3", b"\1"]
    leases.release("ap1", "ann", "", 9.0)
    assert [leases.whereabouts(["ann"], now_s) for now_s in (13.9, 14.0)] == [b"\1", b"\0"]


def test_users_over_the_bound_are_counted_and_room_is_made_when_others_have_ended() -> None:
    leases = linked(max_users=2)
    for user in ("ann", "bob", "cyd"):
        leases.grant("ap1", user, "", 1, 0.0)
    assert (leases.whereabouts(["ann", "bob", "cyd"], 0.0), leases.refused) == (b"\x01\x01\x00", 1)
    leases.release("ap1", "ann", "", 0.0)
    for _ in range(200):
        leases.tick(GRACE_S, 0.5)
    leases.grant("ap1", "cyd", "", 1, GRACE_S)
    assert leases.whereabouts(["ann", "bob", "cyd"], GRACE_S) == b"\x00\x01\x01"


def test_one_user_with_ever_new_clients_takes_bounded_memory_and_stays_online_by_the_one_that_stays() -> None:
    leases = linked()
    leases.grant("ap1", "ann", "desktop", 1, 0.0)
    for n in range(10 * MAX_CLIENTS):
        leases.grant("ap1", "ann", f"c{n}", 2, 0.0)
        leases.release("ap1", "ann", f"c{n}", 0.0)
    assert len(leases._users["ann"]) == MAX_CLIENTS
    assert leases.whereabouts(["ann"], 1000.0) == b"\x01"


def test_losing_an_access_point_costs_nothing_at_once_and_its_users_are_forgotten_a_share_at_a_time() -> None:
    leases = linked()
    for n in range(6000):
        leases.grant("ap1", f"u{n}", "", 1, 0.0)
    leases.link_down("ap1", 0.0)
    sizes = []
    while len(leases):
        before = len(leases)
        leases.tick(100.0, 0.5)
        sizes.append(before - len(leases))
    assert max(sizes) <= 100
    assert len(sizes) < 1000


def test_a_lease_is_compact() -> None:
    """Without the names, which every table of users has: lease, its place in a tuple, its place in the table."""
    leases = linked()
    for n in range(20_000):
        leases.grant("ap1", f"u{n}", "", 1, 0.0)
    held = leases._users.values()
    total = sys.getsizeof(leases._users) + sum(map(sys.getsizeof, held)) + sum(sys.getsizeof(lease) for each in held for lease in each)
    assert total / 20_000 < 200


def test_the_whereabouts_of_500_users_take_about_a_millisecond() -> None:
    leases, users = linked(), [f"u{n}" for n in range(500)]
    for n, user in enumerate(users):
        for client in range(1 + n % 3):
            leases.grant("ap1", user, f"c{client}", 1, 0.0)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        leases.whereabouts(users, 1.0)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.002
