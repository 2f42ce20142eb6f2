"""Activity over time: how likely each moment of the period is, for each service and for log-ins (thesis 5.1.2).

The thesis prints shapes and no numbers: the peak is about 18:00 and the trough about 02:00, presence is slightly lower on weekends and
playlists are slightly higher on Sundays, the artist job makes one spike a day, and log-ins have a week of their own. The tables below
are those shapes.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import Service

from .profile import Profile

Activity = Literal[Service, "log-in"]
STEP_MS: Final = 1_800_000


class _Course(NamedTuple):
    """Relative weights. `day`: (local hour, weight), straight lines between them. `week`: Monday first."""

    day: tuple[tuple[float, float], ...]
    week: tuple[float, ...]


# By hour, and midnight again.
_LISTENING: Final = (
    *(0.40, 0.26, 0.18, 0.21, 0.27, 0.34, 0.42, 0.52, 0.60, 0.65, 0.68, 0.71),
    *(0.75, 0.78, 0.81, 0.85, 0.91, 0.97, 1.00, 0.96, 0.88, 0.79, 0.68, 0.54, 0.40),
)
_PEOPLE: Final = tuple((float(hour), weight) for hour, weight in enumerate(_LISTENING))
# The batch job runs within one hour of the clock, so that the spike is in one bin; three in four of its events are in that hour.
_JOB: Final = ((0.0, 1.0), (10.0, 1.0), (10.5, 150.0), (11.0, 1.0), (24.0, 1.0))
_EVEN: Final = (1.0,) * 7
_COURSES: Final[dict[Activity, _Course]] = {
    "presence": _Course(_PEOPLE, (1.0, 1.0, 1.0, 1.0, 1.0, 0.92, 0.94)),
    "playlist": _Course(_PEOPLE, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.08)),
    "social": _Course(_PEOPLE, _EVEN),
    "artist": _Course(_JOB, _EVEN),
    "log-in": _Course(_PEOPLE, (0.94, 0.92, 0.93, 0.97, 1.10, 1.18, 1.06)),
}


@dataclass(frozen=True, slots=True)
class ActivityClock:
    """A density over a period: `weights` at its beginning, `start_ms`, and every STEP_MS after it, with straight lines between them."""

    start_ms: int
    weights: NDArray[np.float64]

    def at(self, quantile: NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns the moments before which these shares of everything happen.

        `quantile`: shares from 0 to 1, both exclusive. Moments are in Unix milliseconds, and within the period.
        """
        left, right = self.weights[:-1], self.weights[1:]
        until = np.concatenate([[0.0], np.cumsum((left + right) / 2)])
        # `until` is the integral up to each knot, so the quantiles need no scale of their own: any weights will do.
        wanted = quantile * until[-1]
        step = np.minimum(np.searchsorted(until, wanted, side="right") - 1, len(left) - 1)
        rest, begin, end = wanted - until[step], left[step], right[step]
        # The root of begin*s + (end - begin)*s^2/2 = rest, in the form that also holds where the line is flat.
        passed = 2 * rest / (begin + np.sqrt(begin * begin + 2 * (end - begin) * rest))
        found: NDArray[np.int64] = self.start_ms + ((step + passed) * STEP_MS).astype(np.int64)
        # Rounding may reach the end of the period, which is not in it.
        return np.minimum(found, self.start_ms + len(left) * STEP_MS - 1)

    def times(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Returns `n` independent moments, in no order."""
        return self.at(rng.random(n))


def clock(profile: Profile, activity: Activity) -> ActivityClock:
    """Returns the clock of `activity` over the period of `profile`. Hours and weekdays are those of its time zone."""
    day, week = _COURSES[activity]
    moments = range(profile.start_ms, profile.end_ms + 1, STEP_MS)
    local = [datetime.fromtimestamp(each / 1000, ZoneInfo(profile.time_zone)) for each in moments]
    hours = [each.hour + each.minute / 60 for each in local]
    knots, heights = zip(*day, strict=True)
    weights = np.interp(hours, knots, heights) * np.take(week, [each.weekday() for each in local])
    return ActivityClock(profile.start_ms, weights)
