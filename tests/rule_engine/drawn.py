"""Facts drawn by chance."""

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from rule_engine.facts import CLASSES_OF, FACTS, Facts

FLAGS = [fact.attribute for fact in FACTS.values() if fact.type is bool]


def random_facts(seed: int, number: int) -> Iterator[Facts]:
    """Returns `number` of them; the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(number):
        topic = rng.choice(list(CLASSES_OF))
        flags: dict[str, Any] = {flag: rng.random() < 0.5 for flag in FLAGS}
        counts: dict[str, Any] = {"mails_recent": rng.randrange(6), "pushes_recent": rng.randrange(14)}
        yield Facts(topic=topic, cls=rng.choice(CLASSES_OF[topic]), **counts, **flags)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Draws the same, for hypothesis to make small."""
    topic = draw(st.sampled_from(list(CLASSES_OF)))
    flags: dict[str, Any] = {flag: draw(st.booleans()) for flag in FLAGS}
    counts: dict[str, Any] = {"mails_recent": draw(st.integers(0, 6)), "pushes_recent": draw(st.integers(0, 14))}
    return Facts(topic=topic, cls=draw(st.sampled_from(CLASSES_OF[topic])), **counts, **flags)
