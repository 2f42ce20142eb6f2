"""What a drill counts, from numbers made by hand."""

import pytest

from segue.drill.ledger import LATE_S, Arrival, DrillLedger
from segue.drill.tellings import Telling

HERE = ("t", "sto")


def ledger(events: int, *, accepted: bool = True) -> DrillLedger:
    """Returns a ledger of two followers, of which one follows the topic of `events` that were sent a second apart."""
    made = DrillLedger({"follower": frozenset({"t"}), "other": frozenset({"u"})})
    for n in range(events):
        assert made.sent(*HERE, at_s=float(n)) == n
        if accepted:
            made.accepted(n)
    return made


def arrive(made: DrillLedger, n: int, seq: int, *, epoch: int = 1, late_s: float = 0.0) -> None:
    made.arrived("follower", Arrival(HERE, epoch, seq, 0, n, n + late_s))


def test_what_arrives_once_and_in_order_is_well() -> None:
    made = ledger(3)
    for n in range(3):
        arrive(made, n, n + 1)
    found = made.measured()
    assert found[:3] == (3, 0, 3)
    assert not any(found[3:])


def test_only_who_follows_lacks_what_was_accepted() -> None:
    made = ledger(2)
    arrive(made, 0, 1)
    assert made.outstanding() == 1
    assert made.measured().missing == 1
    assert ledger(2, accepted=False).measured()[:4] == (0, 2, 0, 0)


def test_a_copy_and_what_was_overtaken_are_counted() -> None:
    made = ledger(3)
    for n in (0, 2, 2, 1):
        arrive(made, n, n + 1)
    assert made.measured().twice == 1
    assert made.measured().out_of_order == 1


def test_what_was_not_accepted_in_time_may_come_late() -> None:
    """A broker hangs, the service goes on at another one, and what the first one had taken comes when it does not hang any more."""
    made = ledger(2, accepted=False)
    made.accepted(1)
    for n in (1, 0):
        arrive(made, n, n + 1)
    assert made.measured().out_of_order == 0
    made.accepted(0)
    assert made.measured().out_of_order == 1


def test_a_loss_that_no_number_shows_is_undetected() -> None:
    shown, hidden, counted_anew = ledger(3), ledger(3), ledger(3)
    for made, seq, epoch in ((shown, 3, 1), (hidden, 2, 1), (counted_anew, 1, 2)):
        arrive(made, 0, 1)
        arrive(made, 2, seq, epoch=epoch)
    assert [made.measured().undetected for made in (shown, hidden, counted_anew)] == [0, 1, 0]


def test_somebody_is_served_again_when_nothing_is_lost_refused_or_late_any_more() -> None:
    made = ledger(6)
    for n in (0, 1, 4, 5):
        arrive(made, n, n + 1, late_s=2 * LATE_S if n == 4 else 0.0)
    made.mark(2.0)
    assert made.measured().again_s == 4 + 2 * LATE_S - 2.0
    refused = ledger(4, accepted=False)
    refused.mark(1.0)
    arrive(refused, 0, 1, late_s=50.0)  # a broker that hung took it all the same, and nobody was promised anything
    assert refused.measured().again_s == 2.0


def test_what_followers_were_told_is_counted() -> None:
    made = ledger(1)
    made.tellings.extend(Telling("follower", "t", "no-window", 0.0) for _ in range(2))
    assert made.measured().told == 2


def test_who_came_back_without_all_that_was_missed_and_what_nobody_can_say_the_gap_before_are_counted() -> None:
    made = ledger(2)
    arrive(made, 0, 1)
    made.arrived("follower", Arrival(HERE, 2, 1, 0, 1, 1.0, is_anew=True))
    made.unrecovered += 1
    assert (made.measured().unrecovered, made.measured().anew) == (1, 1)


def test_what_numbers_do_not_count_is_uncounted() -> None:
    """DPS-32: between two events of one epoch they count, and neither at the end nor from one epoch to the next."""
    counted, ended, anew, hidden = ledger(4), ledger(4), ledger(4), ledger(4)
    for made, arrivals in (
        (counted, [(0, 1, 1), (3, 4, 1)]),
        (ended, [(0, 1, 1), (1, 2, 1)]),
        (anew, [(0, 1, 1), (3, 1, 2)]),
        (hidden, [(0, 1, 1), (3, 3, 1)]),
    ):
        for n, seq, epoch in arrivals:
            arrive(made, n, seq, epoch=epoch)
    assert [made.measured().uncounted for made in (counted, ended, anew, hidden)] == [0, 2, 2, 1]
    assert [made.measured().missing for made in (counted, ended, anew, hidden)] == [2, 2, 2, 2]
    assert hidden.measured().undetected == 1


@pytest.mark.parametrize(
    ("telling", "untold", "mistold"),
    [
        (Telling("follower", "t", "split", 12.0), 0, 0),
        (Telling("follower", "t", "split", 13.5), 1, 0),
        (Telling("follower", "t", "split", 9.0), 1, 0),
        (Telling("follower", "t", "expired", 12.0), 1, 1),
        (Telling("other", "u", "split", 12.0), 1, 1),
    ],
    ids=["in time", "too late", "before the mark", "for another reason", "of what is not concerned"],
)
def test_what_is_to_be_told_is_told_in_time_with_the_reason_and_nothing_else(telling: Telling, untold: int, mistold: int) -> None:
    """DPS-8, DPS-32."""
    made = ledger(1)
    made.mark(10.0)
    made.expect(frozenset({("follower", "t")}), "split", 3.0)
    made.tellings.append(telling)
    found = made.measured()
    assert (found.due, found.told, found.untold, found.mistold) == (1, 1, untold, mistold)


def test_who_was_away_is_told_when_they_are_back() -> None:
    """DPS-32: how long the answer took is measured, too."""
    made = ledger(1)
    made.expect(frozenset({("follower", "t")}), "expired", 3.0)
    made.tellings.append(Telling("follower", "t", "expired", 60.2))
    assert made.measured().untold == 1
    made.back("follower", 60.0, 0.25, is_recovered=False)
    made.back("other", 60.0, 0.125, is_recovered=True)
    found = made.measured()
    assert (found.untold, found.mistold, found.unrecovered, found.answer_s) == (0, 0, 1, 0.25)


def test_what_is_told_while_all_comes_back_is_in_time() -> None:
    """DPS-32: a whole site is started again, node by node, and it is marked when all are there. Before the first of them nothing counts."""
    made = ledger(1)
    for at_s in (1.0, 10.0, 30.0):
        made.mark(at_s)
    made.expect(frozenset({("follower", "t")}), "owner-lost", 3.0)
    made.tellings.append(Telling("follower", "t", "owner-lost", 9.0))
    assert (made.measured().untold, made.measured().mistold) == (1, 0)
    made.tellings.append(Telling("follower", "t", "expired", 12.0))
    assert (made.measured().untold, made.measured().mistold) == (1, 1)
    made.tellings.append(Telling("follower", "t", "owner-lost", 20.0))
    assert (made.measured().untold, made.measured().mistold) == (0, 1)
