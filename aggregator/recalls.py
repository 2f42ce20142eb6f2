"""Recalls: questions of access points about what they or their clients have missed, on the way to the owners of the topics and back.

The owner answers on the link by which the events come, so what follows the answer there comes behind what it has. Where the owner changes
meanwhile, that holds no longer: then the new one is asked.

An access point that wants the `rest` has missed something itself, and gives nobody anything of the topics before the answer. So it is asked
for as long as that access point is linked: events that come without an answer may be ones that it had from another aggregator (DPS-11).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Final, NamedTuple

from infra.kernel.frames import Recall, Recalled
from infra.kernel.loss_reasons import LossReason
from infra.runtime.link import Link

from .asker import Asker

# For so many heartbeats a question for a client is asked again; whoever has asked does not wait for longer.
MOST_BEATS: Final = 10
# So many topics are asked about at once.
MOST_TOPICS: Final = 1 << 20

_Known = list[tuple[str, int, int]]


class _Question(NamedTuple):
    """The open part of a question that `asker` has asked at the heartbeat `beat`; `slot` is asked now, "" is nobody."""

    asker: Asker
    recall: Recall
    known: dict[bytes, _Known]
    beat: int
    slot: str


class Recalls:
    """The questions that are open at one aggregator.

    - `owner(topic)`: the slot that owns a topic now, None while nobody does.
    - `links`: the links to the brokers, by slot.
    """

    def __init__(self, owner: Callable[[bytes], str | None], links: Mapping[str, Link]) -> None:
        self._owner, self._links = owner, links
        self._open: dict[int, _Question] = {}
        self._last = self._beat = self._topics = 0

    def __len__(self) -> int:
        """Returns how many topics are asked about."""
        return self._topics

    def ask(self, asker: Asker, recall: Recall) -> None:
        """Asks the owners of the topics of `recall` what `asker` wants to know."""
        if self._topics + len(recall.topics) > MOST_TOPICS:
            self._say_all(asker, recall, recall.topics, LossReason.TOO_MUCH)
            return
        since = recall.since or [[] for _ in recall.topics]
        known = dict(zip(recall.topics, since, strict=True))  # a topic may be named twice
        self._topics += len(known)
        self._send(_Question(asker, recall, known, self._beat, ""))

    def _send(self, question: _Question) -> None:
        by_owner: dict[str, dict[bytes, _Known]] = {}
        for topic, known in question.known.items():
            by_owner.setdefault(self._owner(topic) or "", {})[topic] = known
        for slot, mine in by_owner.items():
            self._ask(slot, question._replace(known=mine))

    def _ask(self, slot: str, question: _Question) -> None:
        link = self._links.get(slot)
        if link is not None and not link.knows(Recall):
            self._topics -= len(question.known)
            self._say_all(question.asker, question.recall, question.known, LossReason.NO_WINDOW)
            return
        self._last += 1
        self._open[self._last] = question._replace(slot=slot if link is not None else "")
        if link is not None:
            recall, known = question.recall, question.known
            since = list(known.values()) if any(known.values()) else []
            link.send(Recall(self._last, list(known), recall.stamps, since, recall.rest))

    def answered(self, slot: str, answer: Recalled) -> None:
        """Passes on what `slot` has answered. What another one owns by now is asked anew."""
        question = self._open.get(answer.n)
        if question is None or question.slot != slot:
            return
        mine = Recalled(question.recall.n, [], [], [], [], answer.stamps, answer.epoch)
        moved: dict[bytes, _Known] = {}
        for topic, reason, bodies, quiet in _parts(answer):
            known = question.known.pop(topic, None)
            if known is None:
                continue
            if reason == "moved" or self._owner(topic) != slot:
                moved[topic] = known
            else:
                mine.topics.append(topic)
                mine.reasons.append(reason)
                mine.counts.append(len(bodies))
                mine.bodies.extend(bodies)
                if answer.quiet:
                    mine.quiet.append(quiet)
        self._topics -= len(mine.topics)
        if mine.topics:
            question.asker.link.send(mine)
        if not question.known:
            del self._open[answer.n]
        if moved:
            self._wait(question._replace(known=moved))

    def _wait(self, question: _Question) -> None:
        """Asks again in the next heartbeat, or at once where another one can be asked."""
        if all(self._owner(topic) not in (question.slot, None) for topic in question.known):
            self._send(question)
        else:
            self._last += 1
            self._open[self._last] = question._replace(slot="")

    def link_down(self, slot: str) -> None:
        """Notes that `slot` answers no more what it was asked."""
        for n, question in self._open.items():
            if question.slot == slot:
                self._open[n] = question._replace(slot="")

    def tick(self) -> None:
        """Counts a heartbeat: asks again what nobody answers, and gives up what is old and is for a client."""
        self._beat += 1
        for n, question in list(self._open.items()):
            if self._beat - question.beat > MOST_BEATS and not question.recall.rest:
                self._give_up(n)
                self._say_all(question.asker, question.recall, question.known, LossReason.LATE)
            elif not question.slot and any(self._owner(topic) in self._links for topic in question.known):
                del self._open[n]
                self._send(question)

    def forget(self, asker: Asker) -> None:
        """Forgets what one has asked whose link is gone."""
        for n in [n for n, question in self._open.items() if question.asker is asker]:
            self._give_up(n)

    def _give_up(self, n: int) -> None:
        self._topics -= len(self._open.pop(n).known)

    def _say_all(self, asker: Asker, recall: Recall, topics: Iterable[bytes], reason: str) -> None:
        named = list(topics)
        asker.link.send(Recalled(recall.n, named, [reason] * len(named), [0] * len(named), []))


def _parts(answer: Recalled) -> Iterator[tuple[bytes, str, list[bytes], int]]:
    """Yields each topic of an answer, why not all is there, its events, and behind which stamp nothing has come."""
    at = 0
    quiet = answer.quiet or repeat(0)
    for topic, reason, count, stamp in zip(answer.topics, answer.reasons, answer.counts, quiet):  # noqa: B905  # the codec has checked them
        yield topic, reason, answer.bodies[at : at + count], stamp
        at += count
