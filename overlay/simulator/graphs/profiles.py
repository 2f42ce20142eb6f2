"""The generator's profiles as graphs. Their pairs are drawn at random, so that nobody shares more with others than chance makes them."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from analytics.generator.pairs import chunks, pairs
from analytics.generator.profile import Name, profile
from analytics.generator.trace_plan import TracePlan

from .graph import SubscriptionGraph, graph_of

_PAIRS_PER_CHUNK: Final = 4_000_000


def profile_graph(name: Name, scale: float, seed: int) -> SubscriptionGraph:
    """Returns who follows whom in a trace of this profile: the same pairs as `segue analyze generate` writes for `presence`.

    `scale`: 1 is the published size, which is 4.9 M subscribers for `spotify` and 30 M for `twitter`. Raises TraceError for a scale or a
    seed that cannot be.
    """
    about = profile(name, scale, seed)
    with TemporaryDirectory(prefix="segue-overlay-") as folder:
        plan = TracePlan(Path(folder))
        plan.write(about)
        slots = plan.slots()
        found = [pairs(about, slots, chunk) for chunk in chunks(about, _PAIRS_PER_CHUNK)]
    subscriber, topic = (np.concatenate([getattr(each, field) for each in found]) for field in ("subscriber", "topic"))
    return graph_of(subscriber, topic, is_social=True)
