"""Fan-out against a dumb twin: every link that wants a topic gets its event once, under its own handle."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

from infra.kernel import fanout as fanout_module
from infra.kernel.fanout import Fanout
from infra.kernel.topics import Topic, user_topic

TOPICS = st.sampled_from([user_topic(f"u{n}") for n in range(6)])


class RecordingReceiver:
    """A receiver that keeps what it was given since the last look."""

    def __init__(self) -> None:
        self.got: list[tuple[int, bytes]] = []

    def deliver(self, handle: int, body: bytes) -> None:
        self.got.append((handle, body))


class FanoutMachine(RuleBasedStateMachine):
    """`wants`: link -> topic -> handle."""

    links = Bundle("links")

    def __init__(self) -> None:
        super().__init__()
        self.fanout = Fanout()
        self.receivers: dict[int, RecordingReceiver] = {}
        self.wants: dict[int, dict[Topic, int]] = {}
        self.numbers = 0

    @rule(target=links)
    def open(self) -> int:
        receiver = RecordingReceiver()
        bit = self.fanout.open(receiver)
        self.receivers[bit], self.wants[bit] = receiver, {}
        return bit

    @rule(bit=consumes(links))
    def close(self, bit: int) -> None:
        self.fanout.interest.close(bit)
        self.fanout.forget(bit)
        del self.receivers[bit], self.wants[bit]

    @rule(bit=links, topic=TOPICS)
    def subscribe(self, bit: int, topic: Topic) -> None:
        """Subscribes, also again: then the handle is the new one."""
        self.numbers += 1
        self.fanout.interest.subscribe(bit, [topic], [self.numbers])
        self.wants[bit][topic] = self.numbers

    @rule(bit=links, topic=TOPICS)
    def unsubscribe(self, bit: int, topic: Topic) -> None:
        for row, gone, after in self.fanout.interest.unsubscribe(bit, [topic]):
            if not after:
                self.fanout.interest.release(row, gone)
        self.wants[bit].pop(topic, None)

    @rule(topic=TOPICS)
    def publish(self, topic: Topic) -> None:
        self.numbers += 1
        body, before = b"%d" % self.numbers, self.fanout.deliveries
        row = self.fanout.interest.rows.get(topic)
        if row is not None and (mask := self.fanout.interest.masks[row]):
            self.fanout.send(row, mask, body)
        expected = {bit: [(mine[topic], body)] if topic in mine else [] for bit, mine in self.wants.items()}
        assert {bit: receiver.got for bit, receiver in self.receivers.items()} == expected
        assert self.fanout.deliveries - before == sum(map(len, expected.values()))
        for receiver in self.receivers.values():
            receiver.got.clear()


TestFanout = FanoutMachine.TestCase
TestFanout.settings = settings(max_examples=50, stateful_step_count=30)


def test_no_more_sets_of_links_are_remembered_than_the_bound() -> None:
    """With 13 links there are 8191 of them; each event still finds its way."""
    fanout = Fanout()
    receivers = [RecordingReceiver() for _ in range(13)]
    bits = [fanout.open(receiver) for receiver in receivers]
    topics = [user_topic(f"u{n}") for n in range(1, 1 << len(bits))]
    for bit in bits:
        mine = [n for n in range(1, 1 << len(bits)) if n & 1 << bit]
        fanout.interest.subscribe(bit, [topics[n - 1] for n in mine], mine)
    for n, topic in enumerate(topics, 1):
        fanout.send(fanout.interest.rows[topic], n, b"%d" % n)
        assert len(fanout._targets) <= fanout_module.MAX_TARGETS
    for bit, receiver in zip(bits, receivers, strict=True):
        assert receiver.got == [(n, b"%d" % n) for n in range(1, 1 << len(bits)) if n & 1 << bit]
