"""Rings: for each topic of a node, its neighbours among all subscribers of that topic, in the order of ids (PC 5.1; P2P-1, 2, 5). Pure.

A node has a *bay* of `ring` slots for each of its topics, in the order of its profile. The first half has the subscribers with the next
higher ids, the nearest first, the second half those with the next lower ids. A slot is a node or EMPTY. The Rings view has one entry
for each node that stands in at least one slot; the LINKS of an entry are its slots. Bays of a node begin at `bays` in the buffer `slots`.

A view is never built anew: a node that was refused by a bay would be refused again, as long as nobody leaves the bay. When somebody
does, all that the three views know is offered to that bay (`refill`).
"""

from .buffer import Buffer
from .chance import sample
from .ids import SPACE, ahead
from .profile import PRIORITIES, PROFILE, SIZE, START, list_common, mark_places, place_of, unmark
from .view import CELL, LINKS, NODE, NONE, ROW, SINCE, drop, find, put

EMPTY = -1
REFUSED = -2


def merge(
    cells: Buffer,
    first: int,
    count: int,
    slots: Buffer,
    bays: int,
    ring: int,
    me: int,
    row: int,
    ids: Buffer,
    profiles: Buffer,
    topics: Buffer,
    priorities: Buffer,
    marks: Buffer,
    pool: Buffer,
    size: int,
) -> int:
    """Offers the entries of the pool that the Rings view does not have yet to all bays of `me`. Returns how many the view has.

    `row` is `me`'s own profile, whose priorities change with the bays.
    """
    mark_places(profiles, topics, row, marks)
    for at in range(size):
        if pool[at * CELL + NODE] != me:
            count = _offer_all(cells, first, count, slots, bays, ring, me, row, ids, profiles, topics, priorities, marks, pool, at, True)
    unmark(profiles, topics, row, marks)
    return count


def remove(
    cells: Buffer,
    first: int,
    count: int,
    slots: Buffer,
    bays: int,
    ring: int,
    me: int,
    row: int,
    ids: Buffer,
    profiles: Buffer,
    topics: Buffer,
    priorities: Buffer,
    marks: Buffer,
    pool: Buffer,
    size: int,
    place: int,
) -> int:
    """Removes an entry from the view and its bays, and fills these from the pool: all that the node's three views know.

    Returns how many the view has.
    """
    gone = cells[(first + place) * CELL + NODE]
    count = drop(cells, first, count, place)
    start = profiles[row * PROFILE + START]
    for own in range(profiles[row * PROFILE + SIZE]):
        if _leave(slots, bays + own * ring, ring // 2, gone) + _leave(slots, bays + own * ring + ring // 2, ring // 2, gone) > 0:
            marks[topics[start + own]] = own + 1
            _set_priority(slots, bays, ring, own, profiles, row, priorities)
    for at in range(size):
        if pool[at * CELL + NODE] != me and pool[at * CELL + NODE] != gone:
            count = _offer_all(cells, first, count, slots, bays, ring, me, row, ids, profiles, topics, priorities, marks, pool, at, False)
    unmark(profiles, topics, row, marks)
    return count


def around(
    pool: Buffer,
    size: int,
    row: int,
    target: int,
    target_row: int,
    ring: int,
    wanted: int,
    ids: Buffer,
    profiles: Buffer,
    topics: Buffer,
    streams: Buffer,
    stream: int,
    near: Buffer,
    far: Buffer,
    picks: Buffer,
) -> int:
    """Writes the places of the entries of the pool that help the target most into `picks`. Returns how many there are.

    For each topic that the profiles `row` (the sender's own) and `target_row` share, those are the `ring // 2` subscribers with ids just
    above the target's, and as many just below. If they are more than `wanted`, random ones of them are taken.
    """
    common = list_common(profiles, topics, row, target_row, picks)
    for at in range(common * ring):
        near[at] = EMPTY
    for place in range(size):
        node = pool[place * CELL + NODE]
        if node != target:
            above = ahead(ids[target], ids[node])
            for at in range(common):
                if place_of(profiles, topics, pool[place * CELL + ROW], picks[at]) != NONE:
                    bay = at * ring
                    _keep_near(near, far, bay, ring // 2, place, above)
                    _keep_near(near, far, bay + ring // 2, ring // 2, place, SPACE - above)
    found = _distinct(near, common * ring, far, size, picks)
    return sample(streams, stream, picks, 0, found, wanted)


def successor(slots: Buffer, bays: int, ring: int, place: int) -> int:
    """Returns the next higher subscriber of the node's topic at `place`, as far as the node knows, or EMPTY."""
    return slots[bays + place * ring]


def predecessor(slots: Buffer, bays: int, ring: int, place: int) -> int:
    """Returns the next lower subscriber of the node's topic at `place`, as far as the node knows, or EMPTY."""
    return slots[bays + place * ring + ring // 2]


def _offer_all(
    cells: Buffer,
    first: int,
    count: int,
    slots: Buffer,
    bays: int,
    ring: int,
    me: int,
    row: int,
    ids: Buffer,
    profiles: Buffer,
    topics: Buffer,
    priorities: Buffer,
    marks: Buffer,
    pool: Buffer,
    at: int,
    is_new: bool,
) -> int:
    """Offers one entry of the pool to the bays of the marked topics. Returns how many entries the view has.

    `is_new`: a node that the view has already stays where it is. It would be refused, unless this copy of its profile is an old one.
    """
    node, links, half = pool[at * CELL + NODE], 0, ring // 2
    entry = pool[at * CELL + ROW] * PROFILE
    above = ahead(ids[me], ids[node])
    for topic in range(profiles[entry + START], profiles[entry + START] + profiles[entry + SIZE]):
        own = marks[topics[topic]] - 1
        if own >= 0:
            before = links
            for side in range(2):
                bay = bays + own * ring + side * half
                to = _place_in(slots, bay, half, ids, ids[me], node, above if side == 0 else SPACE - above, side)
                if to != REFUSED:
                    # Most are refused, so the view is searched for those only that are not.
                    if is_new and links == 0 and find(cells, first, count, node) != NONE:
                        return count
                    out = _enter(slots, bay + half - 1, to, node)
                    links += 1
                    if out != EMPTY:
                        count = _release(cells, first, count, out)
            if links > before:
                _set_priority(slots, bays, ring, own, profiles, row, priorities)
    if links > 0:
        place = find(cells, first, count, node)
        if place == NONE:
            put(cells, first + count, node, pool[at * CELL + ROW], pool[at * CELL + SINCE])
            place = count
            count += 1
        cells[(first + place) * CELL + LINKS] += links
    return count


def _place_in(slots: Buffer, bay: int, half: int, ids: Buffer, mine: int, node: int, distance: int, side: int) -> int:
    """Returns the slot among the `half` of a bay's side that the node is to have, or REFUSED."""
    last = slots[bay + half - 1]
    if last != EMPTY and _distance(ids, mine, last, side) <= distance:
        return REFUSED
    for at in range(bay, bay + half - 1):
        if slots[at] == node:
            return REFUSED
    to = bay + half - 1
    while to > bay and (slots[to - 1] == EMPTY or _distance(ids, mine, slots[to - 1], side) > distance):
        to -= 1
    return to


def _enter(slots: Buffer, last: int, to: int, node: int) -> int:
    """Puts the node into the slot `to`; those from there to `last` move back by one. Returns who had to leave: a node, or EMPTY."""
    out = slots[last]
    for behind in range(last, to, -1):
        slots[behind] = slots[behind - 1]
    slots[to] = node
    return out


def _distance(ids: Buffer, mine: int, node: int, side: int) -> int:
    """Returns how far the node is above (side 0) or below (side 1)."""
    above = ahead(mine, ids[node])
    return above if side == 0 else SPACE - above


def _leave(slots: Buffer, bay: int, half: int, node: int) -> int:
    """Takes the node out of `half` slots; those behind it move up. Returns 1 if it was there, otherwise 0."""
    for at in range(half):
        if slots[bay + at] == node:
            for behind in range(at, half - 1):
                slots[bay + behind] = slots[bay + behind + 1]
            slots[bay + half - 1] = EMPTY
            return 1
    return 0


def _release(cells: Buffer, first: int, count: int, node: int) -> int:
    """Takes one link from the node's entry, which goes with its last one. Returns how many entries the view has."""
    place = find(cells, first, count, node)
    cells[(first + place) * CELL + LINKS] -= 1
    if cells[(first + place) * CELL + LINKS] == 0:
        return drop(cells, first, count, place)
    return count


def _set_priority(slots: Buffer, bays: int, ring: int, own: int, profiles: Buffer, row: int, priorities: Buffer) -> None:
    """Gives the topic at place `own` its priority: the number of neighbours that it lacks."""
    bay, lacking = bays + own * ring, ring
    for at in range(ring):
        if slots[bay + at] != EMPTY:
            lacking -= 1
            # With few subscribers a node is above and below: it counts once.
            for before in range(at):
                if slots[bay + before] == slots[bay + at]:
                    lacking += 1
                    break
    priorities[profiles[row * PROFILE + PRIORITIES] + own] = lacking


def _keep_near(near: Buffer, far: Buffer, bay: int, half: int, place: int, distance: int) -> None:
    """Puts `place` among the `half` nearest, if it is one of them. `far` has their distances."""
    at = bay + half - 1
    if near[at] == EMPTY or far[at] > distance:
        while at > bay and (near[at - 1] == EMPTY or far[at - 1] > distance):
            near[at] = near[at - 1]
            far[at] = far[at - 1]
            at -= 1
        near[at] = place
        far[at] = distance


def _distinct(near: Buffer, count: int, taken: Buffer, size: int, picks: Buffer) -> int:
    """Writes each place that stands in `near[0 : count]` once into `picks`. Uses `taken[0 : size]`. Returns how many there are."""
    for place in range(size):
        taken[place] = 0
    found = 0
    for at in range(count):
        place = near[at]
        if place != EMPTY and taken[place] == 0:
            taken[place] = 1
            picks[found] = place
            found += 1
    return found
