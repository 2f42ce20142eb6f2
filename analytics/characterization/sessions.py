"""Users who come and go, and how long they stay."""

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as f

from .binned import binned
from .distribution import Population
from .drawing import Drawing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ACTION, _STOOD = 0, 1
_TABLE: Final = "sessions"


def draw_sessions(drawing: Drawing, rows: "DataFrame") -> None:
    """Draws the figure of coming and going."""
    results, grid = drawing.results, drawing.grid
    found = binned(rows, grid, f.col("action"), f.col("time_ms") == grid.start_ms)
    if not found.series:
        results.lacks(_TABLE, "no row of the sessions lies in the period")
        return
    begun = {action: found.total({_ACTION: action, _STOOD: "false"}) for action in ("join", "leave")}
    drawing.note_sample("online", _TABLE, found)
    results.note("online", "Rows at the very start of the period tell who was there then, and are in no bin.")
    drawing.line("online", {action: counts * drawing.scale(_TABLE) for action, counts in begun.items()})
    users = rows.select("user").distinct().count()
    results.measure("sessions.per_user_day", float(begun["join"].sum()) / users / grid.days)


def lengths(rows: "DataFrame", start_ms: int, end_ms: int) -> "Population":
    """Returns whole seconds, at least 1, of each session of `rows` that begins and ends in the period from `start_ms` to `end_ms`.

    A session is a join followed by a leave of the same device. Devices of one user are told apart by kind and site. Users who were there
    when the period began have joined earlier: that length is not known.
    """
    # Within one millisecond a leave comes before a join: the user went, and came back.
    in_turn = Window.partitionBy("user", "device", "site").orderBy("time_ms", f.desc("action"))
    following = rows.select(
        "time_ms", "action", f.lead("time_ms").over(in_turn).alias("until_ms"), f.lead("action").over(in_turn).alias("next")
    )
    whole = following.where(
        (f.col("action") == "join") & (f.col("next") == "leave") & (f.col("time_ms") > start_ms) & (f.col("until_ms") < end_ms)
    )
    seconds = f.greatest(f.round((f.col("until_ms") - f.col("time_ms")) / 1000), f.lit(1)).cast("long")
    period_s = (end_ms - start_ms) / 1000
    return Population("session_length", whole.select(seconds.alias("value")), int(period_s) + 1, period_s)
