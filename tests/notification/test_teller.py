"""Live copies that no broker takes."""

from collections.abc import Callable

from infra.kernel.events import Event, waiting_bytes
from infra.kernel.topics import inbox_topic
from notification import teller
from notification.teller import Teller


class Engine:
    """An engine that takes events, or not. `ended`: what came of them, by id."""

    def __init__(self, room: int = 9) -> None:
        """Makes a teller that may keep `room` events."""
        self.now_s, self.is_there = 0.0, True
        self.taken: list[bytes] = []
        self.ended: list[tuple[bytes, bool, int]] = []
        self.teller = Teller(self.publish, lambda: self.now_s, room * waiting_bytes([b""]))

    def publish(self, event: Event, done: Callable[[bool], None]) -> None:
        if self.is_there:
            self.taken.append(event.id)
        done(self.is_there)

    def tell(self, number: int) -> None:
        event = Event(inbox_topic("ann"), b"e%d" % number, b"")
        self.teller.tell(event, lambda ok, attempts: self.ended.append((event.id, ok, attempts)))


def test_what_no_broker_takes_is_told_when_one_is_back_once() -> None:
    engine = Engine()
    engine.is_there = False
    engine.tell(1)
    engine.teller.tick()
    engine.is_there = True
    engine.tell(2)
    for _ in range(3):
        engine.teller.tick()
    assert (engine.taken, engine.teller.failed) == ([b"e2", b"e1"], 0)
    assert engine.ended == [(b"e2", True, 1), (b"e1", True, 3)]


def test_it_is_given_up_after_a_while_and_counted() -> None:
    engine = Engine()
    engine.is_there = False
    engine.tell(1)
    engine.now_s = teller.TRY_S
    engine.teller.tick()
    engine.is_there = True
    engine.teller.tick()
    assert (engine.taken, engine.teller.failed, engine.ended) == ([], 1, [(b"e1", False, 1)])


def test_no_more_bytes_are_kept_than_may_be() -> None:
    """What was told, or given up, makes room."""
    engine = Engine(room=2)
    engine.is_there = False
    for number in range(3):
        engine.tell(number)
    assert (engine.teller.failed, len(engine.ended)) == (1, 1)
    engine.teller.tick()
    assert engine.teller.failed == 1
    engine.is_there = True
    engine.teller.tick()
    engine.is_there = False
    for number in range(3, 5):
        engine.tell(number)
    assert (engine.taken, engine.teller.failed) == ([b"e0", b"e1"], 1)


def test_at_the_end_none_is_kept() -> None:
    engine = Engine(room=2)
    engine.is_there = False
    for number in range(2):
        engine.tell(number)
    engine.teller.end()
    assert (engine.teller.failed, len(engine.ended)) == (2, 2)
