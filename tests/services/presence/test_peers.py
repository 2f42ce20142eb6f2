"""What is asked of all other presence nodes is answered once, in time, with what has come by then."""

from infra.kernel.frames import NOBODY, Call, Frame, Reply
from services.presence.peers import PresencePeers


class Outlet(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)

    @property
    def n(self) -> int:
        """The number of the last call."""
        assert isinstance(self[-1], Call)
        return self[-1].n


def linked(*addresses: str, away: int = 0, **bounds: int) -> tuple[PresencePeers, dict[str, Outlet]]:
    """Returns presence nodes at `addresses` that are linked, and `away` others that are not."""
    outlets = {address: Outlet() for address in addresses}
    peers = PresencePeers([*addresses, *(f"away{n}" for n in range(away))], 1.0, **bounds)
    for address, outlet in outlets.items():
        peers.link_up(address, outlet)
    return peers, outlets


def ask(op: str, n: int, body: bytes = b"") -> Call:
    """Returns call `n` as a peer gets it."""
    return Call(n, NOBODY, "", op, body, "presence")


def test_all_are_asked_and_the_answer_is_given_when_the_last_has_answered() -> None:
    peers, links = linked("p1", "p2")
    done: list[list[bytes]] = []
    peers.ask("last", b"body", 0.0, done.append)
    assert (links["p1"], links["p2"]) == ([ask("last", 1, b"body")], [ask("last", 2, b"body")])
    peers.reply("p2", Reply(2, "", "", b"two"))
    peers.reply("p2", Reply(2, "", "", b"again"))
    assert done == []
    peers.reply("p1", Reply(1, "", "", b"one"))
    peers.reply("p1", Reply(1, "", "", b"late"))
    peers.tick(99.0)
    assert (done, peers.unanswered) == ([[b"two", b"one"]], 0)


def test_a_reply_to_what_another_node_was_asked_is_ignored() -> None:
    peers, _ = linked("p1", "p2")
    done: list[list[bytes]] = []
    peers.ask("last", b"", 0.0, done.append)
    peers.reply("p1", Reply(2, "", "", b"not mine"))
    peers.reply("p1", Reply(1, "", "", b"one"))
    assert done == []
    peers.reply("p2", Reply(2, "", "", b"two"))
    assert done == [[b"one", b"two"]]


def test_without_anybody_to_ask_the_answer_is_given_at_once_and_those_away_are_counted() -> None:
    peers, _ = linked(away=2)
    done: list[list[bytes]] = []
    peers.ask("last", b"", 0.0, done.append)
    assert (done, peers.unanswered) == ([[]], 2)


def test_who_is_late_refuses_or_is_lost_counts_as_knowing_nothing() -> None:
    peers, links = linked("late", "refuses", "lost", "fine")
    done: list[list[bytes]] = []
    peers.ask("whereabouts", b"", 5.0, done.append)
    peers.reply("fine", Reply(links["fine"].n, "", "", b"\1"))
    peers.reply("refuses", Reply(links["refuses"].n, "unavailable", "just started", b""))
    peers.link_down("lost")
    peers.tick(5.9)
    assert done == []
    peers.tick(6.0)
    assert (done, peers.unanswered) == ([[b"\1"]], 3)
    peers.ask("whereabouts", b"", 7.0, done.append)
    assert (links["lost"], links["late"][1:]) == ([ask("whereabouts", 3)], [ask("whereabouts", 5)])


def test_open_questions_are_bounded_and_beyond_that_nobody_else_is_asked() -> None:
    peers, links = linked("p1", max_questions=2)
    done: list[list[bytes]] = []
    for _ in range(3):
        peers.ask("last", b"", 0.0, done.append)
    assert (done, len(links["p1"]), peers.unanswered) == ([[]], 2, 1)
    peers.reply("p1", Reply(1, "", "", b""))
    peers.ask("last", b"", 0.0, done.append)
    assert len(links["p1"]) == 3


def test_no_more_bytes_of_answers_wait_than_may_and_one_that_finds_no_room_counts_as_none() -> None:
    peers, links = linked("p1", "p2", max_answer_bytes=10)
    done: list[list[bytes]] = []
    for _ in range(2):
        peers.ask("last", b"", 0.0, done.append)
    (first, second), (third, fourth) = ([call.n for call in links[each] if isinstance(call, Call)] for each in ("p1", "p2"))
    peers.reply("p1", Reply(first, "", "", b"x" * 10))
    peers.reply("p1", Reply(second, "", "", b"y"))
    assert peers.unanswered == 1
    peers.reply("p2", Reply(third, "", "", b""))
    peers.reply("p2", Reply(fourth, "", "", b"z" * 10))
    assert (done, peers.unanswered) == ([[b"x" * 10, b""], [b"z" * 10]], 1)
