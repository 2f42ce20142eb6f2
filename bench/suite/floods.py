"""What a pair notices of somebody who floods the same site (DPS-26): real processes, each way of flooding by itself."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

import msgspec

from ..micro.flooder import TLS_WAYS, WAYS
from ..plan import GeneratorPlan, Go, Publishing, Target
from ..process import spawned
from ..runner import Record, Runner
from ..servers.segue import access_point, three_processes
from ..setting import BenchSetting
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

PAIR: Final = WorkloadShape(clients=2, topics=20, mean=10, fixed=True)
EVENTS_PER_S: Final = 100.0
MOST_MS: Final = 50.0
MOST_TIMES_IDLE: Final = 2.0


Site = Callable[[BenchSetting], AbstractContextManager[Target]]
HEAD: Final = ["way", "p99 ms idle", "p99 ms flooded", "target", "times idle", "p50 ms flooded", "lost", "the flooder, last run"]


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the pair idle and beside each way of flooding, in plain and over TLS. Each has a fresh site."""
    plain = [_way(runner, way, three_processes, "single") for way in WAYS]
    tls = [_way(runner, way, partial(access_point, tls=True), "link") for way in TLS_WAYS]
    around = "with the limits that are usual. The flooder is on the generator's core with the pair, which goes before it."
    return [
        MarkdownTable("Floods: what a pair notices", HEAD, plain, [f"Broker, aggregator and access point on the server's core, {around}"]),
        MarkdownTable(
            "Floods over TLS", HEAD, tls, [f"An access point with TLS on the server's core, fed by the generator on a link, {around}"]
        ),
    ]


def _way(runner: Runner, way: str, site: Site, publishing: Publishing) -> list[str]:
    idle_ms, flooded_ms, middle_ms, lost, did = [], [], [], 0, ""
    for run in range(runner.runs):
        runner.tell(f"floods: {way}, run {run + 1} of {runner.runs}")
        with site(runner.setting) as target:
            plan = GeneratorPlan(target=target, shape=PAIR, publishing=publishing, rate=EVENTS_PER_S, publishers=1)
            with runner.generating(plan) as pair:
                idle = pair.run(Go(seconds=runner.seconds(5)))
                with spawned(_command(way, target), runner.setting.generator_core) as flooder:
                    flooder.line()  # it has begun
                    flooded = pair.run(Go(seconds=runner.seconds(5)))
                    flooder.say(b"")
                    did = _told(flooder.line())
        over = ", TLS" if target.ca_file else ""
        for who, result in ((f"{way}{over}, idle", idle), (f"{way}{over}, flooded", flooded)):
            runner.keep(Record(benchmark="floods", who=who, run=run, result=result))
        idle_ms.append(idle.p99_ms)
        flooded_ms.append(flooded.p99_ms)
        middle_ms.append(flooded.p50_ms)
        lost += flooded.audit.lost
    times = median(flooded_ms) / max(median(idle_ms), 1e-3)
    target_text = verdict(median(flooded_ms), MOST_MS)
    times_text = f"{times:.1f} ({verdict(times, MOST_TIMES_IDLE)})" if way == "handshakes" else f"{times:.1f}"
    return [way, spread(idle_ms, ".2f"), spread(flooded_ms, ".2f"), target_text, times_text, spread(middle_ms, ".2f"), str(lost), did]


def _command(way: str, target: Target) -> list[str]:
    return [
        sys.executable,
        "-m",
        "bench.micro.flooder",
        way,
        target.clients_at,
        target.publish_at,
        target.state,
        *filter(None, [target.ca_file]),
    ]


def _told(line: bytes) -> str:
    """Returns what the flooder has done, in words."""
    done: dict[str, int] = msgspec.json.decode(line)
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in sorted(done.items()))
