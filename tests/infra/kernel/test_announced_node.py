"""What a node was told, and which topics are new to it."""

import pytest

from infra.kernel import announced_node
from infra.kernel.announced_node import AnnouncedNode
from infra.kernel.frames import Frame
from infra.kernel.topics import Topic

ANN, BOB, CYD = (Topic(name) for name in (b"Uann", b"Ubob", b"Ucyd"))


class Silent:
    """A way on which nothing is kept."""

    def send(self, frame: Frame) -> None: ...


def linked(*told: Topic) -> AnnouncedNode:
    """Returns a node with a link, that was told of some topics, each in one change."""
    node = AnnouncedNode()
    node.up(Silent())
    for topic in told:
        node.sent += 1
        node.told([topic])
    return node


def test_what_a_node_has_not_said_to_be_done_when_its_link_breaks_is_fresh_on_the_next_one() -> None:
    """DPS-10: it may have got nothing of that. The rest it has had, and goes on with."""
    node = linked(ANN, BOB)
    node.open.popleft()
    assert node.unanswered(is_lost=False) == {BOB}
    node.down()
    node.told([CYD])
    assert node.unanswered(is_lost=False) == {BOB, CYD}
    node.close([CYD])
    assert node.up(Silent()) == {BOB}
    assert node.unanswered(is_lost=False) == set()


def test_what_another_process_says_to_deliver_its_former_one_did_not_until_that_is_lost() -> None:
    """DPS-18: as far as it had not said so, or was told of it since."""
    node = linked(ANN)
    node.down()
    node.told([BOB])
    node.up(Silent(), is_other=True)
    node.refresh([CYD])
    node.close([BOB])
    assert node.unanswered(is_lost=True) == {ANN, CYD}
    assert node.unanswered(is_lost=False) == set(), "as planned, it is this process that hands over"


def test_a_node_that_never_had_a_link_has_nothing_fresh_and_one_without_a_link_hears_of_what_others_are_told() -> None:
    node = AnnouncedNode()
    node.down()
    node.refresh([ANN])
    assert node.up(Silent()) == set()
    node.down()
    node.refresh([ANN])
    assert node.up(Silent()) == {ANN}


def test_so_many_topics_are_fresh_and_not_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_node, "MAX_FRESH", 2)
    node = linked()
    node.down()
    node.refresh([ANN, BOB])
    node.refresh([CYD])
    assert node.up(Silent()) == {ANN, BOB}
