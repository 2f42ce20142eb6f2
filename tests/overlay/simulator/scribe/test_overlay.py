"""Scribe as an overlay: who is there from the beginning, who lies, and what long churn leaves behind."""

import numpy as np
import pytest

from overlay.protocol.pastry import NOBODY
from overlay.simulator.compiled import numbers
from overlay.simulator.errors import OverlayError
from overlay.simulator.harm import Misdeed
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.state import TO_DEAD
from tests.support.even_workload import even_workload
from tests.support.scribe_trees import seats_of

NODES, TOPICS = 120, 20


def overlay(away: range = range(0)) -> ScribeOverlay:
    return ScribeOverlay(even_workload(nodes=NODES, topics=TOPICS, each=3, seed=5), 5, away=away)


def leaves_known(system: ScribeOverlay) -> float:
    """Returns how many leaves a live node has in the mean."""
    leaves = np.asarray(system.state.leaves).reshape(NODES, -1)
    return float((leaves[np.asarray(system.state.alive) == 1] != NOBODY).sum(1).mean())


def test_who_is_away_at_the_beginning_is_known_to_nobody_and_found_when_they_come() -> None:
    system = overlay(range(30))
    known = {*numbers(system.state.leaves), *numbers(system.state.table)}
    assert not known & set(range(30))
    found = system.publish_each()
    assert np.asarray(found.reached).tolist() == np.asarray(found.wanted).tolist()
    system.come(range(30))
    for _ in range(2):
        system.cycle()
    found = system.publish_each()
    assert np.asarray(found.wanted).sum() == NODES * 3
    assert np.asarray(found.reached).tolist() == np.asarray(found.wanted).tolist()


def test_whoever_comes_and_is_there_changes_nothing() -> None:
    system = overlay()
    before = [numbers(each) for each in (system.state.leaves, system.state.parents, system.messages)]
    system.come([3, 4])
    assert [numbers(each) for each in (system.state.leaves, system.state.parents, system.messages)] == before


def test_liars_keep_newcomers_from_knowing_others() -> None:
    """Those who name themselves teach nothing, those who name the dead cost messages to nobody. Without ages the third lie is none."""
    known, to_dead = {}, {}
    for flag in Misdeed.NONE, Misdeed.OFFERS_ITSELF, Misdeed.OFFERS_THE_DEAD, Misdeed.LIES_ABOUT_AGES:
        system = overlay()
        system.misbehave(np.full(NODES, int(flag), np.int64))
        system.leave(range(0, NODES, 3))
        for _ in range(3):
            system.cycle()
        system.come(range(0, NODES, 6))
        system.cycle()
        known[flag], to_dead[flag] = leaves_known(system), system.state.tallies[TO_DEAD]
    assert known[Misdeed.OFFERS_ITSELF] < 0.8 * known[Misdeed.NONE]
    assert to_dead[Misdeed.OFFERS_THE_DEAD] > 1.1 * to_dead[Misdeed.NONE]
    assert (known[Misdeed.LIES_ABOUT_AGES], to_dead[Misdeed.LIES_ABOUT_AGES]) == (known[Misdeed.NONE], to_dead[Misdeed.NONE])


def churned(system: ScribeOverlay) -> ScribeOverlay:
    """Lives through 30 cycles in which nodes leave, and come back two cycles later."""
    for cycle in range(30):
        system.leave([(7 * cycle + step) % NODES for step in range(6)])
        system.come([(7 * (cycle - 2) + step) % NODES for step in range(6)] if cycle > 1 else [])
        system.cycle()
    return system


def test_seats_that_churn_has_left_behind_are_given_up_before_their_table_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else changes by that."""
    plain, tight = churned(overlay()), overlay()
    monkeypatch.setattr("overlay.simulator.scribe.overlay.FULL", 1.05 * tight.state.seats[0] / len(tight.state.seat_keys))
    churned(tight)
    assert plain.state.seats[0] > tight.state.seats[0]
    assert all(seats_of(plain, topic) == seats_of(tight, topic) for topic in range(TOPICS))
    assert numbers(plain.publish_each().reached) == numbers(tight.publish_each().reached)


def test_topics_that_are_none_are_refused() -> None:
    with pytest.raises(OverlayError, match="node 3 is to have topics from 0 to 20, and there are 20"):
        overlay().change_topics(3, [0, 20])
