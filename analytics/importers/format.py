"""A published form as the program knows it, and the reasons why a source cannot support a figure."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from analytics.figures import FIGURES

from .draft import Draft

_SITES: Final = "where users and publishers are connected is not known"
_SESSIONS: Final = "coming and going was not recorded"
# No published set knows sites or sessions.
NOWHERE: Final[Mapping[str, str]] = {"local_remote": _SITES, "online": _SESSIONS, "session_length": _SESSIONS}
PEAKS: Final = ("publications.peak_hour.presence", "publications.trough_hour.presence")
WEEKDAYS: Final = ("publications.weekend.presence", "publications.sunday.presence")
CHURN: Final = ("churn", "live")
IN_TIME: Final = ("publications", "daily", "weekly")
GRAPH: Final = ("popularity", "size", "nnr", "size_nnr", "popularity_rate")
EVENTS: Final = ("rate", "nnr", "size_nnr", "popularity_rate", *IN_TIME)


class Format(NamedTuple):
    """A published form.

    - `key`: its name. `path`: what the user names. `becomes`: how it is read as publish/subscribe.
    - `source`: origin and citation. `pseudonymisation`: what stands for names of people.
    - `read`: makes the tables; raises TraceError.
    - `limits`: why this form cannot support a figure or a measure, by its name.
    - `notes`: what a reader must know to believe the figures.
    - `time_zone`: in which hours and days are told.
    """

    key: str
    path: str
    becomes: str
    source: str
    pseudonymisation: str
    read: Callable[[Path], Draft]
    limits: Mapping[str, str]
    notes: tuple[str, ...] = ()
    time_zone: str = "UTC"

    @property
    def supported(self) -> tuple[str, ...]:
        """The keys of the figures that this form can support."""
        return tuple(key for key in FIGURES if key not in self.limits)


def because(reason: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Returns the same reason for several figures or measures."""
    return dict.fromkeys(keys, reason)
