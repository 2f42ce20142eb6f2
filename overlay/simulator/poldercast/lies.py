"""What misbehaving nodes put into their messages (`harm.Misdeed`). Whom they freeride on is in `publishing.py`.

The first entry of a message stays as it is: where modules send the sender's own profile, it stands there.
"""

from typing import Final

from ...protocol.buffer import Buffer
from ...protocol.view import CELL, NODE, ROW, SINCE, put
from ..harm import Misdeed
from .state import PolderState

FREERIDES: Final = int(Misdeed.FREERIDES)
OFFERS_ITSELF: Final = int(Misdeed.OFFERS_ITSELF)
OFFERS_THE_DEAD: Final = int(Misdeed.OFFERS_THE_DEAD)
LIES_ABOUT_AGES: Final = int(Misdeed.LIES_ABOUT_AGES)
# A node that offers the dead remembers so many of those that last gave no answer.
GRAVES: Final = 10


def bury(state: PolderState, node: int, gone: int) -> None:
    """Lets a node that offers the dead remember one that gave no answer, with the age that it has from now on."""
    if state.flags[node] & OFFERS_THE_DEAD:
        place = node * GRAVES + state.buried[node] % GRAVES
        put(state.graves, place, gone, state.current[gone], state.now[node])
        state.buried[node] += 1


def lie(state: PolderState, node: int, message: Buffer, entries: int) -> None:
    """Makes a message what the node's flag says. Who offers both itself and the dead does so by turns."""
    flag = state.flags[node]
    dead = min(state.buried[node], GRAVES) if flag & OFFERS_THE_DEAD else 0
    for at in range(1, entries):
        turn = (at - 1) // 2 if flag & OFFERS_ITSELF else at - 1
        if turn < dead and (at % 2 == 1 or not flag & OFFERS_ITSELF):
            grave = (node * GRAVES + turn) * CELL
            put(message, at, state.graves[grave + NODE], state.graves[grave + ROW], state.now[node] - state.graves[grave + SINCE])
        elif flag & OFFERS_ITSELF:
            put(message, at, node, state.current[node], 0)
        if flag & LIES_ABOUT_AGES:
            message[at * CELL + SINCE] = 0
