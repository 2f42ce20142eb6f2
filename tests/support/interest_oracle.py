"""Which interest every aggregator and broker should hold, from what clients want; and which they do hold."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from broker.recorded_rows import HERE
from infra.kernel.interest import Interest
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

# Node -> (topic, the node that wants it there).
Tables = dict[str, set[tuple[Topic, str]]]


def implied(points: Iterable[Any], brokers: Iterable[Any], rings: dict[str, Ring], is_cut: Callable[[str, str], bool]) -> Tables:
    """Access points want topics of their aggregator, which wants them of the topic's owner, which wants them of the
    topic's owner at each other site that can be reached. There an owner wants for a while also what nobody follows any more (DPS-4)."""
    tables: Tables = defaultdict(set)
    for point in points:
        aggregator = point.upstream.source.address
        for _, topic in point.core.hub.wanted():
            owners = {site: f"{site}/{ring.owner(topic)}" for site, ring in rings.items()}
            here = owners.pop(point.site)
            tables[aggregator].add((topic, name_of(point)))
            tables[here].add((topic, aggregator))
            for there in owners.values():
                if not is_cut(here, there):
                    tables[there].add((topic, here))
    for broker in brokers:
        here = name_of(broker)
        for _, topic in broker.core.interest.wanted(HERE):
            others = {f"{site}/{ring.owner(topic)}" for site, ring in rings.items() if site != broker.site}
            for there in others:
                if not is_cut(here, there):
                    tables[there].add((topic, here))
    return tables


def held(aggregators: Iterable[Any], brokers: Iterable[Any]) -> Tables:
    """Returns what the nodes really hold."""
    tables: Tables = defaultdict(set)
    for aggregator in aggregators:
        tables[name_of(aggregator)] = set(_rows(aggregator.core.interest, aggregator.points.everyone))
    for broker in brokers:
        tables[name_of(broker)] = set(_rows(broker.core.interest, broker.subscribers.everyone))
    return tables


def _rows(interest: Interest, subscribers: Iterable[Any]) -> Iterator[tuple[Topic, str]]:
    for subscriber in subscribers:
        peer = subscriber.link.peer
        for _, topic in interest.wanted(1 << subscriber.bit):
            yield topic, f"{peer.site}/{peer.node}"


def name_of(node: Any) -> str:
    """Returns how tests name a running node."""
    return f"{node.site}/{node.options.slot if hasattr(node.options, 'slot') else node.node}"
