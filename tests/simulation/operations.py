"""What happens in a simulated life: a list of operations, drawn from a seed before anything runs.

An operation that makes no sense when its time comes does nothing. So any part of a list is a list, too, which is what shrinking needs.
"""

import random
from typing import Final, NamedTuple

TOPICS: Final = tuple(f"t{n}" for n in range(9))
PLAYLISTS: Final = frozenset(TOPICS[1::2])
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
    "publish": 30,
    "repeat": 4,
    "kill": 3,
    "power": 2,
    "leave": 3,
    "start": 6,
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
    "subscribe": 14,
    "unsubscribe": 8,
    "swap": 3,
    "point": 5,
    "go_away": 8,
    "recover": 12,
    "publish": 40,
    "repeat": 8,
    "leave": 4,
    "start": 6,
    "settle": 1,
}
PICKS: Final = 4
MOST: Final = 1 << 16


def drawn(rng: random.Random, number: int) -> list[Operation]:
    """Returns so many operations, of a calm life or of a wild one. It begins with users who are there and follow something."""
    begun = [Operation("connect", 0.0, (n, n, n, 0)) for n in range(4)]
    begun += [Operation("subscribe", 0.0, (n, n, 2, 0)) for n in range(4)] + [Operation("settle", 0.0, (0, 0, 0, 0))]
    drawn_from = CALM if rng.random() < 0.4 else WILD
    kinds, weights = list(drawn_from), list(drawn_from.values())
    return begun + [
        Operation(kind, _pause_s(rng), tuple(rng.randrange(MOST) for _ in range(PICKS))) for kind in rng.choices(kinds, weights, k=number)
    ]


def _pause_s(rng: random.Random) -> float:
    """Returns a pause: most are so short that things happen at once, some so long that others notice what is gone."""
    return round(rng.choice((0.0, 0.0, 0.001, 0.01, 0.1, 1.0)) * rng.random(), 4) + (
        round(4 * rng.random(), 3) if rng.random() < 0.1 else 0.0
    )
