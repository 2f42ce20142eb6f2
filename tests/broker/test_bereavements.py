"""Who has lost a broker gets an answer, however many they have lost."""

from broker.bereavements import MOST, Bereavements
from broker.core import BrokerCore
from infra.kernel.frames import HIGHEST_TAG, Bereft, Hello, Inherited, View
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire


class Aggregator:
    """A link that subscribes, and keeps what it is told."""

    def __init__(self) -> None:
        self.bit, self.wire = 3, RecordingWire()
        self.link = Link(self.wire, Hello("aggregator", "a1", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG), None, 0.0, Link.flush)


def test_of_too_many_losses_that_wait_the_oldest_is_answered_with_nothing() -> None:
    """DPS-18: whoever asks waits for the answer, and would go by what a broker that is gone had said."""
    bereavements, aggregator = Bereavements(BrokerCore("sto", 7), {}), Aggregator()
    for n in range(MOST + 1):
        bereavements.note(aggregator, Bereft(View(n + 1, ("b1",)), f"gone{n}", {5: n}))
    assert aggregator.wire.sent == [Inherited("gone0", [])]
    bereavements.serve(aggregator)
    assert aggregator.wire.sent == [Inherited(f"gone{n}", []) for n in range(MOST + 1)]
