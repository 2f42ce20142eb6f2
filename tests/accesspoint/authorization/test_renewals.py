"""When what users hold is asked about again, and when it is over."""

from accesspoint.authorization.renewals import EARLIEST, SPREAD, Renewals

MOST = 1_000


def test_a_user_is_due_before_the_answer_is_too_old_and_over_when_nobody_has_answered_in_the_grace() -> None:
    renewals = Renewals(recheck_s=100.0, grace_s=50.0)
    renewals.allowed("ann", 0.0)
    assert renewals.due(100 * EARLIEST - 1, MOST) == []
    assert renewals.due(100 * (EARLIEST + SPREAD) + 1, MOST) == [("ann", False)]
    assert renewals.due(149.0, MOST) == []
    assert renewals.due(150.0, MOST) == [("ann", True)]
    assert (len(renewals), renewals.due(1e9, MOST)) == (0, [])


def test_an_answer_begins_a_new_time_and_one_about_somebody_who_holds_nothing_does_not() -> None:
    renewals = Renewals(recheck_s=100.0, grace_s=50.0)
    renewals.allowed("ann", 0.0)
    assert renewals.due(99.0, MOST) == [("ann", False)]
    renewals.renewed("ann", 98.0)
    assert renewals.due(98 + 100 * EARLIEST - 1, MOST) == []
    assert renewals.due(198.0, MOST) == [("ann", False)]
    renewals.renewed("ann", None)
    renewals.renewed("ann", 199.0)
    assert (len(renewals), renewals.due(1e9, MOST)) == (0, [])


def test_of_several_answers_about_a_user_the_oldest_counts() -> None:
    renewals = Renewals(recheck_s=100.0, grace_s=50.0)
    for asked_s in (40.0, 0.0, 60.0):
        renewals.allowed("ann", asked_s)
    assert renewals.due(99.0, MOST) == [("ann", False)]


def test_users_who_came_at_once_are_due_one_after_the_other_and_so_many_are_looked_at_at_once() -> None:
    renewals = Renewals(recheck_s=1000.0, grace_s=50.0)
    for n in range(200):
        renewals.allowed(f"u{n}", 0.0)
    counts = [len(renewals.due(second, MOST)) for second in range(740, 960)]
    assert (sum(counts), max(counts) < 10) == (200, True)
    assert [len(renewals.due(2000.0, 150)) for _ in range(3)] == [150, 50, 0]


def test_without_a_time_nobody_is_kept() -> None:
    renewals = Renewals(recheck_s=0.0, grace_s=50.0)
    renewals.allowed("ann", 0.0)
    assert len(renewals) == 0
