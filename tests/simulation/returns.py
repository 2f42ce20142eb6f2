"""What must hold when somebody comes back: what they are told of what they missed is true, and not lazy. Pure."""

from math import inf
from typing import Any, Final, NamedTuple

from .operations import PLAYLISTS
from .oracle import Follower, Position, SimulationOracle, Violated
from .room import ENOUGH, Room

# So much may be older than the point that a user has: what it says is as old as a heartbeat.
POINT_AGE_S: Final = 1.0
# What one site has accepted comes to the others within this time, where nothing is wrong.
ARRIVES_S: Final = 3.0
# Nothing here is out of real time, windows have room for all topics, and of few topics more is missed than is kept.
NEVER: Final = frozenset({"too-much", "evicted", "offloaded"})


class Return(NamedTuple):
    """A return of somebody who was away.

    - `was`, `back`: the connection that ended, and the new one. `topics`: those of which they have asked what they missed.
    - `position`: the point that they said, or might have said; None where they had none.
    - `asked_s`: when they asked for what they missed. `wrong_s`: when something went wrong for the last time.
    - `is_disturbed`: whether something may be wrong, or may have gone wrong since they had their point. That topics move is nothing wrong.
    - `faults`: how many things are wrong now.
    - `window_s`: for how long events are kept. `room`: how much room there is for them.
    - `apart_s`: when brokers of one site could serve the same topics apart for the last time.
    """

    was: Follower
    back: Follower
    topics: frozenset[str]
    position: Position | None
    asked_s: float
    wrong_s: float
    is_disturbed: bool
    faults: int
    window_s: float
    apart_s: float = -inf
    room: Room = ENOUGH

    @property
    def site(self) -> str:
        """The site where they are now."""
        return self.back.point.partition("/")[0]

    @property
    def is_elsewhere(self) -> bool:
        """Whether that is another one than before, or than gave them their point."""
        return self.site != (self.position.site if self.position is not None else self.was.point.partition("/")[0])

    @property
    def has_old_point(self) -> bool:
        """Whether their point is so old that events behind it may be too old."""
        return self.position is None or self.asked_s - self.position.now_s > self.window_s - POINT_AGE_S


def check_gap(follower: Follower, topics: list[str], reason: str, *, is_calm: bool, is_apart: bool, room: Room = ENOUGH) -> None:
    """Raises Violated where somebody should not have been told that something of `topics` may be missing.

    `is_apart`: brokers of one site may have served the same topics apart since all was well.
    """
    if is_calm and reason not in room.gaps:
        raise Violated(f"nothing is wrong, and {follower.name} hears that something of {topics} may be missing: {reason}")
    if reason == "split" and not is_apart:
        raise Violated(f"no site was split, and {follower.name} hears that something of {topics} may be missing: {reason}")
    if not follower.recovers:
        raise Violated(f"{follower.name} hears of a gap, and has not asked for that")
    if odd := [topic for topic in topics if topic not in follower.follows]:
        raise Violated(f"{follower.name} hears that something of {odd} may be missing, which they do not follow")


def check_return(oracle: SimulationOracle, its: Return, answer: dict[str, Any], said: set[str]) -> dict[str, set[int]]:
    """Returns, by topic, what must come within some seconds, from whatever site. Raises Violated where the `answer` is not true.

    `said`: whether a `point` and numbers (`since`) were said.
    """
    lost = {each["topic"].split("/")[-2]: each["reason"] for each in answer["lost"]}
    if answer["recovered"] != (not lost):
        raise Violated(f"{its.back.name} is told {answer}")
    for topic, reason in lost.items():
        _check_reason(oracle, its, topic, reason, said)
        oracle.looked_at[f"lost, {reason}"] += 1
    coming = {}
    for topic in its.topics - lost.keys():
        if "point" in said or any(key[0] == topic and key not in its.was.firsts for key in its.was.lives):
            _check_whole(oracle, its, topic)
            oracle.looked_at["missed"] += len(_owed(oracle, its, topic))
            coming[topic] = {n for n in _owed(oracle, its, topic, is_anywhere=True) if topic in PLAYLISTS}
            oracle.looked_at["recovered"] += 1
    return {topic: numbers for topic, numbers in coming.items() if numbers}


def _check_reason(oracle: SimulationOracle, its: Return, topic: str, reason: str, said: set[str]) -> None:
    """Raises Violated where a topic is given up for a `reason` that is none: who is told so fetches everything anew."""
    told = f"{its.back.name} is told that something of {topic} may be missing: {reason}"
    if reason == "too-much" and topic in PLAYLISTS and _missed_at_most(oracle, its, topic) > its.room.events:
        return
    if reason in its.room.losses:
        return
    if reason in NEVER:
        raise Violated(f"{told}, which is never so here")
    if reason in ("late", "no-window") and not its.faults:
        raise Violated(f"nothing is wrong, and {told}")
    # Brokers of another site are asked without the point, whose stamps are none of theirs: as if only numbers were said.
    has_stamps = "point" in said and not its.is_elsewhere
    since_s = its.position.now_s - POINT_AGE_S if has_stamps and its.position is not None else 0.0
    if reason == "split" and its.apart_s < since_s:
        raise Violated(f"{told}, and no site was split since {since_s:g} s")
    if reason == "other-site" and not its.is_elsewhere:
        raise Violated(f"{told}, but it is the same site")
    if "point" in said and not (its.is_elsewhere or its.is_disturbed or its.has_old_point):
        raise Violated(f"{told}, but nothing has gone wrong since they had their point, and that is not old")


def _missed_at_most(oracle: SimulationOracle, its: Return, topic: str) -> int:
    """Returns how many events of a topic may have come behind the point of somebody: those that they had not, and that are not older."""
    if its.position is None:
        return 0
    since_s = its.position.now_s - POINT_AGE_S
    oldest_s = 0.0 if its.is_disturbed else since_s - ARRIVES_S
    return sum(
        each.topic == topic
        and its.back.came_s.get(n, since_s) >= since_s
        and (n not in oracle.accepted or oracle.accepted[n].told_s >= oldest_s)
        for n, each in enumerate(oracle.publications)
    )


def _check_whole(oracle: SimulationOracle, its: Return, topic: str) -> None:
    """Raises Violated where somebody is told that they have everything of a topic, and lacks something of the site where they are."""
    owed = _owed(oracle, its, topic)
    if topic not in PLAYLISTS:
        owed = set() if oracle.has_newest(its.back, topic, owed) else owed
    if missing := sorted(owed - its.back.got.keys()):
        raise Violated(f"{its.back.name} is told that nothing of {topic} is missing, and lacks {missing}")


def _owed(oracle: SimulationOracle, its: Return, topic: str, *, is_anywhere: bool = False) -> set[int]:
    """Returns what was accepted on a topic before they asked, and that they must have got, at their site or at all of them.

    Where nothing went wrong, and there is room for all, that is all since they follow it. Else it is what was published since they
    followed it for the last time.
    """
    whole_since_s = its.was.whole_since_s.get(topic)
    is_calm = not its.faults and whole_since_s is not None and its.wrong_s < whole_since_s and not its.room.gaps
    if is_anywhere and not is_calm:
        return set()
    since_s = whole_since_s if is_calm else its.was.away_s.get(topic, its.was.lost_s)
    assert since_s is not None
    return {
        n
        for n, (began_s, told_s) in oracle.accepted.items()
        if began_s >= since_s
        and told_s <= its.asked_s
        and oracle.publications[n].topic == topic
        and (is_anywhere or oracle.publications[n].site == its.site)
    }
