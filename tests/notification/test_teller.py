"""Live copies that no broker takes."""

from collections.abc import Callable

from infra.kernel.events import Event, waiting_bytes
from infra.kernel.topics import inbox_topic
from notification import teller
from notification.teller import Teller


class Engine:
    """Takes events, or not."""

    def __init__(self, room: int = 9) -> None:
        """`room`: how many events the teller may keep."""
        self.now_s, self.is_there = 0.0, True
        self.taken: list[bytes] = []
        self.teller = Teller(self.publish, lambda: self.now_s, room * waiting_bytes([b""]))

    def publish(self, event: Event, done: Callable[[bool], None]) -> None:
        if self.is_there:
            self.taken.append(event.id)
        done(self.is_there)


def event(number: int) -> Event:
    return Event(inbox_topic("ann"), b"e%d" % number, b"")


def test_what_no_broker_takes_is_told_when_one_is_back_once() -> None:
    engine = Engine()
    engine.is_there = False
    engine.teller.tell(event(1))
    engine.teller.tick()
    engine.is_there = True
    engine.teller.tell(event(2))
    for _ in range(3):
        engine.teller.tick()
    assert (engine.taken, engine.teller.failed) == ([b"e2", b"e1"], 0)


def test_it_is_given_up_after_a_while_and_counted() -> None:
    engine = Engine()
    engine.is_there = False
    engine.teller.tell(event(1))
    engine.now_s = teller.TRY_S
    engine.teller.tick()
    engine.is_there = True
    engine.teller.tick()
    assert (engine.taken, engine.teller.failed) == ([], 1)


def test_no_more_bytes_are_kept_than_may_be() -> None:
    """What was told, or given up, makes room."""
    engine = Engine(room=2)
    engine.is_there = False
    for number in range(3):
        engine.teller.tell(event(number))
    assert engine.teller.failed == 1
    engine.teller.tick()
    assert engine.teller.failed == 1
    engine.is_there = True
    engine.teller.tick()
    engine.is_there = False
    for number in range(3, 5):
        engine.teller.tell(event(number))
    assert (engine.taken, engine.teller.failed) == ([b"e0", b"e1"], 1)
