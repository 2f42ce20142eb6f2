"""What a client of a site's brokers knows of how far it has got."""

from typing import Any

from broker.client import SiteClient
from infra.kernel.frames import HIGHEST_TAG, Announced, Bereft, Heartbeat, Hello, Inherited, Sealed, Settled, View
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

BOTH, LEFT = View(1, ("b1", "b2")), View(2, ("b2",))


class ClientOfTwo:
    """A client of the brokers b1 and b2, with links to them."""

    def __init__(self, told: View = BOTH) -> None:
        """Makes a client with links to both. `told`: the view that their hello names."""
        self.told = told
        nobody: Any = None  # it dials nobody
        self.client = SiteClient(nobody, "sto", {"b1": "x1", "b2": "x2"}, wanted=lambda: ())
        self.wires = {slot: RecordingWire() for slot in ("b1", "b2")}
        self.links = {slot: self.linked(slot) for slot in self.wires}

    def linked(self, slot: str) -> Link:
        hello = Hello("broker", slot, "sto", 1, 1, self.told, tags=HIGHEST_TAG)
        link = Link(self.wires[slot], hello, f"x{slot[1]}", 0.0, Link.flush)
        self.client.link_up(link)
        return link

    def hear(self, slot: str, *frames: Any) -> None:
        self.client.frames(self.links[slot], frames)
        self.client.taken(self.links[slot])


def test_what_a_lost_broker_has_said_counts_until_its_heirs_have_given_the_rest() -> None:
    """DPS-18: it does not know what they have let out, so whoever went by its word would be given that again."""
    two = ClientOfTwo()
    two.hear("b1", Heartbeat(BOTH, {7: 5, 70: 1}))
    two.hear("b2", Heartbeat(BOTH, {8: 9}))
    two.hear("b2", Heartbeat(LEFT, {8: 10}))
    assert Bereft(LEFT, "b1", {7: 5, 70: 1}) in two.wires["b2"].sent
    assert two.client.stamps == {7: 5, 70: 1, 8: 10}
    two.hear("b2", Inherited("b1", ["playlist"]), Heartbeat(LEFT, {8: 11}))
    assert two.client.stamps == {8: 11}
    two.hear("b1", Heartbeat(BOTH, {7: 6, 70: 1}))
    assert two.client.stamps == {8: 11}, "it is out, and does not know that"
    back = View(3, ("b1", "b2"))
    two.hear("b1", Heartbeat(back, {7: 8}))
    assert two.client.stamps == {7: 8, 8: 11}


def test_a_broker_whose_hello_was_before_its_first_view_is_asked_whether_it_goes_by_one() -> None:
    """DPS-15: it went over to the view before the link stood, and said so to others. Without its word nobody would ever be done."""
    two, nobody = ClientOfTwo(View(0, ())), View(0, ())
    assert [wire.sent[-1] for wire in two.wires.values()] == [Announced(nobody)] * 2
    two.hear("b1", Heartbeat(BOTH), Sealed(BOTH))
    two.hear("b2", Heartbeat(BOTH))
    assert Announced(BOTH) not in two.wires["b1"].sent
    two.hear("b2", Sealed(BOTH))  # the answer
    for wire in two.wires.values():
        assert wire.sent[-2:] == [Announced(BOTH), Settled(1)]
