"""What keeps its order while topics come from another broker of the site."""

import pytest

from broker.site_order import SiteOrder
from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.events import numbering, origin_epoch_seq
from infra.kernel.frames import View
from infra.kernel.topics import Topic, inbox_topic, kind_of, user_topic

BEFORE, NOW = View(1, ("b1", "b2")).ring, View(2, ("b1",)).ring
# Three brokers, of which b3 leaves first and then b2.
THREE = View(0, ("b1", "b2", "b3")).ring
TOPICS = [user_topic(f"u{n}") for n in range(40)]
CAME, OTHER = [topic for topic in TOPICS if BEFORE.owner(topic) == "b2"][:2]
MINE = next(topic for topic in TOPICS if BEFORE.owner(topic) == "b1")
# It goes from b3 to b2, and from there to b1.
TWICE = next(topic for topic in TOPICS if (THREE.owner(topic), BEFORE.owner(topic)) == ("b3", "b2"))
INBOX = next(topic for topic in (inbox_topic(f"u{n}") for n in range(40)) if BEFORE.owner(topic) == "b2")


def event(seq: int, site: str = "lon", epoch: int = 3) -> bytes:
    return b'%b%d,"payload":{}}' % (numbering(site, epoch), seq)


class Receiver:
    """The broker b1, to which all topics of b2 have come. `last`: the last number of each topic that it has."""

    def __init__(self, **last: int) -> None:
        self.last = {CAME: last["came"]} if last else {}
        self.got: list[tuple[Topic, int]] = []
        self.order = SiteOrder(self.place, lambda topic: kind_of(topic) in ("user", "playlist"), self.go, max_bytes=4000)
        self.order.begin(BEFORE, NOW, "b1", ["b2"])

    def place(self, topic: Topic, site: str) -> tuple[int, int] | None:
        return (3, self.last[topic]) if topic in self.last and site == "lon" else None

    def go(self, bodies: list[bytes]) -> None:
        for body in bodies:
            self.give(CAME, body)

    def give(self, topic: Topic, body: bytes) -> None:
        site, _, seq = origin_epoch_seq(body)
        self.got.append((topic, seq))
        if site == "lon":
            self.last[topic] = seq

    def comes(self, topic: Topic, body: bytes) -> None:
        """Takes an event that another site has sent to b1."""
        if not self.order.waits(topic, body):
            self.give(topic, body)

    def strays(self, seq: int, topic: Topic = CAME) -> None:
        """Takes an event that another site has sent to a former owner of `topic`."""
        if not self.order.waits(topic, event(seq), is_strayed=True):
            self.give(topic, event(seq))
        self.order.strayed([topic])

    @property
    def numbers(self) -> list[int]:
        return [seq for _, seq in self.got]


def test_an_event_waits_for_those_before_it_which_come_by_way_of_the_former_owner() -> None:
    """DPS-17: another link was faster, and followers got them in the wrong order."""
    receiver = Receiver(came=4)
    receiver.comes(CAME, event(7))
    receiver.comes(CAME, event(8))
    assert receiver.got == []
    assert receiver.order.waiting == 2
    receiver.strays(5)
    assert receiver.numbers == [5]
    receiver.strays(6)
    assert receiver.numbers == [5, 6, 7, 8]
    receiver.comes(CAME, event(9))
    assert receiver.numbers[-1] == 9


@pytest.mark.parametrize("is_slow", [False, True], ids=["come before it", "come behind it"])
def test_what_comes_by_way_of_the_former_owner_waits_for_those_before_it_which_another_site_sent_here(*, is_slow: bool) -> None:
    """DPS-17: the topic had been b1's, which withdrew it at the other site when it was told to have it again.

    5 and 6 were sent to b1 under the old subscription, 7 to b2 while there was none, and 8 to b1 under the new one.
    """
    receiver = Receiver()
    if not is_slow:
        receiver.comes(CAME, event(5))
        receiver.comes(CAME, event(6))
    receiver.strays(7)
    if is_slow:
        receiver.comes(CAME, event(5))
        receiver.comes(CAME, event(6))
    receiver.comes(CAME, event(8))
    assert receiver.got == []
    receiver.order.settled(["b2"])
    assert receiver.numbers == [5, 6, 7, 8]


def test_what_is_the_next_one_or_of_a_topic_that_has_not_moved_or_is_not_kept_does_not_wait() -> None:
    receiver = Receiver(came=4)
    for topic, seq in ((CAME, 5), (MINE, 8), (INBOX, 9)):
        receiver.comes(topic, event(seq))
    assert receiver.numbers == [5, 8, 9]
    assert not receiver.order.waits(CAME, b"no broker has written this")


@pytest.mark.parametrize("how", ["it has settled", "it is gone", "it does not say so", "too much waits", "it owns them again"])
def test_nobody_is_waited_for_for_ever(how: str) -> None:
    """DPS-17: an event that is really missing holds up nothing."""
    receiver = Receiver()
    receiver.comes(CAME, event(7))
    receiver.comes(CAME, event(8, site="ash"))
    assert receiver.numbers == []
    match how:
        case "it has settled":
            receiver.order.settled(["b3"])
            assert not receiver.order.is_over
            receiver.order.settled(["b2"])
        case "it is gone":
            receiver.order.tick(["b3"])
        case "it does not say so":
            for _ in range(PARTING_BEATS + 1):
                receiver.order.tick(["b2"])
        case "too much waits":
            for seq in range(9, 30):
                receiver.comes(CAME, event(seq))
        case _:
            receiver.order.begin(NOW, BEFORE, "b1", ["b2"])
    assert receiver.numbers[:2] == [7, 8]
    assert receiver.order.waiting == 0


def test_a_view_that_changes_nothing_here_does_not_end_the_wait() -> None:
    """DPS-17: an operator said where the ring is to end while topics came here, and later ones overtook what came by way of others."""
    receiver = Receiver(came=4)
    receiver.order.begin(NOW, NOW, "b1", ["b2"])
    receiver.comes(CAME, event(6))
    assert receiver.got == []
    receiver.strays(5)
    assert receiver.numbers == [5, 6]
    receiver.order.settled(["b2"])
    assert receiver.order.is_over


class Heir(Receiver):
    """The broker b1, to which a topic of b3 has come by way of b2: b3 and b2 have left one right after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.last = {TWICE: 4}
        self.order = SiteOrder(self.place, lambda _: True, self.go)
        self.order.begin(THREE, BEFORE, "b1", ["b2", "b3"])
        self.order.begin(BEFORE, NOW, "b1", ["b2", "b3"])

    def go(self, bodies: list[bytes]) -> None:
        for body in bodies:
            self.give(TWICE, body)

    def strays(self, seq: int, topic: Topic = TWICE) -> None:
        super().strays(seq, topic)


def test_what_comes_by_way_of_two_former_owners_keeps_its_order() -> None:
    """DPS-17: b3 had got 5, b2 had got 6, and 7 came at once."""
    heir = Heir()
    heir.comes(TWICE, event(7))
    heir.strays(6)
    assert heir.got == []
    heir.strays(5)
    assert heir.numbers == [5, 6, 7]


def test_what_is_missing_by_way_of_two_former_owners_is_waited_for_until_both_have_settled() -> None:
    """DPS-17: what waits goes in the order of its numbers."""
    heir = Heir()
    heir.comes(TWICE, event(9))
    heir.strays(8)
    heir.order.settled(["b3"])
    heir.strays(7)
    assert heir.got == []
    heir.order.settled(["b2"])
    assert heir.numbers == [7, 8, 9]
    assert heir.order.is_over
    assert heir.order.waiting == 0


def test_what_waits_goes_in_the_order_of_its_numbers_when_all_have_settled() -> None:
    """DPS-17: the event 5 is really missing."""
    heir = Heir()
    heir.comes(TWICE, event(8))
    heir.strays(7)
    heir.strays(6)
    heir.order.settled(["b2", "b3"])
    assert heir.numbers == [6, 7, 8]


def test_what_waits_of_a_topic_goes_with_it_to_its_next_owner() -> None:
    """DPS-17"""
    receiver = Receiver(came=4)
    receiver.comes(CAME, event(6))
    receiver.order.begin(NOW, View(3, ("b2",)).ring, "b1", ["b2"])
    assert receiver.numbers == [6]
    assert receiver.order.waiting == 0
