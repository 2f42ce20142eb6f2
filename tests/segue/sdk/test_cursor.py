"""Gaps are counted, skips are not gaps."""

from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.cursor import MAX_SITES, MAX_TOPICS, Cursors, Number, Position
from segue.sdk.messages import Event


def event(
    seq: int, *, site: str = "sto", epoch: int = 1, topic: str = "t", skipped: int = 0, after: tuple[int, int] | None = None
) -> Event:
    return Event(topic=topic, site=site, epoch=epoch, seq=seq, ts_ms=0, id="", kind="play", payload={}, skipped=skipped, after=after)


def gap_of(cursors: Cursors, one: Event) -> int | None:
    taken = cursors.take(one)
    assert taken is not None
    return taken.gap


def gaps(*events: Event) -> list[int | None]:
    cursors = Cursors()
    return [gap_of(cursors, each) for each in events]


def test_the_first_number_fixes_the_position_and_missing_ones_after_it_are_counted() -> None:
    assert gaps(event(41), event(42), event(46), event(47)) == [0, 0, 3, 0]


def test_skipped_events_are_no_gap_but_others_still_are() -> None:
    assert gaps(event(1), event(6, skipped=3)) == [0, 1]


def test_an_event_that_says_that_it_replaced_more_than_has_not_come_is_told_with_as_many_as_have_not() -> None:
    """DPS-1: out of a window it counts events of other sites, and such as have come. Where nobody can count, it stays as it is."""
    cursors = Cursors()
    taken = [cursors.take(each) for each in (event(1, skipped=9), event(4, skipped=9), event(5, skipped=9), event(2, epoch=2, skipped=9))]
    assert [(each.skipped, each.gap) for each in taken if each is not None] == [(9, 0), (2, 0), (0, 0), (9, None)]


def test_what_is_missing_before_an_epoch_that_begins_anew_cannot_be_counted() -> None:
    assert gaps(event(7), event(3, epoch=2), event(5, epoch=2)) == [0, None, 1]


def test_an_epoch_that_goes_on_from_the_last_number_has_no_gap_and_one_from_further_on_has() -> None:
    """DPS-1."""
    assert gaps(event(7), event(1, epoch=2, after=(1, 7)), event(2, epoch=2)) == [0, 0, 0]
    assert gaps(event(7), event(1, epoch=2, after=(1, 9))) == [0, 2]
    assert gaps(event(7), event(1, epoch=3, after=(2, 9))) == [0, None]


def test_an_epoch_that_holds_again_since_a_topic_has_come_back_counts_what_is_missing() -> None:
    """DPS-1: a topic goes to another broker and comes back to one that goes on in its epoch, where higher numbers are free."""
    away = [event(7), event(1, epoch=2, after=(1, 7))]
    assert gaps(*away, event(20, after=(2, 1)), event(21), event(24)) == [0, 0, 0, 0, 2]
    assert gaps(*away, event(20, after=(2, 4)), event(2, epoch=2), event(21)) == [0, 0, 3, 0, 0], "one of those that were counted is late"
    assert gaps(*away, event(20, after=(2, 4)), event(5, epoch=2), event(21)) == [0, 0, 3, None, None]
    assert gaps(*away, event(21), event(22)) == [0, 0, None, 0], "nobody can say how many are missing before the one that has come back"
    assert gaps(*away, event(20, after=(2, 1)), event(25, epoch=2, after=(1, 22))) == [0, 0, 0, 2]


def test_what_is_late_of_an_epoch_before_is_no_gap_and_does_not_turn_the_position_back() -> None:
    """DPS-1"""
    assert gaps(event(7), event(1, epoch=2, after=(1, 7)), event(6), event(2, epoch=2)) == [0, 0, 0, 0]


def test_topics_and_sites_are_counted_apart() -> None:
    assert gaps(event(1), event(9, site="lon"), event(5, topic="u"), event(2), event(10, site="lon"), event(6, topic="u")) == [0] * 6


def test_a_skip_explains_the_numbers_right_before_its_event_and_no_others() -> None:
    """As docs/promises.md says: `skipped` counts events of the same topic and origin site."""
    assert gaps(event(1), event(1, site="lon"), event(3, site="lon", skipped=5), event(3), event(6)) == [0, 0, 0, 1, 2]


def test_a_repeated_or_late_event_is_no_gap_and_does_not_turn_the_position_back() -> None:
    assert gaps(event(4), event(4), event(2), event(5)) == [0, 0, 0, 0]


def test_a_topic_that_was_forgotten_begins_anew() -> None:
    cursors = Cursors()
    cursors.take(event(1))
    cursors.forget(["t", "never seen"])
    assert (len(cursors), gap_of(cursors, event(9))) == (0, 0)


def away(*events: Event, point: str | None = "p1") -> Cursors:
    """Returns the positions of who followed `t`, got `events` and a point, and lost the connection."""
    cursors = Cursors()
    cursors.ask(["t"])
    cursors.settle(["t"], [])
    for each in events:
        cursors.take(each)
    if point is not None:
        cursors.reach(point)
    cursors.disconnect()
    return cursors


def test_a_position_is_epoch_and_number_together_and_outlives_the_connection() -> None:
    cursors = away(event(5), event(1, epoch=2, after=(1, 5)), event(3, site="lon"))
    assert cursors.position("t") == Position("p1", {"sto": (Number(2, 1), Number(1, 5)), "lon": (Number(1, 3),)})
    assert cursors.position("unknown") is None


def test_while_a_topic_is_recovered_what_came_already_is_left_out_by_site_epoch_and_number() -> None:
    """DPS-6."""
    cursors = away(event(5), event(1, epoch=2, after=(1, 5)))
    assert cursors.ask(["t"]) == {"t"}
    seen = [cursors.take(each) for each in (event(5), event(1, epoch=2), event(2, epoch=2), event(1, site="lon"))]
    assert [(each.seq, each.gap, each.replayed) for each in seen if each is not None] == [(2, 0, True), (1, 0, True)]
    cursors.settle(["t"], [])
    repeated = cursors.take(event(2, epoch=2))
    assert repeated is not None
    assert not repeated.replayed


def test_a_false_recovery_empties_the_position_and_the_next_event_says_so() -> None:
    cursors = away(event(5))
    cursors.ask(["t"])
    cursors.settle(["t"], ["t"])
    cursors.reach("p2")
    assert [gap_of(cursors, event(9)), gap_of(cursors, event(10))] == [None, 0]
    cursors.disconnect()
    assert cursors.position("t") == Position("p2", {"sto": (Number(1, 10),)})


def test_first_numbers_are_not_named_where_the_answer_has_not_come_which_would_have_said_that_something_is_missing() -> None:
    """DPS-8: the point stands before a loss perhaps, and the numbers behind it. Named with it, they would show that nothing is missing."""
    cursors = away()
    for _ in range(2):
        cursors.ask(["t"])
        assert [gap_of(cursors, event(seq)) for seq in (7, 8)] == [0, 0] if not _ else cursors.take(event(8)) is None
        cursors.disconnect()
        assert cursors.position("t") == Position("p1", {}) == cursors.snapshot()["t"]
    cursors.ask(["t"])
    assert gap_of(cursors, event(9)) == 0
    cursors.settle(["t"], [])
    cursors.disconnect()
    assert cursors.position("t") == Position("p1", {"sto": (Number(1, 9),)})


def test_what_comes_after_all_in_front_of_first_numbers_is_too_late_and_the_next_event_says_so() -> None:
    """DPS-6, DPS-8: an owner that was late once may answer the next time."""
    cursors = away()
    cursors.ask(["t"])
    cursors.take(event(7))
    cursors.disconnect()
    cursors.ask(["t"])
    assert [cursors.take(event(seq)) for seq in (6, 7)] == [None, None]
    assert [gap_of(cursors, event(seq)) for seq in (8, 9)] == [None, 0]


def test_what_came_live_before_a_false_answer_stands_behind_what_is_missing() -> None:
    cursors = away(event(5), event(1, site="lon"))
    cursors.ask(["t"])
    assert gap_of(cursors, event(9)) == 3
    cursors.settle(["t"], ["t"])
    assert gap_of(cursors, event(10)) == 0
    cursors.disconnect()
    assert cursors.position("t") == Position(None, {"sto": (Number(1, 10),)})


def test_a_gap_empties_the_position_and_what_follows_has_the_point_of_the_gap() -> None:
    """DPS-8."""
    cursors = away(event(5))
    cursors.ask(["t"])
    cursors.settle(["t"], [])
    cursors.empty(["t", "unknown"])
    cursors.reach("p3")
    cursors.disconnect()
    assert cursors.position("t") == Position("p3", {})
    cursors.ask(["t"])
    assert gap_of(cursors, event(6)) is None


def test_a_point_counts_for_topics_that_are_followed_and_not_for_those_that_are_still_recovered() -> None:
    """DPS-9: what a recovered topic missed may still be on its way."""
    cursors = away()
    cursors.ask(["t"])
    cursors.ask(["new"])
    cursors.settle(["new"], [])
    cursors.reach("p2")
    cursors.disconnect()
    assert [cursors.position(topic) for topic in ("t", "new")] == [Position("p1", {}), Position("p2", {})]


def test_where_nothing_recovers_a_topic_the_first_event_after_an_absence_cannot_say_what_is_missing() -> None:
    cursors = away(event(5))
    assert cursors.begin(["t", "new"]) == {"t"}
    assert [gap_of(cursors, event(6)), gap_of(cursors, event(7)), gap_of(cursors, event(1, topic="new"))] == [None, 0, 0]


def test_positions_of_another_process_go_on() -> None:
    cursors = Cursors()
    cursors.restore(away(event(5)).snapshot())
    assert cursors.ask(["t"]) == {"t"}
    assert cursors.take(event(5)) is None
    assert gap_of(cursors, event(8)) == 2


def test_sites_epochs_and_topics_that_are_remembered_are_bounded() -> None:
    cursors = Cursors()
    for n in range(MAX_SITES + 5):
        cursors.take(event(1, site=f"s{n}"))
    for epoch in range(20):
        cursors.take(event(1, site="sto", epoch=epoch))
    sites = cursors.snapshot()["t"].sites
    assert (len(sites), sites["sto"]) == (MAX_SITES, tuple(Number(epoch, 1) for epoch in (19, 18, 17, 16)))
    for n in range(MAX_TOPICS):
        cursors.take(event(1, topic=f"t{n}"))
    assert (len(cursors), gap_of(cursors, event(1, topic="one more"))) == (MAX_TOPICS, None)


FATES = st.sampled_from(["deliver", "skip", "lose"])


@given(st.lists(st.tuples(FATES, st.sampled_from(["sto", "lon"])), max_size=60))
def test_every_loss_is_counted_and_a_skip_is_never_taken_for_one(lives: list[tuple[str, str]]) -> None:
    """Design 6, against a model that knows the fate of every event: delivered, replaced by a newer one, or lost."""
    cursors, numbers, seen = Cursors(), {"sto": 0, "lon": 0}, set[str]()
    skipped, lost = {"sto": 0, "lon": 0}, {"sto": 0, "lon": 0}
    for fate, site in lives:
        numbers[site] += 1
        if fate == "skip":
            skipped[site] += 1
        elif fate == "lose":
            lost[site] += 1
        else:
            assert gap_of(cursors, event(numbers[site], site=site, skipped=skipped[site])) == (lost[site] if site in seen else 0)
            skipped[site] = lost[site] = 0
            seen.add(site)
