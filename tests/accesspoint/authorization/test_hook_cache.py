"""How long answers of the hook are believed, and how many."""

from accesspoint.authorization.hook_cache import HookCache
from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic
from tests.support.user import feed

BOB, CID, EVE = (parse_topic(feed(user)) for user in ("bob", "cid", "eve"))
NO = Refused("forbidden")


def test_an_answer_is_believed_for_its_time_and_only_of_its_user() -> None:
    cache = HookCache(ttl_s=10.0, max_entries=10)
    cache.put("ann", BOB, None, 0.0)
    cache.put("ann", EVE, NO, 0.0)
    assert (cache.get("ann", BOB, 9.9), cache.get("ann", EVE, 9.9)) == ((None, 0.0), (NO, 0.0))
    assert (cache.get("ann", BOB, 10.0), cache.get("eve", BOB, 0.0)) == (None, None)


def test_of_too_many_the_oldest_goes_and_one_that_was_asked_again_is_new() -> None:
    cache = HookCache(ttl_s=10.0, max_entries=2)
    for topic, at_s in ((BOB, 0.0), (CID, 1.0), (BOB, 2.0), (EVE, 3.0)):
        cache.put("ann", topic, None, at_s)
    assert (len(cache), cache.get("ann", BOB, 4.0), cache.get("ann", CID, 4.0)) == (2, (None, 2.0), None)


def test_what_is_over_takes_no_room() -> None:
    cache = HookCache(ttl_s=10.0, max_entries=10)
    cache.put("ann", BOB, None, 0.0)
    cache.put("ann", EVE, None, 5.0)
    cache.tick(12.0)
    assert len(cache) == 1
    cache.tick(15.0)
    assert len(cache) == 0


def test_without_time_nothing_is_remembered() -> None:
    cache = HookCache(ttl_s=0.0, max_entries=10)
    cache.put("ann", BOB, None, 0.0)
    assert len(cache) == 0
