"""How external ids are remembered, and what promises are known by."""

from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.events import Submission, accept
from infra.kernel.topics import format_topic
from services.social.core import HASH_BYTES, hashed, hashed_contacts, joined_topic
from services.social.post import Post
from services.social.promise import Match, PutUp, Share, TellJoined

SALT = b"s" * 32


def test_an_external_id_is_the_same_however_it_is_written() -> None:
    assert hashed(SALT, "mail", " Ann@Example.TEST ") == hashed(SALT, "mail", "ann@example.test")
    assert hashed(SALT, "mail", "ａnn@example.test") == hashed(SALT, "mail", "ann@example.test")  # noqa: RUF001 - a full-width letter


@given(st.text(max_size=40), st.text(max_size=40))
def test_what_is_remembered_tells_nothing_without_the_salt(provider: str, external_id: str) -> None:
    """Privacy: another store, another hash; and of a fixed size."""
    kept = hashed(SALT, provider, external_id)
    assert len(kept) == HASH_BYTES
    assert kept != hashed(b"t" * 32, provider, external_id)


def test_the_same_id_at_another_provider_is_somebody_else() -> None:
    assert hashed(SALT, "facebook", "7") != hashed(SALT, "address-book", "7")
    assert hashed(SALT, "a", "b7") != hashed(SALT, "ab", "7")


def test_contacts_are_taken_once_each_and_nobody_is_his_own_contact() -> None:
    me = hashed(SALT, "p", "ann")
    assert hashed_contacts(SALT, "p", me, ["bob", "Bob", "ann", "cyd"]) == [hashed(SALT, "p", name) for name in ("bob", "cyd")]


def test_promises_are_known_by_what_they_promise() -> None:
    post = Post(id="post-1", user="ann", kind="play", ts_ms=1, payload={})
    promises = [
        Match("ann", "p"),
        Match("ann", "q"),
        Share("ann", "bob"),
        Share("bob", "ann"),
        TellJoined("ann", "bob"),
        PutUp("ann", post),
    ]
    assert len({promise.id for promise in promises}) == len(promises)
    assert [promise.task() for promise in promises] == [promise.task() for promise in promises]
    assert PutUp("ann", post).id == "post-1"


def test_the_id_of_a_notification_is_one_that_every_door_takes() -> None:
    accept(Submission(format_topic(joined_topic("ann")), "friend-joined", b"{}", TellJoined("ann", "bob").id), 0, "", 100)  # type: ignore[arg-type]
