"""The edits of a playlist replica: what an edit of the user means while others change the playlist, too (`replica_core`). Pure.

An edit is about tracks by their numbers in the replica, so it means the same tracks whatever others do meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

# So many tracks behind it say where an edit belongs. If all of them are gone, it belongs to the end.
ANCHORS: Final = 16

Change = Mapping[str, Any]
"""A change of a playlist, as the service takes and tells it."""


class ReplicaItem(NamedTuple):
    """A track in the list of a replica, under a number of its own."""

    number: int
    track: str


class OwnEdit(msgspec.Struct):
    """An edit of the user that is not made yet.

    - `id`: what is asked for bears it, and so does the event that tells of it.
    - `op`, `items`, `value`: what it does: to these items, or with this value.
    - `before`: the items in front of which it does it; the first that is still there counts.
    - `part`: how much of it has been made: others may have torn apart what it is about, and then it takes several changes.
    - `tried`: the version at which it was asked for without an answer.
    """

    id: str
    op: str
    items: list[ReplicaItem] = []
    before: list[int] = []
    value: Any = None
    part: int = 0
    tried: int | None = None

    @property
    def request_id(self) -> str:
        """The id under which the next part is asked for."""
        return f"{self.id}.{self.part}"


def anchors(items: Sequence[ReplicaItem]) -> list[int]:
    """Returns what says that something belongs before the first of `items`."""
    return [item.number for item in items[:ANCHORS]]


def edited(items: list[ReplicaItem], edit: OwnEdit) -> list[ReplicaItem]:
    """Returns `items` as they are shown when all of `edit` is made."""
    if edit.op not in ("add", "remove", "reorder"):
        return items
    theirs = {item.number for item in edit.items}
    rest = [item for item in items if item.number not in theirs]
    if edit.op == "remove":
        return rest
    held = {item.number for item in items}
    at = _place(edit, rest)
    return [*rest[:at], *(item for item in edit.items if edit.op == "add" or item.number in held), *rest[at:]]


def _place(edit: OwnEdit, items: Sequence[ReplicaItem]) -> int:
    """Returns before which place of `items` an edit puts something: the first of its anchors that is there, or the end."""
    places = {item.number: place for place, item in enumerate(items)}
    return next((places[number] for number in edit.before if number in places), len(items))


def change_of(edit: OwnEdit, items: Sequence[ReplicaItem]) -> dict[str, Any] | None:
    """Returns the next change that makes a part of `edit` of `items`, and leaves in `edit` what there is to do; None if that is nothing."""
    match edit.op:
        case "rename":
            return {"op": "rename", "name": edit.value}
        case "collaborative":
            return {"op": "collaborative", "collaborative": edit.value}
        case "add":
            return {"op": "add", "tracks": [item.track for item in edit.items], "position": _place(edit, items)}
    places = {item.number: place for place, item in enumerate(items)}
    to = _place(edit, items)
    edit.items = [item for item in edit.items if item.number in places]
    while run := _first_run([places[item.number] for item in edit.items]):
        if edit.op == "remove":
            return {"op": "remove", "position": run[0], "count": len(run)}
        if run[-1] + 1 != to:
            return {"op": "reorder", "position": run[0], "to": to, "count": len(run)}
        edit.items = edit.items[len(run) :]  # it is where it belongs
    return None


def _first_run(places: Sequence[int]) -> list[int]:
    """Returns the first of `places` and those that follow one another behind it."""
    run = list(places[:1])
    for place in places[1:]:
        if place != run[-1] + 1:
            break
        run.append(place)
    return run


def applied(items: list[ReplicaItem], change: Change, new: Sequence[ReplicaItem]) -> list[ReplicaItem]:
    """Returns `items` after `change`, as `services/playlist` applies it; `new` are those that an `add` brings."""
    match change["op"]:
        case "add":
            at = change["position"]
            return [*items[:at], *new, *items[at:]]
        case "remove":
            return [*items[: change["position"]], *items[change["position"] + change.get("count", 1) :]]
        case "reorder":
            at, to, count = change["position"], change["to"], change.get("count", 1)
            rest = [*items[:at], *items[at + count :]]
            place = to if to <= at else to - count
            return [*rest[:place], *items[at : at + count], *rest[place:]]
    return items
