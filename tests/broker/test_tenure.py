"""Since when a broker has owned its topics."""

from broker.tenure import MOST_CHANGES, Tenure
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic

ONE, TWO = Ring(("b1",)), Ring(("b1", "b2"))
TOPICS = [user_topic(f"u{n}") for n in range(20)]
MINE = next(topic for topic in TOPICS if TWO.owner(topic) == "b1")
OTHER = next(topic for topic in TOPICS if TWO.owner(topic) == "b2")


def test_what_came_before_a_change_of_owners_is_elsewhere() -> None:
    """DPS-5: `owner-lost` for what moved, and for nothing else."""
    tenure = Tenure("b1")
    tenure.begin(TWO)
    assert tenure.reaches(MINE, 5)
    assert not tenure.reaches(OTHER, 1 << 60)  # the former owner may still have some of it on its way
    tenure.end(10, oldest=0)
    assert [tenure.reaches(OTHER, stamp) for stamp in (9, 10, 11)] == [False, True, True]
    assert tenure.reaches(MINE, 0)


def test_a_broker_that_begins_has_owned_nothing_before() -> None:
    tenure = Tenure("b1")
    tenure.begin(Ring(()))
    tenure.end(3, oldest=0)
    assert [tenure.reaches(MINE, stamp) for stamp in (2, 3)] == [False, True]


def test_so_many_changes_are_remembered_and_older_stamps_are_taken_for_lost() -> None:
    tenure = Tenure("b1")
    for stamp in range(MOST_CHANGES + 2):
        tenure.begin(ONE)
        tenure.end(stamp, oldest=0)
    assert [tenure.reaches(MINE, stamp) for stamp in (0, 1, 2)] == [False, True, True]
    tenure.end(500, oldest=400)
    tenure.begin(TWO)
    tenure.end(501, oldest=400)
    assert not tenure.reaches(OTHER, 450)


def test_what_another_part_of_the_site_served_was_split_until_that_was_known() -> None:
    """DPS-19: what came to be known at a stamp concerns who was away before it, and nobody once nothing older is kept."""
    tenure = Tenure("b1")
    tenure.split(TWO, 5)
    theirs, mine = OTHER, MINE
    assert (tenure.was_split(theirs, 5), tenure.was_split(theirs, 6), tenure.was_split(mine, 0)) == (True, False, False)
    tenure.end(9, 6)
    assert not tenure.was_split(theirs, 0)
