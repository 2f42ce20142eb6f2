"""Orders of operators at an access point: whom they are about, found without a look at all others. Whole clusters: `tests/cluster`."""

from collections.abc import Callable, Iterator
from typing import Any

from accesspoint.hub import SLICE
from accesspoint.orders import Orders
from accesspoint.session import Session, SessionState
from infra.kernel.orders import AnnounceOrder, DisconnectOrder, Order, SessionsOrder, body_of, read_point
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession


class Unwalkable(dict[str, Session]):
    """Sessions by id that nobody may go through to find one of them."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("somebody looks at all sessions")

    def keys(self) -> Any:
        return iter(self)

    items = values = keys


def done(orders: Orders, order: Order) -> int:
    """Returns how many sessions an order was about."""
    return read_point(orders.obey(body_of(order), 1.0)).done


def ends(session: RecordingSession) -> tuple[str, int | None] | None:
    return session.ending


def test_a_session_is_found_by_its_id_whoever_else_is_there() -> None:
    there = GuardedCore()
    ann, bob = there.client("ann"), there.client("bob")
    core = there.core
    orders = Orders("sto/ap1", Unwalkable({ann.id: ann, bob.id: bob}), core.hub, core.users, core.gatekeeper, lambda step: None)
    assert done(orders, DisconnectOrder("o1", "", ann.id, True)) == 1
    assert (ends(ann), ends(bob)) == (("disconnected", None), None)
    assert done(orders, DisconnectOrder("o2", "", "0123456789abcdef", True)) == 0


def test_who_has_not_said_hello_and_who_is_gone_are_in_no_order() -> None:
    there = GuardedCore()
    stranger, gone, ann = RecordingSession(there.core), there.client("gone"), there.client("ann")
    there.core.leave(gone, "lost")
    orders = there.core.orders
    assert done(orders, DisconnectOrder("o1", "", gone.id, True)) == 0
    assert done(orders, DisconnectOrder("o2", "", stranger.id or "none", True)) == 0
    assert done(orders, AnnounceOrder("o3", "hello")) == 1
    assert [message["op"] for message in ann.messages][-1] == "announcement"
    assert stranger.messages == []


def test_everybody_is_told_a_slice_in_each_turn_of_the_loop_and_who_has_left_by_then_is_not() -> None:
    steps: list[Callable[[], None]] = []
    there = GuardedCore()
    core = there.core
    clients = [there.client(f"u{n}") for n in range(SLICE + 2)]
    orders = Orders("sto/ap1", {each.id: each for each in clients}, core.hub, core.users, core.gatekeeper, steps.append)
    assert done(orders, AnnounceOrder("o1", "hello")) == SLICE + 2
    told = [client for client in clients if client.messages[-1]["op"] == "announcement"]
    assert (len(told), len(steps)) == (SLICE, 1)
    left = next(client for client in clients if client not in told)
    left.state = SessionState.ENDED
    steps.pop()()
    assert (sum(client.messages[-1]["op"] == "announcement" for client in clients), steps) == (SLICE + 1, [])


def test_an_order_that_comes_twice_is_done_once_but_a_question_is_not_remembered() -> None:
    """DPS-26: the sessions of a user may be long to tell, and hundreds of such answers would stay in memory."""
    there = GuardedCore()
    orders = there.core.orders
    there.client("ann")
    assert [done(orders, AnnounceOrder("o1", "hello")) for _ in range(2)] == [1, 1]
    assert [message["op"] for message in there.client("bob").messages].count("announcement") == 0
    assert done(orders, AnnounceOrder("o1", "hello")) == 1
    assert done(orders, SessionsOrder("o2", "ann")) == 1
    there.client("ann")
    assert done(orders, SessionsOrder("o2", "ann")) == 2
