"""infra.kernel.summed_gains: what is told on is near the sum of what all links tell, whatever they do."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.gains import followers_of, gain_of
from infra.kernel.interest import LINKS, Interest
from infra.kernel.summed_gains import SummedGains
from infra.kernel.topics import Topic, user_topic

TOPICS = [user_topic(name) for name in ("ann", "ben", "cid")]
LINK = st.integers(0, 3)
STEPS = st.lists(
    st.tuples(st.sampled_from(["want", "want", "plain", "leave", "close", "tick"]), LINK, st.sampled_from(TOPICS), st.integers(1, 20)),
    max_size=60,
)


class _Node:
    """Links and what they tell, beside a dumb model of it; and what the node has told on."""

    def __init__(self, counted: Callable[[], int] = lambda: LINKS) -> None:
        self.interest = Interest()
        self.gains = SummedGains(self.interest, counted)
        self.bits: dict[int, int] = {}
        self.said: dict[tuple[int, Topic], int] = {}
        self.told: dict[Topic, int | None] = {}

    def want(self, link: int, topic: Topic, gain: int | None) -> None:
        bit = self.bits[link] if link in self.bits else self.bits.setdefault(link, self.interest.open())
        first = [(row, topic) for row, topic, before in self.interest.subscribe(bit, [topic], [0]) if not before]
        self.said[link, topic] = gain or 1
        self.gains.subscribed(bit, [topic], bytes([gain]) if gain else b"", first)
        for row, wanted in first:
            self._hear(row, wanted)

    def _hear(self, row: int, topic: Topic) -> None:
        self.told[topic] = next(iter(self.gains.of([row])), None)

    def leave(self, link: int, topic: Topic) -> None:
        if self.said.pop((link, topic), None) is None:
            return
        self.gains.left([topic])
        self._gone(self.interest.unsubscribe(self.bits[link], [topic]))

    def close(self, link: int) -> None:
        if link in self.bits:
            bit = self.bits.pop(link)
            self.said = {key: gain for key, gain in self.said.items() if key[0] != link}
            gone = self.interest.close(bit)
            self.gains.left(topic for _, topic, _ in gone)
            self.gains.forget(bit)
            self._gone(gone)

    def _gone(self, gone: list[tuple[int, Topic, int]]) -> None:
        for row, topic, after in gone:
            if not after:
                del self.told[topic]
                self.interest.release(row, topic)

    def tick(self) -> None:
        for row, topic in self.gains.changed():
            self._hear(row, topic)

    def check(self) -> None:
        for topic, gain in self.told.items():
            if gain is None:
                continue  # nobody told anything when it was wanted first
            followers = sum(followers_of(each) for (_, of), each in self.said.items() if of == topic)
            assert 0.75 * (1 << gain - 1) <= followers < 1.25 * (1 << gain), (topic, gain, followers)


@given(STEPS)
def test_what_is_told_on_is_near_the_sum(steps: list[tuple[str, int, Topic, int]]) -> None:
    """DPS-20: links come, change, leave topics and go, and some of them tell nothing; rows are used again."""
    node = _Node()
    for what, link, topic, gain in steps:
        match what:
            case "want":
                node.want(link, topic, gain)
            case "plain":
                node.want(link, topic, None)
            case "leave":
                node.leave(link, topic)
            case "close":
                node.close(link)
        node.tick()
        node.check()
    assert node.told.keys() == {topic for _, topic in node.said}


def test_nothing_is_kept_or_told_while_no_link_tells() -> None:
    """DPS-20: it costs nothing where it is off."""
    node = _Node()
    node.want(0, TOPICS[0], None)
    node.leave(0, TOPICS[0])
    assert node.gains.of([0, 1]) == b""
    assert node.gains.changed() == []


def test_links_that_do_not_count_add_nothing() -> None:
    """A broker tells other sites of its own site's clients, and not of a third one's."""
    node = _Node(lambda: 0b01)
    node.want(0, TOPICS[0], 3)
    node.want(1, TOPICS[0], 20)
    node.tick()
    assert node.gains.of([0]) == bytes([gain_of(followers_of(3))])
