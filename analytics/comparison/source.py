"""The source of a comparison: a characterization, or the trace that it is of."""

from collections.abc import Callable
from pathlib import Path

from analytics.summary import SUMMARY
from analytics.trace import Trace


def characterization(path: Path, begun: Callable[[str], None]) -> Path:
    """Returns `path` if it is a characterization, or the folder `<path>-report` of a trace, which is made if it is not there.

    `begun` is told the name of each step. Raises TraceError where `path` is neither.
    """
    if (path / SUMMARY).exists():
        return path
    Trace.open(path)
    report = path.resolve().with_name(f"{path.resolve().name}-report")
    if not (report / SUMMARY).exists():
        # Imported here because it starts Spark, which a comparison of characterizations does not need.
        from analytics.characterization.job import characterize
        from analytics.characterization.options import Options

        characterize(path, report, Options(), lambda step: begun(f"{path.name}: {step}"))
    return report
