"""Both stages of MCSS (thesis 7.2, algorithms 8 to 12, corrected by errata E14 to E24; spec D2, D3), written to be read."""

from dataclasses import dataclass, field
from fractions import Fraction

from analytics.planning.instance import Instance
from analytics.planning.provisioning.cbp import PlacementOptions
from analytics.planning.provisioning.selection import Selection
from analytics.planning.provisioning.terms import Terms

Pair = tuple[int, int]


def gsp(found: Instance, threshold: int) -> list[list[int]]:
    """Returns the topics of each subscriber in the order in which they are chosen: each time the one with the best ratio."""
    events = found.events.tolist()
    result = []
    for topics, lacking in zip(found.topics_of.lists(), found.thresholds(threshold).tolist(), strict=True):
        chosen: list[int] = []
        while lacking > 0:
            best = max((topic for topic in topics if topic not in chosen), key=lambda topic: _merit(topic, events[topic], lacking))
            chosen.append(best)
            lacking -= events[best]
        result.append(chosen)
    return result


def _merit(topic: int, rate: int, lacking: int) -> tuple[Fraction, int, int]:
    """Returns what algorithm 8 with E14 compares: the part of the need that a topic covers, over its cost.

    Of equals the louder topic is better, then the lower number. Among topics with more events than the need, the higher number is better.
    """
    return Fraction(min(rate, lacking), lacking * 2 * rate), rate, -topic if rate <= lacking else topic


@dataclass
class Machine:
    """A machine.

    - `free`: the events that it can still take.
    - `pairs`, `topics`: what is on it.
    - `looks`: how often CBP looked at it for pairs that do not fit onto the newest machine.
    """

    free: int
    pairs: list[Pair] = field(default_factory=list)
    topics: set[int] = field(default_factory=set)
    looks: int = 0

    def has(self, topic: int) -> bool:
        """Returns whether the topic comes in already."""
        return topic in self.topics

    def place(self, topic: int, subscribers: list[int], rate: int) -> None:
        """Places the pairs of `topic` and `subscribers`; the topic has `rate` events. It comes in once, and goes out to each."""
        self.free -= rate * (len(subscribers) + (not self.has(topic)))
        self.topics.add(topic)
        self.pairs += [(topic, subscriber) for subscriber in subscribers]


def ffbp(found: Instance, pairs: list[Pair], capacity: int, machines: list[Machine], most_free: bool = False) -> list[Machine]:
    """Places each pair on the first machine with room (algorithm 10 with E17).

    - `capacity`: of a new machine.
    - `machines`: those that are there already; new ones are added.
    - `most_free`: takes the machine with most room, not the first one.
    """
    for topic, subscriber in pairs:
        rate = int(found.events[topic])
        room = [each for each in machines if each.free >= (rate if each.has(topic) else 2 * rate)]
        if not room:
            machines.append(Machine(capacity))
            room = machines[-1:]
        best = max(room, key=lambda each: each.free) if most_free else room[0]
        best.place(topic, [subscriber], rate)
    return machines


def cbp(found: Instance, selection: Selection, terms: Terms, options: PlacementOptions, machines: list[Machine]) -> list[Machine]:
    """Places topics by algorithms 11 and 12 as in spec D3.

    - `selection`: the pairs.
    - `terms`: machine and prices.
    - `options`: which of the algorithm's steps are on.
    - `machines`: those that are there already; none of them is the newest.
    """
    events, of = found.events.tolist(), selection.subscribers_of.lists()
    topics = [topic for topic in range(len(events)) if of[topic]]
    if options.expensive_first:
        topics.sort(key=lambda topic: -events[topic] * (len(of[topic]) if options.by == "volume" else 1))
    if not options.group:
        return ffbp(found, [(topic, v) for topic in topics for v in of[topic]], terms.capacity, machines, options.most_free)
    newest = None
    for topic in topics:
        rate, left = events[topic], of[topic]
        if newest and _fit(newest.free, rate) >= len(left):
            newest.place(topic, left, rate)
            continue
        parts = _parts(sorted(machines, key=lambda each: -each.free) if options.most_free else machines, rate, len(left), options.most_free)
        if not options.decide or _cheaper_to_distribute(len(left), [size for _, size in parts], rate, terms):
            for machine, size in parts:
                machine.place(topic, left[:size], rate)
                left = left[size:]
        while left:
            newest = Machine(terms.capacity)
            machines.append(newest)
            size = _fit(terms.capacity, rate)
            newest.place(topic, left[:size], rate)
            left = left[size:]
    return machines


def _fit(free: int, rate: int) -> int:
    return free // rate - 1 if free >= 2 * rate else 0


def _parts(machines: list[Machine], rate: int, left: int, falling: bool) -> list[tuple[Machine, int]]:
    """Returns which machines take how many of the `left` pairs. `falling`: no machine has more room than the one before."""
    parts = []
    for machine in machines:
        machine.looks += 1
        size = min(left, _fit(machine.free, rate))
        if size:
            parts.append((machine, size))
            left -= size
        if not left or (falling and not size):
            break
    return parts


def _cheaper_to_distribute(pairs: int, sizes: list[int], rate: int, terms: Terms) -> bool:
    per_machine = _fit(terms.capacity, rate)
    among, fresh = -((sum(sizes) - pairs) // per_machine), -(-pairs // per_machine)
    usd = terms.rent_usd(1), terms.traffic_usd(1)
    return among * usd[0] + (pairs + len(sizes) + among) * rate * usd[1] < fresh * usd[0] + (pairs + fresh) * rate * usd[1]
