"""Who may see what: the one policy, row by row, and what those are told whom it forbids something."""

from itertools import product

import pytest

from infra.kernel import access
from infra.kernel.access import (
    FOREVER_MS,
    MAX_PRIVATE_HOURS,
    AccessFacts,
    Listening,
    Relation,
    Visibility,
    check_may_see,
    edit_verdict,
    is_everybodys,
    private_until_ms,
    refusal,
    rule_of,
    verdict,
)
from infra.kernel.errors import Refused
from infra.kernel.topics import Kind, parse_topic

EVERYBODYS = ["hm://presence/user/bob/", "hm://playlist/user/bob/playlist/p1/", "hm://notifications/feed/bob%new-album/"]
PLAYING, PLAYLIST, ARTIST = map(parse_topic, EVERYBODYS)
ALL_FACTS = [AccessFacts(*row) for row in product(Relation, Listening, Visibility, (False, True))]
FOLLOWERS = {Relation.FOLLOWER, Relation.FRIENDS}


def seen_by(kind: Kind, **settings: object) -> set[Relation]:
    """Returns the relations whose users see a topic of `kind` under `settings`."""
    return {relation for relation in Relation if verdict(kind, AccessFacts(relation, **settings)) is None}  # type: ignore[arg-type]


@pytest.mark.parametrize("uri", [*EVERYBODYS, "hm://notifications/feed/ann%friend-joined/"])
def test_without_facts_nothing_is_forbidden_but_inboxes_and_the_feeds_of_others(uri: str) -> None:
    check_may_see("ann", parse_topic(uri))


@pytest.mark.parametrize("other", ["bob", "an", "anna", "Ann"])
def test_whose_friends_have_joined_is_told_to_nobody_else(other: str) -> None:
    """AUTH-3, also without facts."""
    with pytest.raises(Refused, match="forbidden"):
        check_may_see("ann", parse_topic(f"hm://notifications/feed/{other}%friend-joined/"))


@pytest.mark.parametrize("user", ["ann", "bob"])
def test_an_inbox_is_named_by_nobody_not_even_by_its_own_user(user: str) -> None:
    """AUTH-1, also without facts."""
    with pytest.raises(Refused, match="forbidden"):
        check_may_see("ann", parse_topic(f"hm://notifications/inbox/{user}/"))
    assert not is_everybodys(user, parse_topic(f"hm://notifications/inbox/{user}/"))


@pytest.mark.parametrize("facts", ALL_FACTS)
def test_what_no_setting_changes(facts: AccessFacts) -> None:
    """AUTH-1, AUTH-2, AUTH-3, AUTH-4, AUTH-9, for all facts there are."""
    assert verdict(Kind.INBOX, facts) is access.INBOX_RULE
    assert verdict(Kind.ARTIST, facts) is None
    assert verdict(Kind.SOCIAL, facts) is (None if facts.relation is Relation.SELF else access.JOINED_RULE)
    for kind in (Kind.USER, Kind.PLAYLIST):
        if facts.relation is Relation.SELF:
            assert verdict(kind, facts) is None
        if facts.relation is Relation.BLOCKED:
            assert verdict(kind, facts) is access.BLOCK_RULE


def test_who_hears_what_a_user_plays() -> None:
    """AUTH-5."""
    heard = {setting: seen_by(Kind.USER, listening=setting) - {Relation.SELF} for setting in Listening}
    assert heard == {
        Listening.EVERYONE: FOLLOWERS | {Relation.STRANGER},
        Listening.FOLLOWERS: FOLLOWERS,
        Listening.FRIENDS: {Relation.FRIENDS},
        Listening.NOBODY: set(),
    }
    assert verdict(Kind.USER, AccessFacts(Relation.STRANGER)) is access.LISTENING_RULE


def test_who_sees_a_playlist() -> None:
    """AUTH-6: its editors too, whatever else they are to the owner, unless one blocks the other."""
    seen = {setting: seen_by(Kind.PLAYLIST, visibility=setting) - {Relation.SELF} for setting in Visibility}
    assert seen == {Visibility.PUBLIC: FOLLOWERS | {Relation.STRANGER}, Visibility.FOLLOWERS: FOLLOWERS, Visibility.PRIVATE: set()}
    by_editors = seen_by(Kind.PLAYLIST, visibility=Visibility.PRIVATE, is_editor=True)
    assert by_editors == set(Relation) - {Relation.BLOCKED}
    assert verdict(Kind.PLAYLIST, AccessFacts(Relation.FRIENDS, visibility=Visibility.PRIVATE)) is access.PLAYLIST_RULE


@pytest.mark.parametrize("facts", ALL_FACTS)
def test_who_edits_a_playlist(facts: AccessFacts) -> None:
    """AUTH-7: nobody edits what they may not see; of the others those on the list, or all if there is no list."""
    sees = verdict(Kind.PLAYLIST, facts)
    alone = edit_verdict(facts, collaborative=False, has_editors=facts.is_editor)
    listed = edit_verdict(facts, collaborative=True, has_editors=True)
    open_to_all = edit_verdict(facts, collaborative=True, has_editors=False)
    if facts.relation is Relation.SELF:
        assert (alone, listed, open_to_all) == (None, None, None)
    elif sees is not None:
        assert (alone, listed, open_to_all) == (sees, sees, sees)
    else:
        assert (alone, listed, open_to_all) == (access.EDITOR_RULE, None if facts.is_editor else access.EDITOR_RULE, None)


def test_a_blocked_user_reads_what_all_read_whom_a_setting_keeps_out() -> None:
    """AUTH-4: the answer does not tell that somebody blocks somebody."""
    for topic, by_setting in ((PLAYING, access.LISTENING_RULE), (PLAYLIST, access.PLAYLIST_RULE)):
        blocked, kept_out = refusal(access.BLOCK_RULE, topic), refusal(by_setting, topic)
        assert (blocked.code, blocked.reason) == (kept_out.code, kept_out.reason)
        assert blocked.code.name == "forbidden"
        assert "bob" in blocked.reason
        assert "block" not in blocked.reason


def test_the_rules_are_numbered_in_their_order_and_an_unknown_one_counts_as_the_last() -> None:
    """AUTH-10: a verdict that is not understood here forbids."""
    assert [rule.id for rule in access.RULES] == [f"AUTH-{n}" for n in range(1, 11)]
    assert [rule_of(rule.number) for rule in access.RULES] == list(access.RULES)
    assert [rule_of(n) for n in (0, -1, 11, 1 << 60)] == [access.CLOSED_RULE] * 4


@pytest.mark.parametrize(
    ("user", "uri", "seen"),
    [
        ("ann", EVERYBODYS[2], True),
        ("ann", EVERYBODYS[0], False),
        ("bob", EVERYBODYS[0], True),
        ("bob", EVERYBODYS[1], True),
        ("ann", EVERYBODYS[1], False),
        ("ann", "hm://notifications/feed/ann%friend-joined/", True),
        ("ann", "hm://notifications/feed/bob%friend-joined/", False),
    ],
)
def test_nobody_has_to_be_asked_about_artists_and_ones_own(user: str, uri: str, seen: bool) -> None:
    """AUTH-2 and AUTH-9."""
    assert is_everybodys(user, parse_topic(uri)) is seen


def test_a_private_session_lasts_for_its_hours_or_until_it_is_ended() -> None:
    """AUTH-8."""
    assert [private_until_ms(1000, hours) for hours in (0.5, 2, None)] == [1_801_000, 7_201_000, FOREVER_MS]
    assert private_until_ms(1e12, MAX_PRIVATE_HOURS) < FOREVER_MS
