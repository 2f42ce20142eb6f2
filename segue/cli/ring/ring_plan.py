"""Plan: how the rings of some sites get from where they are to where they shall be, round by round. Pure.

A round changes the ring of one site. No site begins before the one in front of it is through: what goes wrong concerns one site.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, Literal, NamedTuple

import msgspec

from infra.kernel.errors import SegueError
from infra.kernel.ring import POINTS, Ring
from infra.kernel.steps import RingPlace, step_width
from segue.sdk.operator_answers import StandingRing

# What a step takes besides its topics, and each topic of the site in it, as measured on one core (docs/ring.md).
STEP_S: Final = 0.5
TOPIC_S: Final = 0.2e-6
# A topic is announced with its handle and its length.
BESIDE_BYTES: Final = 7

Shares = dict[str, int]


class WrongPlan(SegueError):  # noqa: N818 - it says what is wrong
    """A plan that cannot be made, or does not fit any more."""


class RingRound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One round: the ring of `site` goes from the shares `before` to those of `goal`.

    - `rows`: how many topics move, about; `bytes`: what each aggregator and each other site says to have them moved.
    - `seconds`: how long that takes, about.
    """

    site: str
    before: Shares
    goal: Shares
    rows: int
    bytes: int
    seconds: float


class RingPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rounds, one after the other. `form` is that of the file."""

    form: Literal[1]
    rounds: tuple[RingRound, ...]


class RoundStanding(Enum):
    """The standing of a ring to a round."""

    DONE = "it has got there, and everybody is done with that"
    OPEN = "it is on the way, or where the round begins"
    ABSENT = "somebody who is to be added is not there yet"
    STRANGE = "it is somewhere else"


class _Change(NamedTuple):
    slot: str
    share: int


def planned(states: Sequence[StandingRing], add: Sequence[str], drain: Sequence[str], *, gentle: bool) -> RingPlan:
    """Returns the plan that adds some slots at every site, and drains others.

    - `states`: the ring of each site, in the order in which they are changed.
    - `gentle`: one slot after the other, instead of all together.

    Raises WrongPlan.
    """
    if both := sorted({*add} & {*drain}):
        raise WrongPlan(f"{both[0]} cannot be added and drained at once")
    if not add and not drain:
        raise WrongPlan("say which brokers: --add b4,b5 or --drain b2")
    changes = [*(_Change(slot, POINTS) for slot in add), *(_Change(slot, 0) for slot in drain)]
    return RingPlan(1, tuple(each for state in states for each in _rounds(state, changes, gentle)))


def _rounds(state: StandingRing, changes: Sequence[_Change], gentle: bool) -> Iterable[RingRound]:
    _check(state, changes)
    groups = [[change] for change in changes] if gentle else [changes]
    shares = state.goal_of
    for group in groups:
        goal = shares | {change.slot: change.share for change in group if change.share or change.slot in shares}
        if goal != shares:
            yield _round(state, shares, goal)
        shares = goal


def _check(state: StandingRing, changes: Sequence[_Change]) -> None:
    if strange := sorted({change.slot for change in changes} - {*state.configured}):
        raise WrongPlan(f"there is no slot {strange[0]} at {state.site}; there are {', '.join(state.configured)}")
    if state.goal_of != state.share_of:
        raise WrongPlan(f"the ring of {state.site} is on its way: wait until it is there, or stop it with segue ring abort")
    if not any((state.goal_of | dict(changes)).values()):
        raise WrongPlan(f"nobody at {state.site} would own any topic; leave somebody a share")


def _round(state: StandingRing, before: Mapping[str, int], goal: Mapping[str, int]) -> RingRound:
    here, there = (Ring(shares, shares=shares) for shares in (before, goal))
    parts = here.parts(there)
    mine = sum(part for (owner, _), part in parts.items() if owner == state.broker)
    moved = sum(part for (owner, later), part in parts.items() if owner != later)
    topics = state.rows / mine if mine else float(state.rows)
    width = step_width({slot: RingPlace(before.get(slot, 0), goal.get(slot, 0)) for slot in {*before, *goal}}, state.steps, topics)
    steps = max(-(-abs(goal.get(slot, 0) - before.get(slot, 0)) // width) for slot in {*before, *goal})
    rows = round(topics * moved)
    seconds = steps * (STEP_S + topics * TOPIC_S)
    return RingRound(state.site, dict(before), dict(goal), rows, round(rows * (state.topic_bytes + BESIDE_BYTES)), round(seconds, 1))


def standing(planned_round: RingRound, state: StandingRing) -> RoundStanding:
    """Returns how a ring stands to a round of its site."""
    before, goal, now = planned_round.before, planned_round.goal, state.goal_of
    if {*now} - {*before, *goal}:
        return RoundStanding.STRANGE
    missing = {slot for slot in {*before, *goal} - {*now} if goal.get(slot, 0)}
    if any(before.get(slot, 0) for slot in missing):
        return RoundStanding.STRANGE
    if any(not _lies_between(before.get(slot, 0), share, goal.get(slot, 0)) for slot, share in now.items()):
        return RoundStanding.STRANGE
    if missing:
        return RoundStanding.ABSENT
    there = all(share == goal.get(slot, 0) for slot, share in now.items())
    return RoundStanding.DONE if there and state.is_there else RoundStanding.OPEN


def _lies_between(one: int, share: int, other: int) -> bool:
    return min(one, other) <= share <= max(one, other)


def next_round(rounds: Sequence[RingRound], state: StandingRing) -> int:
    """Returns which of the rounds of one site is next: what is in front of it has been done.

    Raises WrongPlan where the ring is nowhere on the way.
    """
    for number in reversed(range(len(rounds))):
        if standing(rounds[number], state) is not RoundStanding.STRANGE:
            return number
    shown = ", ".join(f"{slot} {share}" for slot, share in sorted(state.goal_of.items()))
    raise WrongPlan(f"the plan does not fit {state.site} any more, whose ring is to go to {shown}: make a new one with segue ring plan")
