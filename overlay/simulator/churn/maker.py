"""Churn that is made after Skype's super-peers: the real trace cannot be had (PC 6; docs/overlay-world.md has the parameters)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..draws import Array, Draws, Stream
from ..errors import OverlayError
from .trace import ChurnTrace, from_stays

Floats = NDArray[np.float64]

HOUR_MS: Final = 3_600_000
_DAY_H: Final = 24
_WEEK_H: Final = 7 * _DAY_H
# Nodes live for so long before the trace begins that nothing tells any more how they began.
_BEFORE_H: Final = 2.0 * _WEEK_H
# How likely nodes are to come in each hour of a day, in UTC: most people sit in Europe and America.
_BY_HOUR: Final = (6, 5, 4, 4, 5, 8, 13, 18, 20, 20, 19, 19, 20, 20, 20, 19, 18, 17, 16, 15, 13, 11, 9, 7)
_SATURDAY: Final = 5
# Some stays are longer than 64 bits of milliseconds; a day among 3,650 is not among them.
_FOREVER_H: Final = 1e5


@dataclass(frozen=True, slots=True)
class ChurnShape:
    """The parameters of churn that is made.

    - `nodes`: all that ever come. `days`: the length of the trace, which begins at midnight UTC of a Monday.
    - `median_stay_h`, `tail`: stays longer than x hours become rarer as (1 + x / scale) to the power of -`tail`.
    - `mean_gap_h`: how long nodes are away in the mean, if hours and days were alike.
    - `weekend`: how likely nodes are to come on Saturday and Sunday, compared with other days.
    - `crowd`: nodes that are away and come at `crowd_h`, within `crowd_min` minutes.
    - `drop`: the share of those present who leave at `drop_h`, all at once.
    """

    nodes: int = 4000
    days: float = 28.0
    median_stay_h: float = 5.5
    tail: float = 1.5
    mean_gap_h: float = 12.0
    weekend: float = 0.6
    crowd: int = 600
    crowd_h: float = 1.0
    crowd_min: float = 10.0
    drop: float = 0.1
    drop_h: float = 18.0

    @property
    def scale_h(self) -> float:
        """The scale of the law of stays, in hours."""
        return float(self.median_stay_h / (2 ** (1 / self.tail) - 1))

    @property
    def mean_stay_h(self) -> float:
        """The mean of the law of stays, in hours."""
        return self.scale_h / (self.tail - 1)

    def check(self) -> None:
        """Raises OverlayError for parameters that make no sense."""
        wrong = {
            "nodes": self.nodes < 2,
            "days": not 0 < self.days <= 3650,
            "median_stay_h": self.median_stay_h <= 0,
            "tail": not 1 < self.tail <= 10,
            "mean_gap_h": self.mean_gap_h <= 0,
            "weekend": not 0 < self.weekend <= 10,
            "crowd": not 0 <= self.crowd < self.nodes,
            "crowd_min": self.crowd_min < 0,
            "drop": not 0 <= self.drop < 1,
        }
        for name, is_wrong in wrong.items():
            if is_wrong:
                raise OverlayError(f"churn with {name} = {getattr(self, name)} makes no sense; {_WANTED[name]}")


_WANTED: Final = {
    "nodes": "give two nodes or more",
    "days": "give more than 0, at most 3650",
    "median_stay_h": "give more than 0 hours",
    "tail": "give more than 1, at most 10: with 1 or less, stays have no mean",
    "mean_gap_h": "give more than 0 hours",
    "weekend": "give more than 0, at most 10; 1 makes all days alike",
    "crowd": "give 0 to less than all nodes",
    "crowd_min": "give 0 minutes or more",
    "drop": "give 0 to less than 1",
}


def make_churn(shape: ChurnShape, seed: int) -> ChurnTrace:
    """Returns a trace of nodes that come, mostly by day, and stay for times of a heavy-tailed law. Raises OverlayError."""
    shape.check()
    until_ms = round(shape.days * _DAY_H * HOUR_MS)
    node, begin_h, end_h = _stays(shape, Draws(seed, Stream.CHURN))
    node, begin_h, end_h = _with_crowd(shape, node, begin_h, end_h, Draws(seed, Stream.CROWD))
    _drop(shape, node, begin_h, end_h, Draws(seed, Stream.DROP))
    return from_stays(node, _ms(begin_h), _ms(end_h), until_ms)


def _stays(shape: ChurnShape, draws: Draws) -> tuple[Array, Floats, Floats]:
    """Returns node, begin and end of all stays that end after the trace has begun. Hours are counted from there."""
    clock = _Clock(shape)
    until_h = shape.days * _DAY_H
    node = np.arange(shape.nodes)
    now_h = np.full(shape.nodes, -_BEFORE_H)
    found: list[tuple[Array, Floats, Floats]] = []
    while len(node):
        begin_h = clock.later(now_h, -shape.mean_gap_h * np.log(draws.uniform(len(node))))
        end_h = begin_h + _lengths_h(shape, len(node), draws)
        found.append((node, begin_h, end_h))
        still = end_h < until_h
        node, now_h = node[still], end_h[still]
    nodes, begins_h, ends_h = zip(*found, strict=True)
    return np.concatenate(nodes), np.concatenate(begins_h), np.concatenate(ends_h)


def _lengths_h(shape: ChurnShape, count: int, draws: Draws) -> Floats:
    found: Floats = shape.scale_h * (draws.uniform(count) ** (-1 / shape.tail) - 1)
    return found


class _Clock:
    """A clock that runs fast when many come. In the mean of a week it runs as fast as any other."""

    def __init__(self, shape: ChurnShape) -> None:
        hours = np.tile(np.array(_BY_HOUR, np.float64), 7)
        hours[_SATURDAY * _DAY_H :] *= shape.weekend
        self._told = np.concatenate([[0.0], np.cumsum(hours / hours.mean())])

    def later(self, begin_h: Floats, gap_h: Floats) -> Floats:
        """Returns when this clock has gone on by `gap_h`, for each who looks at it from `begin_h` on."""
        weeks, within_h = np.divmod(begin_h, _WEEK_H)
        told = np.interp(within_h, np.arange(_WEEK_H + 1), self._told) + gap_h
        more, told = np.divmod(told, _WEEK_H)
        found: Floats = (weeks + more) * _WEEK_H + np.interp(told, self._told, np.arange(_WEEK_H + 1))
        return found


def _with_crowd(shape: ChurnShape, node: Array, begin_h: Floats, end_h: Floats, draws: Draws) -> tuple[Array, Floats, Floats]:
    """Returns the same stays, and those of the crowd."""
    here = (begin_h <= shape.crowd_h + shape.crowd_min / 60) & (end_h >= shape.crowd_h)
    crowd = draws.some(np.setdiff1d(np.arange(shape.nodes), node[here]), shape.crowd)
    if len(crowd) < shape.crowd:
        raise OverlayError(f"a crowd of {shape.crowd}: only {len(crowd)} nodes are away at hour {shape.crowd_h:g}; give more nodes")
    come_h = shape.crowd_h + shape.crowd_min / 60 * draws.uniform(len(crowd))
    stay_h = _lengths_h(shape, len(crowd), draws)
    return np.concatenate([node, crowd]), np.concatenate([begin_h, come_h]), np.concatenate([end_h, come_h + stay_h])


def _drop(shape: ChurnShape, node: Array, begin_h: Floats, end_h: Floats, draws: Draws) -> None:
    """Ends the stays of those who leave at the drop. Stays of a node may overlap, so all of them end."""
    here = (begin_h < shape.drop_h) & (end_h > shape.drop_h)
    present = np.unique(node[here])
    leaving = draws.some(present, round(shape.drop * len(present)))
    end_h[here & np.isin(node, leaving)] = shape.drop_h


def _ms(hours: Floats) -> Array:
    found: Array = np.rint(np.minimum(hours, _FOREVER_H) * HOUR_MS).astype(np.int64)
    return found
