"""Requests that services answer: each is answered once, by the node that was asked, or refused."""

import pytest

from accesspoint.calls import SERVICE_OF, Calls
from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Frame, Reply

Result = Reply | Refused


class Outlet(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


def names(results: list[Result]) -> list[str]:
    return [result.code.name if isinstance(result, Refused) else "reply" for result in results]


def test_a_request_goes_to_the_service_that_is_named_and_its_reply_comes_back() -> None:
    calls, presence, notification, results = Calls(9, 1000, 5.0), Outlet(), Outlet(), list[Result]()
    calls.node_up("presence", "p1", presence)
    calls.node_up("notification", "n1", notification)
    for op in ("act", "pull", "list", "seen", "read", "change"):
        calls.call(SERVICE_OF[op], op, "ann", "desktop", op.encode(), 0.0, results.append)
    assert presence == [Call(1, "ann", "desktop", "act", b"act")]
    others = ("pull", "list", "seen", "read", "change")
    assert notification == [Call(n, "ann", "desktop", op, op.encode()) for n, op in enumerate(others, 2)]
    order = (3, 1, 6, 4, 2, 5)
    for n in order:
        calls.reply("p1" if n == 1 else "n1", Reply(n, "", "", b"%d" % n))
    assert results == [Reply(n, "", "", b"%d" % n) for n in order]


def test_a_user_is_served_by_one_node_of_a_service_while_the_nodes_stay() -> None:
    calls, nodes = Calls(1000, 1000, 5.0), {f"p{n}": Outlet() for n in range(3)}
    for name, outlet in nodes.items():
        calls.node_up("presence", name, outlet)
    for _ in range(3):
        for n in range(40):
            calls.call("presence", "act", f"u{n}", "", b"", 0.0, lambda result: None)
    asked = [{frame.user for frame in outlet if isinstance(frame, Call)} for outlet in nodes.values()]
    assert all(asked)
    assert sum(map(len, asked)) == len(set[str]().union(*asked)) == 40


def test_without_a_node_of_the_service_a_request_is_refused_at_once() -> None:
    calls, outlet = Calls(9, 1000, 5.0), Outlet()
    for op, service in SERVICE_OF.items():
        with pytest.raises(Refused, match=f"unavailable: no {service} service"):
            calls.call(service, op, "ann", "", b"", 0.0, lambda result: None)
    calls.node_up("presence", "p1", outlet)
    assert (calls.has("presence"), calls.has("notification")) == (True, False)
    calls.node_down("presence", "p1")
    with pytest.raises(Refused, match="unavailable"):
        calls.call("presence", "act", "ann", "", b"", 0.0, lambda result: None)
    assert not calls.has("presence")


def test_a_lost_node_owes_no_answers_any_more_and_others_still_do() -> None:
    calls, nodes, results = Calls(99, 1000, 5.0), {"p1": Outlet(), "p2": Outlet()}, dict[str, Result]()
    for name, outlet in nodes.items():
        calls.node_up("presence", name, outlet)
    for n in range(20):
        calls.call("presence", "act", f"u{n}", "", b"", 0.0, lambda result, user=f"u{n}": results.__setitem__(user, result))  # type: ignore[misc]
    calls.node_down("presence", "p1")
    assert set(results) == {frame.user for frame in nodes["p1"] if isinstance(frame, Call)} != set()
    assert set(names(list(results.values()))) == {"unavailable"}
    for address, outlet in nodes.items():
        for frame in outlet:
            assert isinstance(frame, Call)
            calls.reply(address, Reply(frame.n, "", "", b""))
    assert len(results) == 20
    assert all(isinstance(results[frame.user], Reply) for frame in nodes["p2"] if isinstance(frame, Call))


def test_who_is_not_answered_in_time_is_told_so_once_and_a_late_reply_is_ignored() -> None:
    calls, results = Calls(9, 1000, 5.0), list[Result]()
    calls.node_up("presence", "p1", Outlet())
    calls.call("presence", "act", "ann", "", b"", 1.0, results.append)
    calls.tick(5.9)
    assert results == []
    calls.tick(6.0)
    calls.reply("p1", Reply(1, "", "", b""))
    calls.tick(99.0)
    assert names(results) == ["unavailable"]


def test_open_requests_are_bounded_and_an_answer_makes_room() -> None:
    calls, results = Calls(2, 1000, 5.0), list[Result]()
    calls.node_up("presence", "p1", Outlet())
    for _ in range(2):
        calls.call("presence", "act", "ann", "", b"", 0.0, results.append)
    with pytest.raises(Refused, match="too many"):
        calls.call("presence", "act", "ann", "", b"", 0.0, results.append)
    calls.reply("p1", Reply(1, "", "", b""))
    calls.call("presence", "act", "ann", "", b"", 0.0, results.append)
    assert names(results) == ["reply"]


def test_no_more_bytes_wait_for_answers_than_may() -> None:
    """An answer, a lost node and the deadline make room again."""
    calls, results = Calls(9, 10, 5.0), list[Result]()
    calls.node_up("presence", "p1", Outlet())
    for n, size_bytes in enumerate((4, 6), 1):
        calls.call("presence", "act", "ann", "", b"x" * size_bytes, float(n), results.append)
    with pytest.raises(Refused, match="too many"):
        calls.call("presence", "act", "ann", "", b"x", 2.0, results.append)
    calls.reply("p1", Reply(1, "", "", b""))
    assert calls.open_bytes == 6
    calls.call("presence", "act", "ann", "", b"x" * 4, 3.0, results.append)
    calls.tick(7.0)
    assert calls.open_bytes == 4
    calls.node_down("presence", "p1")
    assert (calls.open_bytes, len(results)) == (0, 3)


def test_replies_to_nothing_are_ignored() -> None:
    calls = Calls(2, 1000, 5.0)
    calls.reply("p1", Reply(7, "", "", b""))
    calls.node_down("presence", "p1")
    assert not calls.has("presence")


def test_a_reply_of_a_node_that_was_not_asked_is_ignored() -> None:
    calls, results = Calls(9, 1000, 5.0), list[Result]()
    calls.node_up("presence", "p1", Outlet())
    calls.call("presence", "act", "ann", "", b"", 0.0, results.append)
    calls.reply("n1", Reply(1, "", "", b"not mine"))
    assert results == []
    calls.reply("p1", Reply(1, "", "", b"mine"))
    assert results == [Reply(1, "", "", b"mine")]
