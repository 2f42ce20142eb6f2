"""`python -m bench.micro.overlay_scribe NODES` times Scribe: its trees built, an event on each topic, and cycles of churn."""

import sys
import time
from typing import Final

import msgspec
import numpy as np

from overlay.simulator.churn.cycles import by_cycle
from overlay.simulator.churn.maker import ChurnShape, make_churn
from overlay.simulator.churning import ChurningPlan, run_churning
from overlay.simulator.graphs.friends import friends
from overlay.simulator.scribe.overlay import ScribeOverlay

# The nodes of the trace of churn, for each of those whose trees are built. A whole day is timed at the published size, else an hour.
CHURN_SHARE: Final = 0.4
DAY: Final = 1440
_HOUR: Final = 60
_PUBLISHED_NODES: Final = 4000
_MINUTE_MS: Final = 60_000


class ScribeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The seconds of processor time; kernels are compiled before.

    - `built`: for all trees, one for each topic. `published`: for an event on each topic, which was so many `deliveries`.
    - `cycle`: for one cycle of churn and an event on each topic after it, with `churned` nodes.
    """

    built: float
    published: float
    deliveries: int
    cycle: float
    churned: int

    def plain(self) -> dict[str, float]:
        """Returns the figures by name."""
        return msgspec.structs.asdict(self)


def measure(nodes: int) -> ScribeFigures:
    """Builds the trees of `nodes` friends, publishes, and lets fewer nodes live through churn."""
    churned = max(200, round(CHURN_SHARE * nodes))
    _churn(200, 2)
    workload = friends(nodes, 1).workload()
    started_s = time.process_time()
    system = ScribeOverlay(workload, 1)
    built_s = time.process_time()
    counts = system.publish_each()
    published_s = time.process_time()
    return ScribeFigures(
        built=built_s - started_s,
        published=published_s - built_s,
        deliveries=int(np.asarray(counts.got).sum()),
        cycle=_churn(churned, DAY if churned >= _PUBLISHED_NODES else _HOUR),
        churned=churned,
    )


def _churn(nodes: int, cycles: int) -> float:
    """Returns the seconds of a cycle."""
    workload = friends(nodes, 1).workload()
    churn = by_cycle(make_churn(ChurnShape(nodes=workload.nodes, days=1, crowd=nodes // 8), 1), _MINUTE_MS, cycles, workload.nodes)
    system = ScribeOverlay(workload, 1, away=np.setdiff1d(np.arange(workload.nodes), churn.coming[0]).tolist())
    started_s = time.process_time()
    done = len(list(run_churning(system, workload, ChurningPlan(churn=churn))))
    return (time.process_time() - started_s) / done


if __name__ == "__main__":
    print(msgspec.json.encode(measure(int(sys.argv[1]))).decode())
