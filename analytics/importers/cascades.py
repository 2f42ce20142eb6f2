"""Cascades: when each user took up which item (a web address on Twitter, a film or a book on Douban)."""

from pathlib import Path
from typing import Final

from .draft import SECOND_MS, Draft
from .format import NOWHERE, Format, because
from .rows import UNIX_S, Layout, find_one, read_rows

_EVENTS: Final = Layout(("item", "user", "time"), ("item user time",), below={"time": UNIX_S})


def _read(path: Path) -> Draft:
    # An item is no user, so it cannot be a topic of presence or social; an artist alone publishes on its topic, whereas
    # everybody who follows a playlist may add to it.
    draft = Draft("playlist")
    events = read_rows(find_one(path, "events.tsv"), _EVENTS)
    times_ms = events["time"] * SECOND_MS
    draft.begin(times_ms, events["user"], events["item"])
    draft.publish(times_ms, events["item"])
    return draft


_SAME: Final = "those who follow an item and those who publish on it are the same rows, so one follows from the other"

FORMAT: Final = Format(
    key="cascades",
    path="events.tsv of the Twitter or Douban cascades, or its folder",
    becomes="an item is a topic of the service playlist; users follow it once they take it up; each time is a publication",
    source=("Twitter: Hodas, Lerman: The simple rules of social contagion, Sci. Rep. 4 (2014). Douban: Zhong et al.: ComSoc (KDD 2012)"),
    pseudonymisation="users and items replaced by running numbers",
    read=_read,
    limits={
        **NOWHERE,
        **because(_SAME, ("nnr", "size_nnr", "popularity_rate")),
        **because("only the begin of subscriptions is known", ("live", "churn.imbalance")),
    },
    notes=(
        "all rows are of the service playlist: characterize with --service playlist",
        "topics per user look cut at about 100 in the Twitter set",
        "who follows whom is not part of these files",
        "the zone of the users is not known and taken as UTC",
    ),
)
