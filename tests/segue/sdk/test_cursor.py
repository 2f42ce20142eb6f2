"""Gaps are counted, skips are not gaps."""

from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.cursor import Cursors
from segue.sdk.messages import Event


def event(
    seq: int, *, site: str = "sto", epoch: int = 1, topic: str = "t", skipped: int = 0, after: tuple[int, int] | None = None
) -> Event:
    return Event(topic=topic, site=site, epoch=epoch, seq=seq, ts_ms=0, id="", kind="play", payload={}, skipped=skipped, after=after)


def gaps(*events: Event) -> list[int | None]:
    cursors = Cursors()
    return [cursors.advance(each) for each in events]


def test_the_first_number_fixes_the_position_and_missing_ones_after_it_are_counted() -> None:
    assert gaps(event(41), event(42), event(46), event(47)) == [0, 0, 3, 0]


def test_skipped_events_are_no_gap_but_others_still_are() -> None:
    assert gaps(event(1), event(6, skipped=3)) == [0, 1]


def test_what_is_missing_before_an_epoch_that_begins_anew_cannot_be_counted() -> None:
    assert gaps(event(7), event(3, epoch=2), event(5, epoch=2)) == [0, None, 1]


def test_an_epoch_that_goes_on_from_the_last_number_has_no_gap_and_one_from_further_on_has() -> None:
    """DPS-1."""
    assert gaps(event(7), event(1, epoch=2, after=(1, 7)), event(2, epoch=2)) == [0, 0, 0]
    assert gaps(event(7), event(1, epoch=2, after=(1, 9))) == [0, 2]
    assert gaps(event(7), event(1, epoch=3, after=(2, 9))) == [0, None]


def test_topics_and_sites_are_counted_apart() -> None:
    assert gaps(event(1), event(9, site="lon"), event(5, topic="u"), event(2), event(10, site="lon"), event(6, topic="u")) == [0] * 6


def test_a_skip_explains_the_numbers_right_before_its_event_and_no_others() -> None:
    """As docs/promises.md says: `skipped` counts events of the same topic and origin site."""
    assert gaps(event(1), event(1, site="lon"), event(3, site="lon", skipped=5), event(3), event(6)) == [0, 0, 0, 1, 2]


def test_a_repeated_or_late_event_is_no_gap_and_does_not_turn_the_position_back() -> None:
    assert gaps(event(4), event(4), event(2), event(5)) == [0, 0, 0, 0]


def test_a_topic_that_was_forgotten_begins_anew() -> None:
    cursors = Cursors()
    cursors.advance(event(1))
    cursors.forget("t")
    cursors.forget("never seen")
    assert (len(cursors), cursors.advance(event(9))) == (0, 0)


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
            assert cursors.advance(event(numbers[site], site=site, skipped=skipped[site])) == (lost[site] if site in seen else 0)
            skipped[site] = lost[site] = 0
            seen.add(site)
