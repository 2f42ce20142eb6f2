"""Who is pulled for after a break, and how fast."""

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from accesspoint.catch_up import CALM_PER_S, RETRY, CatchUp
from accesspoint.options import AccessPointOptions
from accesspoint.session import Session, SessionState

OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["sto/a1"])
PERIOD_S = 0.25


def people(number: int) -> list[Session]:
    sessions = [Session(0.0) for _ in range(number)]
    for session in sessions:
        session.state = SessionState.READY
    return sessions


def catching(sessions: list[Session], **options: Any) -> CatchUp:
    return CatchUp(msgspec.structs.replace(OPTIONS, **options), sessions, random.Random(1))


def pulled(catch_up: CatchUp, periods: int, start: int = 0) -> list[list[Session]]:
    return [catch_up.due((start + n) * PERIOD_S, PERIOD_S) for n in range(periods)]


def test_nobody_is_pulled_for_while_nothing_breaks() -> None:
    catch_up = catching(people(100))
    assert not any(pulled(catch_up, 400))


@given(number=st.integers(1, 5000), per_s=st.sampled_from([10.0, 100.0, 2000.0]))
def test_everybody_is_pulled_for_once_within_the_time_and_never_too_many_at_once(number: int, per_s: float) -> None:
    sessions = people(number)
    catch_up = catching(sessions, catch_up_per_s=per_s)
    catch_up.want()
    longest_s = max(OPTIONS.catch_up_s, number / per_s)
    rounds = pulled(catch_up, int(longest_s / PERIOD_S) + 1)
    assert Counter(each for now in rounds for each in now) == Counter(sessions)
    fastest = min(per_s, max(CALM_PER_S, number / OPTIONS.catch_up_s))
    assert max(map(len, rounds)) <= fastest * PERIOD_S + 1
    assert catch_up.pulls == number


def test_what_breaks_during_a_round_begins_another_one_behind_it() -> None:
    sessions = people(40)
    catch_up = catching(sessions)
    catch_up.want()
    first = catch_up.due(0.0, PERIOD_S)
    catch_up.want()
    rest = [each for now in pulled(catch_up, 10, start=1) for each in now]
    assert Counter(first + rest) == Counter(sessions * 2)


def test_who_has_left_is_not_pulled_for() -> None:
    sessions = people(3)
    catch_up = catching(sessions)
    catch_up.want()
    sessions[1].state = SessionState.ENDED
    assert catch_up.due(0.0, PERIOD_S) == [sessions[0], sessions[2]]


def test_a_pull_that_fails_is_made_again_less_and_less_often_until_one_succeeds() -> None:
    (ann,) = people(1)
    catch_up = catching([ann])
    catch_up.want()
    at_s: list[float] = []
    for n in range(2400):
        for session in catch_up.due(n * PERIOD_S, PERIOD_S):
            at_s.append(n * PERIOD_S)
            catch_up.failed(session)
    gaps_s = [after - before for before, after in pairwise(at_s)]
    assert len(at_s) < 400
    assert max(gaps_s) <= RETRY.cap_s + PERIOD_S
    assert catch_up.due(700.0, PERIOD_S) == [ann]
    catch_up.succeeded()
    assert not any(pulled(catch_up, 100, start=2900))


def test_the_time_until_a_pull_is_made_again_counts_from_when_it_failed_and_not_from_when_it_was_made() -> None:
    (ann,) = people(1)
    catch_up = catching([ann])
    catch_up.want()
    assert catch_up.due(0.0, PERIOD_S) == [ann]
    catch_up.failed(ann)
    assert catch_up.due(600.0, PERIOD_S) == []
    assert catch_up.due(601.0, PERIOD_S) == [ann]
