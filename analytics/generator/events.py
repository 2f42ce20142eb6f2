"""The stream of events: each event of each topic has a moment, and a sample keeps some of them."""

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import Service

from .clock import clock
from .columns import site_column, word, words
from .profile import Profile

# The kinds of events that each service publishes, with their shares.
_KINDS: Final[dict[Service, dict[str, float]]] = {
    "presence": {"play": 0.85, "pause": 0.10, "favourite": 0.05},
    "playlist": {"edit": 1.0},
    "social": {"friend-joined": 1.0},
    "artist": {"new-track": 0.6, "new-album": 0.3, "artist-playlist": 0.1},
}
_TWEETS: Final = {"tweet": 1.0}


def publications(
    profile: Profile,
    service: Service,
    topics: NDArray[np.int64],
    events: NDArray[np.int64],
    sites: NDArray[np.uint8],
    fraction: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Returns the columns of the table `publications` for some topics of a service, rising in time.

    - `profile`, `service`: where the courses of the day and the week come from, and the kinds of events.
    - `topics`: their numbers.
    - `events`, `sites`: of each topic, its number of events in the period and where it is published (index in `profile.sites`).
    - `fraction`: the probability with which each event is in the result, independently of all others (1: all are).
    - `rng`: the random stream of this part.

    Memory is about 80 bytes a row.
    """
    kept = events if fraction >= 1 else rng.binomial(events, fraction)
    # One entry for each event, with the index of its topic: 4 bytes instead of 8 for the topic itself.
    rows = rng.permutation(np.repeat(np.arange(len(topics), dtype=np.int32), kept))
    # The order is drawn apart from the moments, so sorting these alone is enough.
    moments = clock(profile, service).at(np.sort(rng.random(len(rows))))
    return {
        "time_ms": moments,
        "service": word(service, len(rows)),
        "topic": topics[rows],
        **site_column(profile, sites[rows]),
        "kind": _kinds(_TWEETS if profile.name == "twitter" else _KINDS[service], len(rows), rng),
    }


def chunks(events: NDArray[np.int64], fraction: float, rows: int) -> list[slice]:
    """Cuts the topics into runs of about `rows` sampled events each, so that one run at a time fits into memory and into a file.

    `events`: of each topic. `fraction`: of them that is sampled.
    """
    expected = np.cumsum(events, dtype=np.float64) * fraction
    wanted = np.arange(rows, expected[-1] if len(expected) else 0, rows)
    bounds = [0, *np.unique(np.searchsorted(expected, wanted)).tolist(), len(events)]
    return [slice(begin, end) for begin, end in pairwise(bounds) if end > begin]


def _kinds(shares: dict[str, float], n: int, rng: np.random.Generator) -> Any:
    names = tuple(shares)
    if len(names) == 1:
        return word(names[0], n)
    return words(np.searchsorted(np.cumsum(tuple(shares.values()))[:-1], rng.random(n), side="right"), names)
