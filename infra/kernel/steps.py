"""Steps: how a ring gets from where it is to where it shall be, one view at a time. Pure.

A slot that comes begins with nothing and grows; one that leaves shrinks, and is out when it has nothing left. All shares that are on
their way take a step together. A slot that is gone is out at once.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from .frames import View
from .ring import POINTS

# So many topics move in one step, where there are many, and a step is no finer than so many points. Whoever leaves has less time.
STEP_TOPICS: Final = 10_000
FINEST: Final = 8


class RingPlace(NamedTuple):
    """A slot's place in a view: the share that it has, and the one that it is to have."""

    share: int
    goal: int


class Known(Enum):
    """The state of a slot, as far as it is known."""

    HERE = "it is alive, and stays"
    ANEW = "it is alive, and stays; it was another process of it that was to have nothing in the end"
    LEAVING = "it has said that it leaves, and serves what it has until that has gone to others"
    OVERDUE = "it has been leaving for too long: what it still has is to go to others at once"
    GONE = "it is dead, was never there, or is not taken in yet"


class Change(Enum):
    """The change of a slot's place, before any share takes a step."""

    COME = "it gets a place, with nothing in it"
    KEEP = "its place stays as it is"
    BEGIN = "it is to have what anybody has who comes"
    GO = "it is to have nothing in the end"
    QUIT = "it has no place, once a view has said that it is to have nothing in the end"
    OUT = "it has no place"


# By whether a slot has a place, and what is known of it.
CHANGES: Final[dict[tuple[bool, Known], Change]] = {
    (False, Known.HERE): Change.COME,
    (False, Known.ANEW): Change.COME,
    (False, Known.LEAVING): Change.OUT,
    (False, Known.OVERDUE): Change.OUT,
    (False, Known.GONE): Change.OUT,
    (True, Known.HERE): Change.KEEP,
    (True, Known.ANEW): Change.BEGIN,
    (True, Known.LEAVING): Change.GO,
    (True, Known.OVERDUE): Change.QUIT,
    (True, Known.GONE): Change.OUT,
}


def next_places(
    before: Mapping[str, RingPlace], known: Mapping[str, Known], steps: int, *, settled: bool, topics: float = 0.0
) -> dict[str, RingPlace]:
    """Returns the places of the next view; those of `before`, if none is due.

    - `before`: the places of the view that holds.
    - `known`: what is known of every slot.
    - `steps`: in how many steps a slot gets from nothing to everything, or back. With 0, who comes has nothing until somebody says what it
      is to have.
    - `settled`: whether all is done that followed from the view that holds; only then shares take a step. With one step, those that
      only fall wait for nothing.
    - `topics`: about how many the site has. Where they are many, steps are finer (`step_width`), but for those that leave.

    Who comes has nothing in its first view, and who leaves is to have nothing in the end first. So who comes knows that it is in the view
    before it gets anything, and all can tell one that leaves from one that is dead.
    """
    if not before:
        return at_once(known)
    # Owned before it is compared: where all are to leave, nobody's goal is nothing, and those on their way go on.
    changed = _owned({slot: place for slot in sorted(known) if (place := _changed(before.get(slot), known[slot], bool(steps))) is not None})
    only_fall = steps == 1 and not any(place.share < place.goal for place in changed.values())
    if (settled or only_fall) and changed == before:
        width, fine = step_width(changed, steps), step_width(changed, steps, topics)
        stepped = {slot: _stepped(place, width if known[slot] is Known.LEAVING else fine) for slot, place in changed.items()}
        changed = {slot: place for slot, place in stepped.items() if place.share or known[slot] is not Known.LEAVING}
    return _owned(changed)


def step_width(places: Mapping[str, RingPlace], steps: int, topics: float = 0.0) -> int:
    """Returns by how many points shares change in a step from `places`, with so many `steps` and about so many `topics` at the site.

    So that no more than about `STEP_TOPICS` move, unless `FINEST` points have more. What each point has is the same, on average.
    """
    width, moving = -(-POINTS // max(steps, 1)), sum(place.share != place.goal for place in places.values())
    if steps <= 1 or not topics or not moving:
        return width
    points = sum(place.share for place in places.values())
    return min(width, max(FINEST, int(STEP_TOPICS * points / (topics * moving))))


def begins(slot: str, view: View) -> bool:
    """Tells whether `slot` has nothing in `view` yet, and is to have something, as anybody who comes."""
    return view.share_of.get(slot) == 0 and view.goal_of[slot] > 0


def was_left_out(slot: str, before: View, view: View) -> bool:
    """Tells whether `slot`, which was in `before`, is not in `view`, or has been taken in anew by it: a view between them was without it.

    Otherwise a share does not fall to nothing without many steps, each of which waits for its broker.
    """
    if slot not in before.slots:
        return False
    return slot not in view.slots or (before.share_of[slot] > 0 and begins(slot, view))


def at_once(known: Mapping[str, Known]) -> dict[str, RingPlace]:
    """Returns the places of a view without steps: who is here has everything, nobody else has a place."""
    return {slot: RingPlace(POINTS, POINTS) for slot in sorted(known) if known[slot] in (Known.HERE, Known.ANEW)}


def _changed(place: RingPlace | None, known: Known, grows: bool) -> RingPlace | None:
    match CHANGES[place is not None, known]:
        case Change.COME:
            return RingPlace(0, POINTS if grows else 0)
        case Change.BEGIN:
            return place and (RingPlace(place.share, POINTS) if grows else place)
        case Change.GO:
            return place and RingPlace(place.share, 0)
        case Change.QUIT:
            return RingPlace(place.share, 0) if place and place.goal else None
        case Change.KEEP:
            return place
        case Change.OUT:
            return None


def _stepped(place: RingPlace, width: int) -> RingPlace:
    share, goal = place
    return RingPlace(min(share + width, goal) if share < goal else max(share - width, goal), goal)


def _owned(places: dict[str, RingPlace]) -> dict[str, RingPlace]:
    """Returns `places` in which somebody owns the topics: where nobody would have anything now, or in the end, all have everything."""
    if not any(place.goal for place in places.values()):
        places = {slot: RingPlace(place.share, POINTS) for slot, place in places.items()}
    if not any(place.share for place in places.values()):
        places = {slot: RingPlace(place.goal, place.goal) for slot, place in places.items()}
    return places
