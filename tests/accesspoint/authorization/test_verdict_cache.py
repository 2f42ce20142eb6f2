"""What is remembered of verdicts, for whom, and what makes it go."""

from typing import Final

from accesspoint.authorization.verdict_cache import MAX_CHANGED, VerdictCache
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, user_topic

BOB, CID = user_topic("bob"), user_topic("cid")
BOBS_MIX: Final = Topic(b"Pbob/mix")
NO: Final = Refused("forbidden", "no")


def test_a_verdict_is_told_as_it_was_given_and_of_that_user_alone() -> None:
    cache = VerdictCache(10)
    cache.put("ann", [(BOB, NO), (CID, None)])
    assert (cache.get("ann", BOB), cache.get("ann", CID)) == ((NO,), (None,))
    assert (cache.get("ann", BOBS_MIX), cache.get("eve", BOB)) == (None, None)
    cache.put("ann", [(BOB, None)])
    assert (cache.get("ann", BOB), len(cache)) == ((None,), 2)


def test_of_too_many_entries_those_of_users_who_were_not_asked_about_go() -> None:
    cache = VerdictCache(4)
    for user in ("ann", "bob"):
        cache.put(user, [(BOB, None), (CID, NO)])
    assert cache.get("ann", BOB)  # so that it is the other one who was asked about least recently
    cache.put("eve", [(BOB, None)])
    assert (len(cache), cache.get("bob", BOB), cache.get("bob", CID)) == (3, None, None)
    assert cache.get("ann", CID) == (NO,)


def test_more_verdicts_of_one_user_than_there_is_room_for_are_not_kept() -> None:
    cache = VerdictCache(1)
    cache.put("ann", [(BOB, None), (CID, None)])
    assert (len(cache), cache.get("ann", BOB)) == (0, None)


def test_a_pair_is_forgotten_with_all_topics_of_the_owner_and_nothing_else() -> None:
    """AUTH-4: a block takes the verdicts of the two away."""
    cache = VerdictCache(10)
    for user in ("ann", "eve"):
        cache.put(user, [(BOB, None), (BOBS_MIX, None), (CID, None)])
    cache.forget_pair("bob", "ann")
    cache.forget_pair("bob", "nobody")
    assert [cache.get("ann", topic) for topic in (BOB, BOBS_MIX, CID)] == [None, None, (None,)]
    assert (cache.get("eve", BOB), len(cache)) == ((None,), 4)


def test_what_was_answered_before_an_owner_changed_something_holds_no_longer_and_what_came_after_does() -> None:
    """AUTH-5: a new setting is about everybody at once, and nobody is looked through for it."""
    cache = VerdictCache(10)
    cache.put("ann", [(BOB, None), (BOBS_MIX, None), (CID, None)])
    cache.forget_owner("bob")
    assert [cache.get("ann", topic) for topic in (BOB, BOBS_MIX, CID)] == [None, None, (None,)]
    cache.put("ann", [(BOB, NO)])
    assert cache.get("ann", BOB) == (NO,)
    cache.forget_owner("bob")
    assert cache.get("ann", BOB) is None


def test_after_too_many_owners_everything_is_forgotten_and_nothing_old_comes_back() -> None:
    cache = VerdictCache(10)
    cache.put("ann", [(BOB, None), (CID, None)])
    for n in range(MAX_CHANGED):
        cache.forget_owner(f"owner{n}")
    assert cache.get("ann", CID) == (None,)
    cache.forget_owner("bob")
    assert (len(cache), cache.get("ann", BOB), cache.get("ann", CID)) == (0, None, None)
    cache.put("ann", [(BOB, NO)])
    assert cache.get("ann", BOB) == (NO,)
