"""Latency at half of Segue's own maximum, and a peer's latency at the same rate."""

from ..comparison import peers, wrong
from ..plan import Go, RunResult
from ..runner import Runner
from ..servers.segue import one_process
from ..table import MarkdownTable, median, spread, verdict

PLAN = {"publishing": "ndjson", "batch": 32}
LIMIT_MS = 20.0
OURS = "segue, NDJSON of up to 32"


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the maximum in a closed loop, then latencies in an open loop at half of it. They count from when a publication is due."""
    go = Go(seconds=runner.seconds(5))
    results: dict[str, list[RunResult]] = {OURS: []}
    for run in range(runner.runs):
        most = runner.measure("latency", "maximum", run, one_process, go, **PLAN).publications_per_s
        rate = most / 2
        # An open loop takes what is due, so batches are as large as the rate makes them.
        results[OURS].append(runner.measure("latency", OURS, run, one_process, go, rate=rate, **PLAN))
        for peer in peers(runner, ["nats"]):
            results.setdefault(peer.who, []).append(runner.measure("latency", peer.who, run, peer.start, go, rate=rate, **peer.plan))
    head = ["server", "publications/s", "p50 ms", "p99 ms", "max ms", "targets", "wrong"]
    return [MarkdownTable("Latency at half of the maximum, social mix", head, [_row(who, results) for who in results])]


def _row(who: str, results: dict[str, list[RunResult]]) -> list[str]:
    mine = results[who]
    p99_ms = [result.p99_ms for result in mine]
    targets = verdict(median(p99_ms), LIMIT_MS) if who == OURS else ""
    if who == OURS and "nats" in results:
        ratio = median([ours / max(theirs.p99_ms, 1e-3) for ours, theirs in zip(p99_ms, results["nats"], strict=True)])
        targets += f"; {ratio:.2f} x nats ({verdict(ratio, 1.0)})"
    return [
        who,
        spread([result.publications_per_s for result in mine], ",.0f"),
        spread([result.p50_ms for result in mine], ".2f"),
        spread(p99_ms, ".2f"),
        spread([result.max_ms for result in mine], ".1f"),
        targets,
        wrong(mine),
    ]
