"""Subscriptions that begin and end, and how many are live (thesis figures 5.9 and 5.10)."""

from typing import TYPE_CHECKING, Final

import numpy as np
from pyspark.sql import functions as f

from infra.kernel.trace import SERVICES

from .binned import Binned, binned
from .cycles import churn_measures, live_measures
from .drawing import Drawing
from .grid import Floats, Series

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SERVICE, _ACTION, _STOOD = 0, 1, 2
_TABLE: Final = "subscription_log"


def draw_churn(drawing: Drawing, rows: "DataFrame", publications: Series) -> None:
    """Draws both figures from the log, `rows`.

    `publications`: of each service by fine bin; their week is compared with that of the requests.
    """
    results, grid = drawing.results, drawing.grid
    found = binned(rows, grid, f.col("service"), f.col("action"), f.col("time_ms") == grid.start_ms)
    if not found.series:
        results.lacks(_TABLE, "no row of the log lies in the period")
        return
    scale = drawing.scale(_TABLE)
    asked = {action: found.total({_ACTION: action, _STOOD: "false"}) * scale for action in ("subscribe", "unsubscribe")}
    drawing.note_sample("churn", _TABLE, found)
    results.note("churn", "Rows at the very start of the period tell what stood then, and are no requests.")
    drawing.line("churn", asked)
    measures = churn_measures(grid, asked["subscribe"], asked["unsubscribe"], publications.get("presence"))
    results.measure_all(measures, "there are too few requests or whole days, or no publications of presence to compare with")
    _draw_live(drawing, found, scale)


def _draw_live(drawing: Drawing, found: Binned, scale: float) -> None:
    results, services = drawing.results, [service for service in SERVICES if service in found.words(_SERVICE)]
    pairs = drawing.trace.subscriptions(drawing.spark).count() * (1 if drawing.trace.has("subscriptions") else scale)
    if not pairs:
        results.skip("live", "the trace tells of no subscription but that it ended")
        return
    changes = {service: np.cumsum(_change(found, service)) * scale for service in services}
    # Where more have ended than begun, some stood from the start. The lowest point tells how many at least.
    before = {service: max(0.0, -float(change.min())) for service, change in changes.items()}
    live: dict[str, Floats] = {service: change + before[service] for service, change in changes.items()}
    drawing.note_sample("live", _TABLE, found)
    if any(before.values()):
        results.note("live", f"{sum(before.values()):,.0f} that ended without having begun are taken to have stood from the start.")
    drawing.level("live", {service: 100 * level / pairs for service, level in live.items()})
    results.note("live", f"What is live at the end of a bin; 100 % are all {pairs:,.0f} subscriptions of all services.")
    results.measure_all(live_measures(drawing.grid, live), "there are not two whole days with live subscriptions at every hour")
    drawing.skip_other_services(("live.share",), set(services), "subscription")


def _change(found: Binned, service: str) -> Floats:
    return found.total({_SERVICE: service, _ACTION: "subscribe"}) - found.total({_SERVICE: service, _ACTION: "unsubscribe"})
