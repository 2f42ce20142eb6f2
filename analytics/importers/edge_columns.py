"""The columns of an edge list: found by name where it has a header line, else by number."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from analytics.errors import TraceError

from .rows import cells_of

# Names that published lists give to the follower, and to the followed.
_SRC_NAMES: Final = ("src", "source", "follower", "subscriber", "from", "from_id", "fromnodeid", "source_id", "user_id")
_DST_NAMES: Final = ("dst", "target", "followee", "followed", "topic", "to", "to_id", "tonodeid", "target_id", "destination")
_DELIMITERS: Final = (b",", b";", b"\t")


class EdgeOptions(NamedTuple):
    """The way in which an edge list is to be read.

    - `src`, `dst`, `weight`: columns by name, or by number from 1. "" leaves the choice to the header; without a header it means the first
      column, the second column, and none.
    - `undirected`: each row is two subscriptions, one each way.
    """

    src: str = ""
    dst: str = ""
    weight: str = ""
    undirected: bool = False


class EdgeColumns(NamedTuple):
    """The columns that were found.

    - `delimiter`: between the cells of a row; None for blanks.
    - `header`: whether the first row is one.
    - `names`: of all columns. `places`: of the wanted columns, counted from 0.
    """

    delimiter: bytes | None
    header: bool
    names: tuple[str, ...]
    places: dict[str, int]

    @property
    def note(self) -> str:
        """A note on which column was read as what, for those who read the figures later."""
        read = ", ".join(f"{column} is column {place + 1}{self._named(place)}" for column, place in self.places.items())
        return f"columns: {read}, of {len(self.names)}"

    def _named(self, place: int) -> str:
        return f" ({self.names[place]})" if self.header else ""


def find_columns(first: bytes, wanted: EdgeOptions) -> EdgeColumns:
    """Finds the wanted columns in the first row of a list, which is a header where no cell of it is a number.

    Raises TraceError for a column that is not there, and where two of the wanted columns are the same.
    """
    delimiter = next((each for each in _DELIMITERS if each in first), None)
    names = tuple(cell.decode(errors="replace") for cell in cells_of(first, delimiter))
    header = not any(name.lstrip("-").replace(".", "", 1).isdigit() for name in names)
    src, dst = wanted.src or _usual(_SRC_NAMES, names, "1"), wanted.dst or _usual(_DST_NAMES, names, "2")
    asked = {"src": src, "dst": dst} | ({"weight": wanted.weight} if wanted.weight else {})
    places = {column: _place(column, name, names, header) for column, name in asked.items()}
    if len(set(places.values())) < len(places):
        raise TraceError(f"two columns are the same: {', '.join(f'{column} {name}' for column, name in asked.items())}; name others")
    return EdgeColumns(delimiter, header, names, places)


def _usual(known: Sequence[str], names: Sequence[str], otherwise: str) -> str:
    return next((name for name in names if name.lower().lstrip("#") in known), otherwise)


def _place(column: str, name: str, names: Sequence[str], header: bool) -> int:
    if header and name in names:
        return names.index(name)
    if name.isdigit() and 0 < int(name) <= len(names):
        return int(name) - 1
    there = f"{', '.join(names)}, or 1 to {len(names)}" if header else f"1 to {len(names)}; it has no header line with names"
    raise TraceError(f"there is no column {name!r} for {column}: its columns are {there}")
