"""Planning: the seconds of the papers' algorithms as the Spotify profile grows, beside the authors' own seconds at full size."""

import shutil
import sys
from typing import Final, NamedTuple

import msgspec

from analytics.planning import published

from ..micro.planning import PlanningFigures
from ..process import spawned
from ..runner import Record, Runner
from ..table import MarkdownTable, verdict
from ..whole import whole

SCALES: Final = (0.01, 0.0316, 0.1, 0.316, 1.0)
_COLUMNS: Final = ("load", "b3m", "fb3m", "slow", "hour_b3m", "hour_fb3m", "gsp", "cbp", "rsp", "ffbp")
_HEAD: Final = ("load", "B3M", "F-B3M", "F-B3M slow", "hour B3M", "hour F-B3M", "GSP", "CBP", "RSP", "FFBP")


class PlanningTarget(NamedTuple):
    """A target at full size: the seconds that must be kept, and what was published."""

    what: str
    seconds: float
    published: str


TARGETS: Final = {
    "b3m": PlanningTarget("GreedyB3M, slowest threshold", 10.0, f"below {published.SECONDS['b3m']:g} s"),
    "fb3m": PlanningTarget("lazy F-B3M, slowest threshold", 5.0, f"below {published.SECONDS['fb3m']:g} s"),
    "hour_b3m": PlanningTarget("one hour, GreedyB3M", 0.1, "a few hundred ms"),
    "hour_fb3m": PlanningTarget("one hour, F-B3M", 0.1, "half of GreedyB3M or less"),
    "gsp_cbp": PlanningTarget("GSP + CBP", 3.0, f"below {published.WHOLE[0].seconds:g} s"),
}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures from 1/100 to full size. `--seconds` under 5 stops at 1/10."""
    scales = [scale for scale in SCALES if scale <= 0.1 or runner.seconds(5) >= 5]
    found = {scale: _figures(runner, scale) for scale in scales}
    rows = [
        [
            f"{scale:g}",
            f"{each.pairs:,}",
            *(_told(getattr(each, column)) for column in _COLUMNS),
            f"{(each.b3m + each.fb3m + each.gsp + each.cbp) / each.pairs * 1e6:.2f}",
            f"{each.peak_bytes / 1e9:.1f}",
        ]
        for scale, each in found.items()
    ]
    head = ["scale", "pairs", *(f"{name}, s" for name in _HEAD), "s per million pairs", "peak, GB"]
    notes = [
        "B3M and F-B3M: 10 % of the capacity, the slowest of three thresholds; slow: without laziness, at the middle one.",
        "GSP: the slowest of three thresholds. RSP, CBP, and FFBP on what RSP chose: threshold 10, c3.large, 3600 s.",
        "Hour: what is connected and active at six in the evening, threshold 20. Per million pairs: B3M, F-B3M, GSP and CBP together.",
    ]
    tables = [MarkdownTable("Planning: the Spotify profile, one thread", head, rows, notes)]
    return [*tables, against_published(found[1.0])] if 1.0 in found else tables


def _told(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def against_published(full: PlanningFigures) -> MarkdownTable:
    """Returns the figures of full size beside the targets (WA-26, WA-27, WA-40, WA-41)."""
    seconds = {name: getattr(full, name) for name in TARGETS if name != "gsp_cbp"} | {"gsp_cbp": full.gsp + full.cbp}
    rows = [[each.what, f"{seconds[name]:.3g}", verdict(seconds[name], each.seconds), each.published] for name, each in TARGETS.items()]
    rows.append(["FFBP / CBP", f"{full.ffbp / full.cbp:.0f}", verdict(full.ffbp / full.cbp, 10, most=False), "10"])
    rows.append(
        ["GSP, slowest / quickest threshold", f"{full.gsp / full.gsp_least:.2f}", verdict(full.gsp / full.gsp_least, 1.25), "nearly 1"]
    )
    note = "Published: C++, one thread, Xeon 2.13 GHz (B3M, F-B3M) and 1.87 GHz (the rest); Setty 2015, figures 6.5 to 6.7 and 7.3.5."
    return MarkdownTable("Planning at full size, and what was published", ["what", "s", "target", "published"], rows, [note])


def _figures(runner: Runner, scale: float) -> PlanningFigures:
    """Measures one scale in a process of its own, so that its peak of memory is that of this scale."""
    trace = runner.setting.scratch / "trace"
    segue = [sys.executable, "-m", "segue", "analyze", "generate", str(trace), "--scale", str(scale), "--seed", "1"]
    try:
        runner.tell(f"planning: scale {scale:g}: generating")
        whole([*segue, "--publications", "0", "--sessions", "0"])
        runner.tell(f"planning: scale {scale:g}: planning")
        command = [sys.executable, "-m", "bench.micro.planning", str(trace), str(scale)]
        with spawned(command, runner.setting.server_core) as process:
            found = msgspec.json.decode(process.line(), type=PlanningFigures)
    finally:
        shutil.rmtree(trace, ignore_errors=True)
    figures = {name: float(value) for name, value in msgspec.structs.asdict(found).items() if value is not None}
    runner.keep(Record(benchmark="planning", who=f"scale {scale:g}", run=0, figures=figures))
    return found
