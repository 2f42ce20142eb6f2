"""Users who come and go, and their subscriptions with them (thesis 5.1.2).

There are two ways of using the client. Visitors log in, stay for a while and log out. Residents leave it running and are away only for
minutes. The more topics users follow, the likelier they are residents. So the live subscriptions are almost flat over the days, as in the
source, although log-ins have a strong daily period, and about 40 % of the users are on-line (the source has up to 10 of 24 million).

The period is drawn as a circle: users who are on-line at its end were on-line at its beginning for as long as that stay goes on. So it is
in a steady state from the first moment on, and as many subscriptions end as begin.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import SERVICES

from .clock import clock
from .columns import site_column, words
from .profile import DAY_MS, Profile, site_of
from .services import SubscriptionPairs

# What a reader of the rows must know.
NOTES: Final = (
    "a row of sessions or subscription_log in the first millisecond says what was live when the period began; it is no request",
    "publications have the hours and days of their service, whether or not the user is in a session then",
)
# None of these is published. Log-ins are lognormal over users, so that some come daily and many weekly.
_LOG_INS_PER_DAY: Final = 0.3
_LOG_INS_SIGMA: Final = 1.0
_MOST_LOG_INS_PER_DAY: Final = 6.0
_VISIT_MS: Final = 40 * 60_000
_ABSENCE_MS: Final = 5 * 60_000
_LENGTH_SIGMA: Final = 1.0
# Log-ins of one user that are nearer to each other than this count as one.
_LEAST_GAP_MS: Final = 60_000
_LEAST_MS: Final = 1000
# Share of visitors among those with one subscription; it falls with the square root of their number.
_VISITORS: Final = 0.8
# Probabilities of a log-in from a mobile device, and the shares of visitors who have them. Residents have a desktop.
_MOBILE: Final = (0.0, 0.5, 1.0)
_MOBILE_SHARES: Final = (0.5, 0.3, 0.2)
_DEVICES: Final = ("desktop", "mobile")


@dataclass(frozen=True, slots=True)
class Stays:
    """Times at which users were connected, one at a time for each user, in the order of users.

    By user:

    - `user`: their number. `first`, `size`: where their pairs begin, and how many they are.

    By stay:

    - `row`: index of the user. `mobile`: whether it is on a mobile device.
    - `begin_ms`, `end_ms`: Unix milliseconds. A stay that began before the period has `begin_ms` = its start; one that goes on has
      `end_ms` >= its end.
    """

    user: NDArray[np.int64]
    first: NDArray[np.int64]
    size: NDArray[np.int64]
    row: NDArray[np.int64]
    mobile: NDArray[np.bool_]
    begin_ms: NDArray[np.int64]
    end_ms: NDArray[np.int64]


def expected_log_ins(profile: Profile) -> float:
    """Returns about how many log-ins a user has in the period. Each makes two rows of `sessions`, and two of the log for each pair."""
    return float(1 + profile.days * _LOG_INS_PER_DAY * np.exp(_LOG_INS_SIGMA**2 / 2))


def sample(follows: SubscriptionPairs, fraction: float, rng: np.random.Generator) -> SubscriptionPairs:
    """Keeps each user with probability `fraction`, with all of their pairs in `follows`; `rng` chooses."""
    first, size = _runs(follows.subscriber)
    kept = np.repeat(rng.random(len(first)) < fraction, size)
    return SubscriptionPairs(follows.subscriber[kept], follows.service[kept], follows.topic[kept])


def stays(profile: Profile, follows: SubscriptionPairs, rng: np.random.Generator) -> Stays:
    """Draws when the subscribers of `follows` are connected, each at least once, over the period of `profile` and from the stream `rng`."""
    first, size = _runs(follows.subscriber)
    row, begin_ms = _log_ins(profile, len(first), rng)
    resident = rng.random(len(first)) >= _VISITORS / np.sqrt(size)
    end_ms = begin_ms + _lengths(_gaps(profile, row, begin_ms), resident[row], rng)
    likely = np.where(resident, 0.0, rng.choice(_MOBILE, len(first), p=_MOBILE_SHARES))
    mobile = rng.random(len(row)) < likely[row]
    return _unrolled(profile, Stays(follows.subscriber[first], first, size, row, mobile, begin_ms, end_ms))


def sessions(profile: Profile, found: Stays) -> dict[str, Any]:
    """Returns the columns of the table `sessions`, rising in time.

    Users who were there when the period began join in its first millisecond. Users who stay beyond its end do not leave.
    """
    moves = _moves(profile, found)
    user = found.user[found.row[moves.stay]]
    return {
        "time_ms": moves.time_ms,
        "user": user,
        **site_column(profile, site_of(profile, user)),
        "device": words(found.mobile[moves.stay], _DEVICES),
        "action": words(moves.leaves, ("join", "leave")),
    }


def subscription_log(profile: Profile, found: Stays, follows: SubscriptionPairs) -> dict[str, Any]:
    """Returns the columns of the table `subscription_log`, rising in time.

    What users follow begins and ends with their stays `found`, as in `sessions`; `follows` are their pairs, and `profile` knows the sites.
    So the rows of the first millisecond are what was live when the period began.
    """
    moves = _moves(profile, found)
    row = found.row[moves.stay]
    size = found.size[row]
    # Each move is repeated for each pair of its user: `move` is the row it comes from, `pair` runs from the first to the last of that user.
    move = np.repeat(np.arange(len(row)), size)
    pair = np.arange(len(move)) + np.repeat(found.first[row] - (np.cumsum(size) - size), size)
    return {
        "time_ms": moves.time_ms[move],
        "subscriber": follows.subscriber[pair],
        "service": words(follows.service[pair], SERVICES),
        "topic": follows.topic[pair],
        **site_column(profile, site_of(profile, found.user[row])[move]),
        "action": words(moves.leaves[move], ("subscribe", "unsubscribe")),
    }


def _runs(subscriber: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the first row and the number of rows of each subscriber."""
    first = np.flatnonzero(np.diff(subscriber, prepend=-1))
    return first, np.diff(first, append=len(subscriber))


class _Moves(NamedTuple):
    """Joins and leaves in order of time. `stay`: index of the stay that begins or ends."""

    time_ms: NDArray[np.int64]
    stay: NDArray[np.int64]
    leaves: NDArray[np.bool_]


def _moves(profile: Profile, found: Stays) -> _Moves:
    left = np.flatnonzero(found.end_ms < profile.end_ms)
    time_ms = np.concatenate([found.begin_ms, found.end_ms[left]])
    order = np.argsort(time_ms, kind="stable")
    stay = np.concatenate([np.arange(len(found.row)), left])
    return _Moves(time_ms[order], stay[order], order >= len(found.row))


def _log_ins(profile: Profile, users: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns (row, time_ms) of each log-in, in this order. Each user has at least one, and they are apart on the circle."""
    daily = np.minimum(_LOG_INS_PER_DAY * rng.lognormal(sigma=_LOG_INS_SIGMA, size=users), _MOST_LOG_INS_PER_DAY)
    row = np.repeat(np.arange(users), 1 + rng.poisson(profile.days * daily))
    period_ms = profile.days * DAY_MS
    # One number for user and time, because numbers sort several times faster than pairs.
    order = np.sort(row * period_ms + clock(profile, "log-in").times(len(row), rng) - profile.start_ms)
    row, time_ms = order // period_ms, order % period_ms + profile.start_ms
    apart = _gaps(profile, row, time_ms) >= _LEAST_GAP_MS
    return row[apart], time_ms[apart]


def _gaps(profile: Profile, row: NDArray[np.int64], time_ms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the milliseconds from each log-in to the next of the same user. After the last of the period comes the first again."""
    following = np.roll(time_ms, -1)
    following[np.diff(row, append=-1) != 0] = time_ms[np.diff(row, prepend=-1) != 0] + profile.days * DAY_MS
    return following - time_ms


def _lengths(gap_ms: NDArray[np.int64], resident: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    spread = rng.lognormal(sigma=_LENGTH_SIGMA, size=len(gap_ms))
    # Residents stay until shortly before their next log-in, visitors for a visit; both leave before it.
    stayed = np.where(resident, gap_ms - np.minimum(_ABSENCE_MS * spread, gap_ms / 2), _VISIT_MS * spread)
    return np.clip(stayed.astype(np.int64), _LEAST_MS, gap_ms - _LEAST_MS)


def _unrolled(profile: Profile, circle: Stays) -> Stays:
    """Puts what goes beyond the end of the period at its beginning as well."""
    again = np.flatnonzero(circle.end_ms > profile.end_ms)
    every = np.concatenate([again, np.arange(len(circle.row))])
    begin_ms, end_ms = circle.begin_ms[every], circle.end_ms[every]
    begin_ms[: len(again)] = profile.start_ms
    end_ms[: len(again)] -= profile.days * DAY_MS
    return Stays(circle.user, circle.first, circle.size, circle.row[every], circle.mobile[every], begin_ms, end_ms)
