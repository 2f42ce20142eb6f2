"""The benchmarks, one module each. `measure(runner)` measures and returns tables."""

from collections.abc import Callable
from typing import Final

from ..runner import Runner
from ..table import MarkdownTable
from . import (
    access_point,
    authorization,
    burst,
    capture,
    connects,
    fan_out,
    floods,
    intake,
    interest,
    latency,
    links,
    marks,
    memory,
    one_process,
    one_request,
    one_topic,
    overlay_events,
    overlay_poldercast,
    overlay_quasar,
    overlay_scribe,
    path_two,
    planning,
    pull,
    stopped_readers,
    sustained,
    three_processes,
    tls,
    traces,
    verdicts,
)

Benchmark = Callable[[Runner], list[MarkdownTable]]

BENCHMARKS: Final[dict[str, Benchmark]] = {
    "access_point": access_point.measure,
    "one_process": one_process.measure,
    "one_request": one_request.measure,
    "three_processes": three_processes.measure,
    "one_topic": one_topic.measure,
    "latency": latency.measure,
    "memory": memory.measure,
    "connects": connects.measure,
    "tls": tls.measure,
    "interest": interest.measure,
    "links": links.measure,
    "authorization": authorization.measure,
    "stopped_readers": stopped_readers.measure,
    "burst": burst.measure,
    "sustained": sustained.measure,
    "capture": capture.measure,
    "verdicts": verdicts.measure,
    "floods": floods.measure,
    "fan_out": fan_out.measure,
    "intake": intake.measure,
    "path_two": path_two.measure,
    "pull": pull.measure,
    "marks": marks.measure,
    "overlay_scribe": overlay_scribe.measure,
    "overlay_quasar": overlay_quasar.measure,
    "planning": planning.measure,
    "overlay_events": overlay_events.measure,
    "overlay_poldercast": overlay_poldercast.measure,
    "traces": traces.spotify,
    "traces_twitter": traces.twitter,
}
