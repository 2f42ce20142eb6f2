"""The ledger of a replay: who must get an event, who may, and who may not."""

import pytest

from segue.cli.replay.ledger import ReplayLedger

T = "hm://presence/user/u1/"


def following(*users: str, remembered: int = 100) -> ReplayLedger:
    """Returns a ledger where these users follow T."""
    ledger = ReplayLedger(remembered)
    for user in users:
        ledger.subscribing(user, [T])
        ledger.installed(user, [T])
    return ledger


def test_an_event_is_expected_once_at_everybody_whose_subscription_stands() -> None:
    ledger = following("ann", "bob")
    ledger.sent("e1", T, 1.0)
    assert ledger.missing == 2
    ledger.received("ann", "e1", 1.010)
    ledger.received("bob", "e1", 1.030)
    *counts, p50_ms, p99_ms = ledger.totals()
    assert counts == [1, 2, 0, 0, 0, 0, 0]
    assert [p50_ms, p99_ms] == pytest.approx([10, 30])


def test_a_second_copy_is_a_duplicate_and_one_for_nobody_has_gone_astray() -> None:
    ledger = following("ann")
    ledger.sent("e1", T, 1.0)
    for user, event in (("ann", "e1"), ("ann", "e1"), ("eve", "e1"), ("ann", "never sent")):
        ledger.received(user, event, 1.1)
    totals = ledger.totals()
    assert (totals.delivered, totals.duplicated, totals.misrouted, totals.missing) == (1, 1, 2, 0)


def test_who_is_just_subscribing_may_get_it_or_not() -> None:
    ledger = ReplayLedger()
    ledger.subscribing("ann", [T])
    ledger.sent("e1", T, 1.0)
    ledger.sent("e2", T, 1.0)
    ledger.received("ann", "e1", 1.1)
    totals = ledger.totals()
    assert (totals.in_flux, totals.delivered, totals.missing, totals.misrouted) == (1, 0, 0, 0)


def test_what_is_under_way_when_a_subscription_ends_is_excused_and_may_still_come() -> None:
    ledger = following("ann", "bob")
    ledger.sent("e1", T, 1.0)
    ledger.unsubscribing("ann", [T])
    ledger.received("ann", "e1", 1.1)
    ledger.unsubscribed("ann", [T])
    assert (ledger.excused, ledger.in_flux, ledger.missing) == (1, 1, 1)
    ledger.sent("e2", T, 2.0)
    ledger.received("ann", "e2", 2.1)
    assert (ledger.misrouted, ledger.missing) == (1, 2)


def test_an_event_that_no_broker_took_is_not_missing() -> None:
    ledger = following("ann")
    ledger.sent("e1", T, 1.0)
    ledger.rejected("e1")
    assert (ledger.missing, ledger.excused) == (0, 1)


def test_ids_are_unique() -> None:
    ledger = following("ann")
    ledger.sent("e1", T, 1.0)
    with pytest.raises(ValueError, match="was sent before"):
        ledger.sent("e1", T, 2.0)


def test_old_events_are_forgotten_but_not_while_somebody_waits() -> None:
    ledger = following("ann", remembered=20)
    ledger.sent("waits", T, 1.0)
    for number in range(100):
        ledger.sent(f"e{number}", "hm://presence/user/nobody/", 1.0)
    ledger.received("ann", "waits", 1.5)
    assert (ledger.delivered, ledger.events) == (1, 101)
    assert len(ledger._sent) <= 22
