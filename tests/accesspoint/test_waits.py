"""Subscribe answers that wait until they are true, against marks that real announcers reach, lose and reach again."""

import random
from collections.abc import Callable

import pytest

from accesspoint.waits import Waits
from infra.kernel.announcer import MAX_MARKS, Announcer
from infra.kernel.frames import Frame, Subscribe, View
from infra.kernel.receipts import MAX_PENDING, Receipts
from infra.kernel.topics import Topic, user_topic

Said = tuple[str, str, list[str]]


class Answers(list[Said]):
    """The answers that were given, in order, by name."""

    def to(self, name: str) -> "Answer":
        return Answer(self, name)


class Answer:
    def __init__(self, answers: Answers, name: str) -> None:
        self._answers, self._name = answers, name

    def __call__(self, installed: str, missing_sites: list[str], now_s: float) -> None:
        self._answers.append((self._name, installed, missing_sites))


@pytest.fixture
def answers() -> Answers:
    return Answers()


def test_local_waits_for_the_own_site_and_all_for_every_site_that_is_known(answers: Answers) -> None:
    waits = Waits("sto")
    waits.add("local", 3, 2.0, answers.to("one"))
    waits.add("all", 3, 2.0, answers.to("two"))
    waits.advance({"sto": 2, "lon": 3}, 0.0)
    assert answers == []
    waits.advance({"sto": 3, "lon": 2}, 0.1)
    assert answers == [("one", "local", [])]
    waits.advance({"sto": 3, "lon": 3}, 0.2)
    assert answers[1:] == [("two", "all", [])]
    assert len(waits) == 0


def test_after_the_deadline_the_answer_names_the_sites_that_are_missing(answers: Answers) -> None:
    waits = Waits("sto")
    waits.add("all", 5, 2.0, answers.to("one"))
    waits.advance({"sto": 5, "lon": 4, "ash": 0}, 1.99)
    assert answers == []
    waits.advance({"sto": 5, "lon": 4, "ash": 0}, 2.0)
    assert answers == [("one", "partial", ["ash", "lon"])]


def test_without_any_word_from_above_the_own_site_is_missing(answers: Answers) -> None:
    waits = Waits("sto")
    waits.add("local", 1, 2.0, answers.to("one"))
    waits.add("all", 1, 2.0, answers.to("two"))
    waits.advance({}, 2.0)
    assert answers == [("one", "partial", ["sto"]), ("two", "partial", ["sto"])]


def test_what_is_lost_again_before_it_was_said_is_not_said(answers: Answers) -> None:
    waits = Waits("sto")
    waits.add("all", 2, 2.0, answers.to("one"))
    for reached in ({"sto": 2, "lon": 1}, {"sto": 0, "lon": 2}, {"sto": 2, "lon": 0}):
        waits.advance(reached, 0.0)
    assert answers == []


def test_answers_come_in_the_order_of_the_questions(answers: Answers) -> None:
    """Random marks, sites and times: each is answered once, true at that moment or after its deadline."""
    rng, waits = random.Random(41), Waits("sto")
    mark, now_s, asked, reached = 0, 0.0, 0, {"sto": 0, "lon": 0}
    for _ in range(2000):
        now_s += rng.random() * 0.1
        if rng.random() < 0.5:
            mark += rng.random() < 0.7
            asked += 1
            waits.add(rng.choice(("local", "all")), mark, now_s + 2.0, answers.to(str(asked)))
        reached[rng.choice(("sto", "lon"))] = rng.randrange(mark + 1)
        waits.advance(reached, now_s)
    waits.advance(dict.fromkeys(reached, mark), now_s)
    assert len(waits) == 0
    assert sorted(int(name) for name, _, _ in answers) == list(range(1, asked + 1))
    for level in ("local", "all"):
        said = [int(name) for name, installed, _ in answers if installed == level]
        assert said == sorted(said)


class Chain:
    """An access point's announcer, an aggregator between, and an aggregator's announcer to one broker that answers late."""

    def __init__(self) -> None:
        self.topics: dict[Topic, int] = {}
        self.below = Announcer("sto", lambda: [(row, topic) for topic, row in self.topics.items()])
        self.above = Announcer("sto", lambda: [(row, topic) for topic, row in self.topics.items()])
        self.receipts = Receipts()
        self.below.set_view(View(1, ("a1",)))
        self.above.set_view(View(1, ("b1",)))
        self.sent = 0
        self.above.node_up("b1", Outlet(self.count))
        self.below.node_up("a1", Outlet(self.take))

    def count(self, frame: Frame) -> None:
        assert isinstance(frame, Subscribe)
        self.sent = frame.n

    def take(self, frame: Frame) -> None:
        assert isinstance(frame, Subscribe)
        self.above.want([(row, Topic(topic)) for row, topic in zip(frame.handles, frame.topics, strict=True)])
        self.receipts.record(frame.n, {}, self.above.mark())

    def want(self, topic: Topic) -> int:
        row = self.topics[topic] = len(self.topics)
        self.below.want([(row, topic)])
        return self.below.mark()

    def answer(self) -> None:
        """Has the broker and the other site do everything that was sent."""
        self.above.applied("b1", self.sent, {"sto": self.sent, "lon": self.sent})
        if (news := self.receipts.advance(self.above.reached)) is not None:
            self.below.applied("a1", news.n, news.sites)


class Outlet:
    """A link that hands frames to a function."""

    def __init__(self, take: Callable[[Frame], None]) -> None:
        self._take = take

    def send(self, frame: Frame) -> None:
        self._take(frame)


@pytest.mark.parametrize("pending", [1, 7, MAX_MARKS - 1, MAX_MARKS, MAX_MARKS + 1, MAX_PENDING + 2, 2 * MAX_PENDING])
def test_however_many_changes_wait_the_last_one_is_answered_when_it_is_installed(answers: Answers, pending: int) -> None:
    """A site that stays away costs coarser marks, never a lost one."""
    chain, waits = Chain(), Waits("sto")
    for n in range(pending):
        waits.add("all", chain.want(user_topic(f"u{n}")), 2.0, answers.to(f"u{n}"))
    waits.advance(chain.below.reached, 0.0)
    assert answers == []
    chain.answer()
    waits.advance(chain.below.reached, 0.0)
    assert [(name, installed) for name, installed, _ in answers] == [(f"u{n}", "all") for n in range(pending)]
