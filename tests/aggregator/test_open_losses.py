"""What of a broker is lost, by what its heirs say."""

from aggregator.open_losses import ORPHANED_BEATS, OpenLosses
from infra.kernel.bequest import Bequest
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, parse_topic

BOTH, ONE, EMPTY = Ring(("b1", "b2")), Ring(("b1",)), Ring(())
TOPICS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(64)]
OF_B2 = {topic for topic in TOPICS if BOTH.owner(topic) == "b2"}


def passed_over(bequest: Bequest | None, *, by: Ring = BOTH) -> OpenLosses:
    losses = OpenLosses({"b2": bequest} if bequest is not None else {})
    for part in (TOPICS[:8], TOPICS[8:]):
        losses.pass_over("b2", by, part, beat=1)
    return losses


def lost_of(losses: OpenLosses, beat: int = 1) -> set[Topic]:
    return {topic for loss in losses.closed(beat, has_copies=True) for topic in loss.passed_over or TOPICS if loss.concerns(topic)}


def test_what_was_passed_over_is_lost_as_far_as_its_heirs_do_not_have_it() -> None:
    """DPS-8: also where nobody knows whose it was, since the broker had not said by which view it went."""
    for kinds, by, lost in ((["playlist"], BOTH, {*TOPICS} - OF_B2), ([], BOTH, {*TOPICS}), (["playlist"], EMPTY, {*TOPICS})):
        losses = passed_over(Bequest(ONE, {"b1": kinds}), by=by)
        assert (len(losses), losses.slots) == (1, {"b2"})
        assert (lost_of(losses), len(losses)) == (lost, 0)


def test_what_was_passed_over_waits_for_an_heir_that_says_nothing_for_a_while() -> None:
    """DPS-8: and for nobody where nobody is asked any more."""
    losses = passed_over(Bequest(ONE, {"b1": None}))
    assert lost_of(losses, 1 + ORPHANED_BEATS) == set()
    assert lost_of(losses, 2 + ORPHANED_BEATS) == {*TOPICS}
    assert lost_of(passed_over(None)) == {*TOPICS}
