"""The figures of a characterization: one table for the job that computes them, the report that draws them and the pages about them.

Each is a curve under `curves/<key>.parquet` (exact) and `curves/<key>.csv` (the same, thinned to what a plot can show).
Its columns follow from its kind:

- `ccdf`: value (int64, what is counted), percent (100 * value / total), count (how many have exactly this value), ccdf (P(X >= value)).
- `mean`: value (int64), n (how many have this x), mean (of y over them); beside it `curves/<key>_points`: x, y of a random sample.
- `line`: time_ms (int64, start of the bin), series (text), value.
- `cycle`: hour (0-23) or day (0 = Monday), series (text), value.
"""

from typing import Final, Literal, NamedTuple

Kind = Literal["ccdf", "mean", "line", "cycle"]


class Figure(NamedTuple):
    """A figure of a characterization.

    - `key`: its name in files and summaries. `kind`: which columns its curve has, see above. `title`: its heading.
    - `x`, `y`: labels of the axes, as in the source.
    - `needs`: the tables that it is computed from.
    - `spotify`, `twitter`: number of the same figure in the thesis, empty where there is none.
    """

    key: str
    kind: Kind
    title: str
    x: str
    y: str
    needs: tuple[str, ...]
    spotify: str = ""
    twitter: str = ""


_WHO: Final = ("subscriptions",)
_GETS: Final = ("subscriptions", "counts")
_SAID: Final = ("publications",)
_WHERE: Final = ("publications", "subscriptions")
_CCDF: Final = "P(X >= x)"
_HOURLY: Final = "publications per hour"

FIGURES: Final = {
    figure.key: figure
    for figure in (
        Figure("popularity", "ccdf", "Topic popularity", "% of subscribers on a topic", _CCDF, _WHO, "5.1", "5.11"),
        Figure("size", "ccdf", "Subscription size", "% of topics held by a subscriber", _CCDF, _WHO, "5.2", "5.11"),
        Figure("rate", "ccdf", "Publication event rate", "% of all events from a topic", _CCDF, ("counts",), "5.3", "5.12"),
        Figure("nnr", "ccdf", "Normalized notification rate", "% of all events that a subscriber gets", _CCDF, _GETS, "5.4", "5.14"),
        Figure("size_nnr", "mean", "Subscription size and NNR", "topics of a subscriber", "NNR, %", _GETS, "5.5", "5.15"),
        Figure("popularity_rate", "mean", "Popularity and event rate", "subscribers of a topic", "events", _GETS, "5.6", "5.13"),
        Figure("publications", "line", "Publications by service", "time", _HOURLY, _SAID, "5.7"),
        Figure("local_remote", "line", "Local and remote publications", "time", _HOURLY, _WHERE, "5.8"),
        Figure("churn", "line", "Subscribing and unsubscribing", "time", "requests per hour", ("subscription_log",), "5.9"),
        Figure("live", "line", "Live subscriptions by service", "time", "% of all subscriptions", ("subscription_log",), "5.10"),
        Figure("daily", "cycle", "The day", "hour of the day", "share of the day's publications", _SAID),
        Figure("weekly", "cycle", "The week", "day of the week", "publications per day", _SAID),
        Figure("online", "line", "Coming and going", "time", "sessions per hour", ("sessions",)),
        Figure("session_length", "ccdf", "Length of a session", "seconds", _CCDF, ("sessions",)),
    )
}
