"""What a capture costs: the whole path in one process, with and without one."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..comparison import Comparison, Contender, wrong
from ..plan import Go, Target
from ..runner import Runner
from ..servers.segue import one_process
from ..setting import BenchSetting
from ..table import MarkdownTable, median, spread, verdict

MOST_LOST: Final = 0.03
PLAIN, CAPTURED = "without", "with a capture"
# The subscriptions of all clients fill a segment when they connect. The warm-up is long enough to write it before the measured time.
HOW: Final = {"publishing": "ndjson", "batch": 32, "warmup_s": 5.0}


@contextmanager
def captured(setting: BenchSetting) -> Iterator[Target]:
    """Runs `segue up --capture` into a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="capture-", dir=setting.scratch) as folder:
        with one_process(setting, ["--capture", str(Path(folder, "trace"))]) as target:
            yield target


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures with and without a capture in a closed loop. They run in turn, and each pair gives one ratio."""
    contenders = [Contender(PLAIN, one_process, HOW), Contender(CAPTURED, captured, HOW)]
    comparison = Comparison(runner, "capture", contenders, Go(seconds=runner.seconds(10)))
    pairs = list(zip(*(comparison.results[who] for who in (PLAIN, CAPTURED)), strict=True))
    lost = [1 - other.deliveries_per_s / max(one.deliveries_per_s, 1e-9) for one, other in pairs]
    dearer = [other.cpu_s_per_100k / max(one.cpu_s_per_100k, 1e-9) - 1 for one, other in pairs]
    rows = [
        *(
            [f"deliveries/s, {who}", spread([each.deliveries_per_s for each in results], ",.0f"), ""]
            for who, results in comparison.results.items()
        ),
        ["throughput lost", spread(lost, ".1%"), verdict(median(lost), MOST_LOST)],
        ["more CPU for a delivery", spread(dearer, ".1%"), ""],
        ["wrong", wrong([result for pair in pairs for result in pair]), ""],
    ]
    return [MarkdownTable("Capture: all roles in one process, HTTP batches of 32, social mix", ["what", "how much", "target"], rows)]
