"""Gaps are counted, skips are not gaps."""

from hypothesis import given
from hypothesis import strategies as st

from segue.sdk.cursor import Cursors
from segue.sdk.messages import Event


def event(seq: int, *, site: str = "sto", epoch: int = 1, topic: str = "t", skipped: int = 0) -> Event:
    return Event(topic=topic, site=site, epoch=epoch, seq=seq, ts_ms=0, id="", kind="play", payload={}, skipped=skipped)


def gaps(*events: Event) -> list[int]:
    cursors = Cursors()
    return [cursors.advance(each) for each in events]


def test_the_first_number_fixes_the_position_and_missing_ones_after_it_are_counted() -> None:
    assert gaps(event(41), event(42), event(46), event(47)) == [0, 0, 3, 0]


def test_skipped_events_are_no_gap_but_others_still_are() -> None:
    assert gaps(event(1), event(6, skipped=3)) == [0, 1]


def test_a_new_epoch_restarts_the_count() -> None:
    assert gaps(event(7), event(3, epoch=2), event(5, epoch=2)) == [0, 0, 1]


def test_topics_and_sites_are_counted_apart() -> None:
    assert gaps(event(1), event(9, site="lon"), event(5, topic="u"), event(2), event(10, site="lon"), event(6, topic="u")) == [0] * 6


def test_an_event_skipped_for_one_of_another_site_is_no_gap_when_its_own_site_speaks_again() -> None:
    assert gaps(event(1), event(1, site="lon"), event(2, site="lon", skipped=1), event(3)) == [0, 0, 0, 0]


def test_a_repeated_or_late_event_is_no_gap_and_does_not_turn_the_position_back() -> None:
    assert gaps(event(4), event(4), event(2), event(5)) == [0, 0, 0, 0]


def test_a_topic_that_was_forgotten_begins_anew() -> None:
    cursors = Cursors()
    cursors.advance(event(1))
    cursors.forget("t")
    cursors.forget("never seen")
    assert (len(cursors), cursors.advance(event(9))) == (0, 0)


@given(
    st.lists(st.sampled_from(["deliver", "skip", "lose"]), max_size=60), st.lists(st.sampled_from(["sto", "lon"]), min_size=60, max_size=60)
)
def test_a_skip_is_never_taken_for_a_loss_and_without_skips_every_loss_is_counted(fates: list[str], sites: list[str]) -> None:
    """Design 6, against a model that knows the fate of every event: delivered, replaced by a newer one, or lost."""
    cursors, numbers, seen, skipped, lost, unseen_losses, counted = Cursors(), {"sto": 0, "lon": 0}, set[str](), 0, 0, dict[str, int](), 0
    for fate, site in zip(["deliver", *fates], ["sto", *sites], strict=False):
        numbers[site] += 1
        if fate == "skip":
            skipped += 1
        elif fate == "lose":
            if site in seen:
                unseen_losses[site] = unseen_losses.get(site, 0) + 1
        else:
            counted += cursors.advance(event(numbers[site], site=site, skipped=skipped))
            lost += unseen_losses.pop(site, 0)
            skipped = 0
            seen.add(site)
    assert counted <= lost
    if "skip" not in fates:
        assert counted == lost
