"""What happens in a simulated life: a list of operations, drawn from a seed before anything runs.

An operation that makes no sense when its time comes does nothing. So any part of a list is a list, too, which is what shrinking needs.
"""

import random
from typing import Final, NamedTuple

TOPICS: Final = tuple(f"t{n}" for n in range(9))
# Lives of roles have more of them: what moves is spread over the ring.
MORE_PLAYLISTS: Final = tuple(f"p{n}" for n in range(12))
PLAYLISTS: Final = frozenset((*TOPICS[1::2], *MORE_PLAYLISTS))
USERS: Final = tuple(f"u{n}" for n in range(6))


class Operation(NamedTuple):
    """Something that happens `after_s` the one before it. `picks` choose among what is there by then; `what` says what happens."""

    what: str
    after_s: float
    picks: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.what}{self.picks} after {self.after_s:g} s"


# How often what is drawn: a life in which everything goes wrong.
WILD: Final = {
    "connect": 8,
    "disconnect": 3,
    "subscribe": 10,
    "unsubscribe": 4,
    "swap": 6,
    "point": 5,
    "go_away": 8,
    "recover": 12,
    "flicker": 3,
    "publish": 30,
    "busy": 4,
    "repeat": 4,
    "kill": 3,
    "power": 2,
    "restart": 3,
    "leave": 3,
    "start": 6,
    "plan": 2,
    "cut": 3,
    "cut_one_way": 2,
    "heal": 3,
    "snap": 4,
    "slow": 2,
    "stall": 3,
    "clock": 2,
    "settle": 5,
}
# A life in which nothing goes wrong: brokers are stopped and started as operators do it. More is promised to it.
CALM: Final = {
    "connect": 6,
    "disconnect": 2,
    "subscribe": 12,
    "unsubscribe": 6,
    "swap": 3,
    "point": 8,
    "go_away": 10,
    "recover": 12,
    "flicker": 3,
    "publish": 30,
    "busy": 8,
    "repeat": 8,
    "leave": 6,
    "start": 8,
    "plan": 5,
    "replan": 5,
    "settle": 1,
}
# A life in which no node is lost, and all that goes wrong are connections. What is recorded must make up for that.
SHAKY: Final = {
    "connect": 6,
    "disconnect": 1,
    "subscribe": 10,
    "unsubscribe": 4,
    "swap": 2,
    "point": 5,
    "go_away": 6,
    "recover": 9,
    "flicker": 3,
    "publish": 25,
    "busy": 10,
    "repeat": 4,
    "cut": 4,
    "cut_one_way": 2,
    "heal": 6,
    "snap": 10,
    "slow": 3,
    "settle": 5,
}
# How often which of them is drawn.
LIVES: Final = ((WILD, 4), (CALM, 4), (SHAKY, 2))
PICKS: Final = 4
MOST: Final = 1 << 16


def drawn(rng: random.Random, number: int) -> list[Operation]:
    """Returns so many operations, of one of `LIVES`. It begins with users who are there and follow something."""
    begun = [Operation("connect", 0.0, (n, n, n, 0)) for n in range(4)]
    begun += [Operation("subscribe", 0.0, (n, n, 2, 0)) for n in range(4)] + [Operation("settle", 0.0, (0, 0, 0, 0))]
    (drawn_from,) = rng.choices([each for each, _ in LIVES], [often for _, often in LIVES])
    kinds, weights = list(drawn_from), list(drawn_from.values())
    return begun + [
        Operation(kind, _pause_s(rng), tuple(rng.randrange(MOST) for _ in range(PICKS))) for kind in rng.choices(kinds, weights, k=number)
    ]


def _pause_s(rng: random.Random) -> float:
    """Returns a pause: most are so short that things happen at once, some so long that others notice what is gone."""
    return round(rng.choice((0.0, 0.0, 0.001, 0.01, 0.1, 1.0)) * rng.random(), 4) + (
        round(4 * rng.random(), 3) if rng.random() < 0.1 else 0.0
    )
