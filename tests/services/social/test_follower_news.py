"""What users are told of new followers: a real social service and an intake that fails when it is told to."""

from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from services.social.options import SocialOptions
from tests.services.social.house import House
from tests.support.eventually import eventually


async def test_a_user_is_told_once_of_each_who_follows_them(house: House) -> None:
    await house.start()
    await house.befriend("bob", "ann")
    await house.befriend("cyd", "ann", "ann")
    await house.quiet()
    await house.ask("bob", "DELETE", "/friends/ann")
    await house.befriend("bob", "ann")
    await house.quiet()
    assert house.told_of_followers() == [("ann", "bob"), ("ann", "cyd")]
    assert house.role.counters()["social_followed_total"] == 2


async def test_one_who_has_left_or_is_blocked_by_then_is_not_told(house: House) -> None:
    house.intake.down = 3
    await house.start()
    await house.befriend("bob", "ann")
    await house.befriend("eve", "ann")
    await eventually(lambda: house.role.counters()["social_outbox_retries_total"])
    await house.ask("bob", "DELETE", "/friends/ann")
    await house.ask("ann", "PUT", "/blocks/eve")
    await house.befriend("cyd", "ann")
    await house.quiet()
    assert house.told_of_followers() == [("ann", "cyd")]


async def test_an_address_book_tells_nobody_of_followers(house: House) -> None:
    """SB-5: a newcomer whom many know is told to them, and is not told of all of them."""
    await house.start()
    for user in ("ann", "bob", "cyd"):
        await house.link(user, "new")
    await house.link("new")
    assert (house.told(), house.told_of_followers()) == ([("ann", "new"), ("bob", "new"), ("cyd", "new")], [])


async def test_a_crowd_is_told_in_part_and_who_toggles_takes_nothing_of_the_hour(house: House) -> None:
    await house.start(new_followers_per_hour=2)
    for _ in range(4):
        await house.befriend("bob", "ann")
        await house.quiet()
        await house.ask("bob", "DELETE", "/friends/ann")
    for user in ("cyd", "dan", "eve"):
        await house.befriend(user, "ann")
        await house.quiet()
    await house.befriend("ann", "bob")
    await house.quiet()
    assert house.told_of_followers() == [("ann", "bob"), ("ann", "cyd"), ("bob", "ann")]
    assert house.role.counters()["social_followed_untold_total"] == 2
    assert [each["user"] for each in (await house.ask("ann", "GET", "/followers"))[1]["followers"]] == ["cyd", "dan", "eve"]


async def test_where_nobody_is_to_be_told_nothing_is_promised(house: House) -> None:
    await house.start(playlist=[], wall="", new_followers_per_hour=0)
    await house.befriend("bob", "ann")
    assert house.role.counters()["social_outbox_done_total"] == house.role.counters()["social_outbox_waiting"] == 0


def test_a_rate_below_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="new_followers_per_hour -1: it is 0 or more"):
        SocialOptions(site="sto", node="f1", path=str(tmp_path), new_followers_per_hour=-1).check()
