"""Who may see what: the one rule behind following and histories."""

import pytest

from infra.kernel.access import check_may_see
from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic

EVERYBODYS = ["hm://presence/user/bob/", "hm://playlist/user/bob/playlist/p1/", "hm://notifications/feed/bob%new-album/"]


@pytest.mark.parametrize("uri", [*EVERYBODYS, "hm://notifications/feed/ann%friend-joined/"])
def test_users_see_what_is_everybodys_and_what_is_their_own(uri: str) -> None:
    check_may_see("ann", parse_topic(uri))


@pytest.mark.parametrize("other", ["bob", "an", "anna", "Ann"])
def test_whose_friends_have_joined_is_told_to_nobody_else(other: str) -> None:
    with pytest.raises(Refused, match="forbidden"):
        check_may_see("ann", parse_topic(f"hm://notifications/feed/{other}%friend-joined/"))


@pytest.mark.parametrize("user", ["ann", "bob"])
def test_an_inbox_is_named_by_nobody_not_even_by_its_own_user(user: str) -> None:
    with pytest.raises(Refused, match="forbidden"):
        check_may_see("ann", parse_topic(f"hm://notifications/inbox/{user}/"))
