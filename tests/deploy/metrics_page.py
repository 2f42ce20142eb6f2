"""Makes `docs/metrics.md` from the tables of the roles: `.venv/bin/python -m tests.deploy.metrics_page`."""

from itertools import groupby
from pathlib import Path

from infra.runtime.door_opener import METRICS as DOORS
from infra.runtime.http.admin import METRICS as ADMIN
from infra.runtime.link_auth import METRICS as LINKS
from infra.runtime.metrics import Metric
from segue.cluster.roles import ROLES, metrics_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"

_INTRODUCTION = """\
# Metrics

Which metrics are there, and what does each one count? [operations.md](operations.md) says what to watch, and when to worry.

Every process shows them at `/metrics` for Prometheus and, as JSON, at `/v1/stats`. All have the labels `site` and `node`. A few
have one more label, whose values are a fixed set in the code. None is per user or per topic. Each process also has
`process_loop_lag_seconds` (the longest delay of its event loop in the last 15 seconds) and, on Linux, the usual `process_*`
figures of memory, CPU and descriptors.

This page is made from the `metrics.py` of each role by `tests/deploy/metrics_page.py`. A test compares the two.
"""


def render() -> str:
    """Returns the whole page."""
    groups = groupby((*metrics_of(ROLES), *DOORS, *LINKS, *ADMIN), lambda metric: metric.name.partition("_")[0])
    return _INTRODUCTION + "".join(_table(role, tuple(metrics)) for role, metrics in groups)


def _table(role: str, metrics: tuple[Metric, ...]) -> str:
    head = f"\n## {role}\n\n| name | kind | label | meaning |\n|---|---|---|---|\n"
    return head + "".join(f"| `{each.name}` | {each.kind} | {each.label} | {each.help} |\n" for each in metrics)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
