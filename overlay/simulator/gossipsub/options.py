"""The settings of GossipSub, with the defaults of its specification where it has any."""

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from ...protocol import gossip_scores as places
from ...protocol.buffer import Buffer
from ..compiled import Execution
from ..errors import OverlayError

Version = Literal["v1.0", "v1.1"]
HEARTBEAT_US: Final = 1_000_000
# A mesh has room for so many peers; a GRAFT beyond that is refused.
MESH_ROOM: Final = 32


class GossipSubRules(NamedTuple):
    """The settings as numbers for kernels. `guarded`: 1 for what v1.1 added: scores, backoff, limits."""

    guarded: int
    wanted: int
    low: int
    high: int
    lazy: int
    best: int
    outbound: int
    factor_permille: int
    floods: int
    exchanged: int
    backoff_us: int
    leave_backoff_us: int
    slack_us: int
    windows: int
    gossip_windows: int
    log: int
    dials: int
    opportunistic_every: int
    opportunistic_peers: int
    most_ihaves: int
    most_asked: int
    most_served: int
    promise_us: int
    patience: int
    retain_us: int


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The weights, caps, decay factors and thresholds of the scores, as plain numbers (`overlay/protocol/gossip_scores.py`).

    The specification gives none. P3 and P3b are off, because topics of friends have few events, and a peer with nothing to send would seem
    lazy. Each `…_keeps` is what is left of a counter after a heartbeat.
    """

    topic_weight: float = 1.0
    time_weight: float = 0.01
    time_quantum_s: float = 1.0
    time_cap: float = 100.0
    first_weight: float = 1.0
    first_keeps: float = 0.99
    first_cap: float = 20.0
    delivery_weight: float = 0.0
    delivery_keeps: float = 0.99
    delivery_cap: float = 20.0
    delivery_least: float = 2.0
    delivery_active_s: float = 30.0
    delivery_window_ms: float = 10.0
    failure_weight: float = 0.0
    failure_keeps: float = 0.99
    invalid_weight: float = -10.0
    invalid_keeps: float = 0.99
    topics_cap: float = 100.0
    application_weight: float = 1.0
    host_weight: float = -5.0
    host_most: int = 10
    behaviour_weight: float = -10.0
    behaviour_keeps: float = 0.99
    least: float = 0.01
    gossip_from: float = -10.0
    publish_from: float = -50.0
    graylist_below: float = -80.0
    exchange_from: float = 0.0
    opportunistic_below: float = 1.0

    def __post_init__(self) -> None:
        for name in ("first_keeps", "delivery_keeps", "failure_keeps", "invalid_keeps", "behaviour_keeps"):
            if not 0 < getattr(self, name) < 1:
                raise OverlayError(f"{name} is {getattr(self, name):g}: counters fade, so give a factor between 0 and 1")
        if not self.graylist_below < self.publish_from <= self.gossip_from < 0:
            raise OverlayError(
                f"thresholds of {self.graylist_below:g}, {self.publish_from:g} and {self.gossip_from:g}: give graylist_below "
                "< publish_from <= gossip_from < 0"
            )
        if min(self.exchange_from, self.opportunistic_below) < 0:
            raise OverlayError("exchange_from and opportunistic_below are 0 or more")
        if self.delivery_cap < self.delivery_least or self.time_quantum_s < 0.001:
            raise OverlayError("delivery_cap is at least delivery_least, and time_quantum_s at least 0.001")

    def settings(self, execution: Execution) -> Buffer:
        """Returns the same as whole numbers, at the places that `gossip_scores` names."""
        made = [0] * places.SETTINGS
        for name, place in _THOUSANDTHS.items():
            made[place] = round(places.ONE * getattr(self, name))
        for name, place in _MILLIONTHS.items():
            made[place] = round(1_000_000 * getattr(self, name))
        made[places.DELIVERY_WINDOW_US] = round(1000 * self.delivery_window_ms)
        made[places.HOST_MOST] = self.host_most
        return execution.buffer(made)


_THOUSANDTHS: Final = {
    "topic_weight": places.TOPIC_WEIGHT,
    "time_weight": places.TIME_WEIGHT,
    "time_cap": places.TIME_CAP,
    "first_weight": places.FIRST_WEIGHT,
    "first_keeps": places.FIRST_KEEPS,
    "first_cap": places.FIRST_CAP,
    "delivery_weight": places.DELIVERY_WEIGHT,
    "delivery_keeps": places.DELIVERY_KEEPS,
    "delivery_cap": places.DELIVERY_CAP,
    "delivery_least": places.DELIVERY_LEAST,
    "failure_weight": places.FAILURE_WEIGHT,
    "failure_keeps": places.FAILURE_KEEPS,
    "invalid_weight": places.INVALID_WEIGHT,
    "invalid_keeps": places.INVALID_KEEPS,
    "application_weight": places.APPLICATION_WEIGHT,
    "host_weight": places.HOST_WEIGHT,
    "behaviour_weight": places.BEHAVIOUR_WEIGHT,
    "behaviour_keeps": places.BEHAVIOUR_KEEPS,
    "least": places.LEAST,
}
# Scores are in millionths, and times in microseconds.
_MILLIONTHS: Final = {
    "time_quantum_s": places.TIME_QUANTUM_US,
    "delivery_active_s": places.DELIVERY_ACTIVE_US,
    "topics_cap": places.TOPICS_CAP,
    "gossip_from": places.GOSSIP_FROM,
    "publish_from": places.PUBLISH_FROM,
    "graylist_below": places.GRAYLIST_BELOW,
    "exchange_from": places.EXCHANGE_FROM,
    "opportunistic_below": places.OPPORTUNISTIC_BELOW,
}


@dataclass(frozen=True, kw_only=True)
class GossipSubOptions:
    """The options of GossipSub.

    - `version`: v1.0 is without scores, backoff, peer exchange, flood publishing, adaptive gossip, outbound quota, opportunistic grafting
      and limits, whatever the other options say.
    - `wanted`, `low`, `high`, `lazy`: D, D_low, D_high and D_lazy. `best`, `outbound`: D_score and D_out.
    - `factor`: the share of peers that get gossip. `floods`: publishers send to all peers of the topic. `exchanged`: peers in a PRUNE.
    - `backoff_s`, `leave_backoff_s`: after a PRUNE, and after one of a node that leaves the topic. `slack_s` more until a GRAFT is sent.
    - `windows`, `gossip_windows`: of the cache, and those that gossip tells of. `log`: the events that a cache has room for.
    - `dials`: so many subscribers of each topic a node dials at the beginning; see `links.py`.
    - `opportunistic_every`: heartbeats between opportunistic grafts of `opportunistic_peers`.
    - `most_ihaves`, `most_asked`, `most_served`: IHAVEs of a peer and topic that count, events asked of a peer, and events sent to a peer
      that asks; in a heartbeat each.
    - `promise_s`: so soon what was asked for has to come. `patience`: heartbeats until a silent connection is given up. `retain_s`: the
      time in which a lost peer is remembered, with its score.

    Raises OverlayError for numbers that do not fit each other.
    """

    version: Version = "v1.1"
    wanted: int = 6
    low: int = 4
    high: int = 12
    lazy: int = 6
    best: int = 4
    outbound: int = 2
    factor: float = 0.25
    floods: bool = True
    exchanged: int = 16
    backoff_s: float = 60.0
    leave_backoff_s: float = 10.0
    slack_s: float = 1.0
    windows: int = 5
    gossip_windows: int = 3
    log: int = 64
    dials: int = 6
    opportunistic_every: int = 60
    opportunistic_peers: int = 2
    most_ihaves: int = 10
    most_asked: int = 5000
    most_served: int = 5000
    promise_s: float = 3.0
    patience: int = 1
    retain_s: float = 600.0
    scores: ScoreOptions = field(default_factory=ScoreOptions)

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.wanted <= self.high <= MESH_ROOM // 2:
            raise OverlayError(
                f"a mesh of {self.low}, {self.wanted} and {self.high}: give 1 <= low <= wanted <= high <= {MESH_ROOM // 2}, "
                "such as 4, 6 and 12"
            )
        if not 0 <= self.best <= self.wanted or not (self.outbound < self.low and 2 * self.outbound <= self.wanted):
            raise OverlayError(
                f"best is {self.best}, outbound {self.outbound}: give best <= wanted, outbound < low and at most half of wanted"
            )
        if not 1 <= self.gossip_windows <= self.windows:
            raise OverlayError(f"gossip tells of {self.gossip_windows} windows of {self.windows}: give 1 to {self.windows}")
        if not 0 <= self.factor <= 1 or self.dials < 1 or self.log < 1 or self.patience < 1:
            raise OverlayError("factor is a share from 0 to 1; dials, log and patience are 1 or more")

    def rules(self) -> GossipSubRules:
        """Returns the same as numbers."""
        guarded = int(self.version == "v1.1")
        return GossipSubRules(
            guarded=guarded,
            wanted=self.wanted,
            low=self.low,
            high=self.high,
            lazy=self.lazy,
            best=guarded * self.best,
            outbound=guarded * self.outbound,
            factor_permille=guarded * round(1000 * self.factor),
            floods=guarded * int(self.floods),
            exchanged=guarded * self.exchanged,
            backoff_us=guarded * round(1e6 * self.backoff_s),
            leave_backoff_us=guarded * round(1e6 * self.leave_backoff_s),
            slack_us=guarded * round(1e6 * self.slack_s),
            windows=self.windows,
            gossip_windows=self.gossip_windows,
            log=self.log,
            dials=self.dials,
            opportunistic_every=self.opportunistic_every,
            opportunistic_peers=guarded * self.opportunistic_peers,
            most_ihaves=self.most_ihaves,
            most_asked=self.most_asked,
            most_served=self.most_served,
            promise_us=round(1e6 * self.promise_s),
            patience=self.patience,
            retain_us=round(1e6 * self.retain_s),
        )
