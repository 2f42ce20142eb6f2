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
from .profile import PRIORITIES, PROFILE, SIZE, START, mark_common, mark_places, unmark
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
        node = pool[at * CELL + NODE]
        if node != me and find(cells, first, count, node) == NONE:
            count = _offer_all(cells, first, count, slots, bays, ring, me, row, ids, profiles, topics, priorities, marks, pool, at)
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
            count = _offer_all(cells, first, count, slots, bays, ring, me, row, ids, profiles, topics, priorities, marks, pool, at)
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
    marks: Buffer,
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
    common = mark_common(profiles, topics, row, target_row, marks)
    for at in range(common * ring):
        near[at] = EMPTY
    for place in range(size):
        node = pool[place * CELL + NODE]
        if node != target:
            above = ahead(ids[target], ids[node])
            entry = pool[place * CELL + ROW] * PROFILE
            for at in range(profiles[entry + START], profiles[entry + START] + profiles[entry + SIZE]):
                mark = marks[topics[at]]
                if mark > 1:
                    bay = (mark - 2) * ring
                    _keep_near(near, far, bay, ring // 2, place, above)
                    _keep_near(near, far, bay + ring // 2, ring // 2, place, SPACE - above)
    unmark(profiles, topics, target_row, marks)
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
) -> int:
    """Offers one entry of the pool to the bays of the marked topics. Returns how many entries the view has."""
    node, links, half = pool[at * CELL + NODE], 0, ring // 2
    entry = pool[at * CELL + ROW] * PROFILE
    above = ahead(ids[me], ids[node])
    for topic in range(profiles[entry + START], profiles[entry + START] + profiles[entry + SIZE]):
        own = marks[topics[topic]] - 1
        if own >= 0:
            before = links
            for side in range(2):
                out = _offer(slots, bays + own * ring + side * half, half, ids, ids[me], node, above if side == 0 else SPACE - above, side)
                if out != REFUSED:
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


def _offer(slots: Buffer, bay: int, half: int, ids: Buffer, mine: int, node: int, distance: int, side: int) -> int:
    """Puts the node into its place among `half` slots. Returns who had to leave the last one (a node or EMPTY), or REFUSED."""
    last = slots[bay + half - 1]
    if last != EMPTY and _distance(ids, mine, last, side) <= distance:
        return REFUSED
    for at in range(half - 1):
        if slots[bay + at] == node:
            return REFUSED
    at = half - 1
    while at > 0 and (slots[bay + at - 1] == EMPTY or _distance(ids, mine, slots[bay + at - 1], side) > distance):
        slots[bay + at] = slots[bay + at - 1]
        at -= 1
    slots[bay + at] = node
    return last


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
