"""Kept positions stand behind what was taken, never behind what has only arrived."""

import pytest

from segue.sdk.cursor import Cursors, Number, Position
from segue.sdk.errors import Misuse
from segue.sdk.kept_positions import KeptPositions
from segue.sdk.messages import Event


def event(seq: int, topic: str = "t") -> Event:
    return Event(topic=topic, site="sto", epoch=1, seq=seq, ts_ms=0, id="", kind="play", payload={})


class Told:
    """A client that follows `t`: what arrives moves its cursors and is on its way to the application."""

    def __init__(self) -> None:
        self.cursors, self.kept = Cursors(), KeptPositions("", {})
        self.cursors.ask(["t"])
        self.cursors.settle(["t"], [])

    def arrives(self, seq: int) -> None:
        self.cursors.take(event(seq))
        self.kept.arrived()

    def reaches(self, point: str) -> None:
        self.cursors.reach(point)
        self.kept.changed(self.cursors)


def place(point: str | None, *seqs: int) -> dict[str, Position]:
    return {"t": Position(point, {"sto": tuple(Number(1, seq) for seq in seqs)} if seqs else {})}


def test_a_number_moves_when_its_event_is_taken() -> None:
    told = Told()
    for seq in (1, 2):
        told.arrives(seq)
    assert (told.kept.positions, told.kept.is_changed) == ({}, False)
    told.kept.taken(event(1))
    assert (told.kept.positions, told.kept.is_changed) == (place(None, 1), True)


def test_a_point_counts_when_everything_before_it_was_taken() -> None:
    told = Told()
    told.reaches("p1")
    assert told.kept.positions == place("p1")
    told.arrives(1)
    told.reaches("p2")
    told.arrives(2)
    assert told.kept.positions == place("p1")
    told.kept.taken(event(1))
    assert told.kept.positions == place("p2", 1)


def test_one_picture_waits_at_most_and_the_last_change_is_not_forgotten() -> None:
    told = Told()
    told.arrives(1)
    for point in ("p1", "p2", "p3"):
        told.reaches(point)
    told.arrives(2)
    told.kept.taken(event(1))
    assert told.kept.positions == place("p1", 1)
    told.kept.taken(event(2))
    assert told.kept.positions == place("p3", 2)


def test_what_is_forgotten_does_not_come_back_with_a_picture_that_waits() -> None:
    told = Told()
    told.arrives(1)
    told.reaches("p1")
    told.kept.forget(["t", "unknown"])
    told.arrives(2)
    told.kept.arrived()
    told.kept.taken(event(1, topic="u"))
    assert "t" not in told.kept.positions


def test_positions_of_another_user_are_refused() -> None:
    kept = KeptPositions("", {})
    for _ in range(2):
        kept.belong("ann")
    with pytest.raises(Misuse, match="holds positions of ann, and this client is bob; give each user a file"):
        kept.belong("bob")
