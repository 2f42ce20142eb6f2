"""The live figures of a run: what the ledger holds at a moment, with rates. Its clock is an argument."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .listening import Play
from .oracle import CROSS_SITE, LOCAL, Latency, Ledger

# A delivery that has not arrived after so long counts as lost in the live figures. If it comes after all, it does no longer.
LATE_S: Final = 2.0
RATE_SAMPLES: Final = 5
LATEST: Final = 1_000
HISTORY: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one moment of a run, `elapsed_s` after its start.

    - `events`, `delivered`, `lost`: counts so far.
    - `events_per_s`, `deliveries_per_s`: rates over the last few samples.
    - `latency_ms`: the latency of the latest deliveries, by reach.
    - `history`: the deliveries per second of the samples so far, the newest last.
    - `recent`: the last plays, each with the number of its followers.
    """

    elapsed_s: float
    events: int
    delivered: int
    lost: int
    events_per_s: float
    deliveries_per_s: float
    latency_ms: Mapping[str, Latency]
    history: Sequence[float]
    recent: Sequence[tuple[Play, int]]


class Meter:
    """A meter of a ledger, which takes samples of it. Times are seconds of the ledger's clock."""

    def __init__(self, ledger: Ledger, start_s: float) -> None:
        self._ledger = ledger
        self._start_s = start_s
        self._samples: deque[tuple[float, int, int]] = deque([(start_s, ledger.events, ledger.delivered)], maxlen=RATE_SAMPLES)
        self._history: deque[float] = deque(maxlen=HISTORY)

    def sample(self, now_s: float, recent: Sequence[tuple[Play, int]] = ()) -> Figures:
        """Returns the figures at `now_s`, with the plays `recent`. It takes less than a millisecond."""
        ledger = self._ledger
        then_s, events, delivered = self._samples[0]
        dt_s = max(now_s - then_s, 1e-6)
        self._samples.append((now_s, ledger.events, ledger.delivered))
        self._history.append((ledger.delivered - delivered) / dt_s)
        return Figures(
            elapsed_s=now_s - self._start_s,
            events=ledger.events,
            delivered=ledger.delivered,
            lost=ledger.late(now_s - LATE_S),
            events_per_s=(ledger.events - events) / dt_s,
            deliveries_per_s=self._history[-1],
            latency_ms={reach: ledger.latest(reach, LATEST) for reach in (LOCAL, CROSS_SITE)},
            history=tuple(self._history),
            recent=tuple(recent),
        )
