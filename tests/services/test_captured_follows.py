"""Follows that are captured: a store like any other, and whoever listens hears what changed."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from infra.kernel.capture import Site
from infra.kernel.topics import Kind, Topic, parse_topic, user_topic
from infra.runtime.sqlite import Sqlite
from services import follows_sqlite
from services.captured_follows import CapturedFollows
from services.follows_sqlite import FollowsSqlite
from tests.services.test_follows_contract import FollowsContract

ALBUMS, TRACKS = (parse_topic(f"hm://notifications/feed/bjork%{kind}/") for kind in ("new-album", "new-track"))


class Told(list[tuple[str, Topic, str, Site]]):
    """A recorder that remembers."""

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        raise AssertionError("a store has no sessions")

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        self.append((user, topic, action, site))


@pytest.fixture
async def told() -> Told:
    return Told()


@pytest.fixture
async def follows(tmp_path: Path, told: Told) -> AsyncIterator[CapturedFollows]:
    db = await Sqlite.open(tmp_path / "follows.sqlite", "follows", follows_sqlite.SCRIPTS)
    yield CapturedFollows(FollowsSqlite(db, max_topics=100), told, Kind.ARTIST)
    await db.close()


class TestCaptured(FollowsContract):
    """Nothing is different for who uses it."""


async def test_what_begins_and_ends_is_told_once(follows: CapturedFollows, told: Told) -> None:
    for _ in range(2):
        await follows.add("ann", [ALBUMS, TRACKS])
    for _ in range(2):
        await follows.remove("ann", [ALBUMS, ALBUMS])
    assert told == [("ann", ALBUMS, "subscribe", None), ("ann", TRACKS, "subscribe", None), ("ann", ALBUMS, "unsubscribe", None)]


async def test_of_many_followers_those_are_told_for_whom_it_is_new(follows: CapturedFollows, told: Told) -> None:
    await follows.add("ann", [ALBUMS])
    await follows.add_followers(ALBUMS, ["ann", "bob"])
    await follows.remove_followers(ALBUMS, ["bob", "eve"])
    assert told[1:] == [("bob", ALBUMS, "subscribe", None), ("bob", ALBUMS, "unsubscribe", None)]


async def test_what_is_of_another_kind_is_kept_and_not_told(follows: CapturedFollows, told: Told) -> None:
    """The playlist service keeps who follows an owner as a follower of the owner's feed, which is no subscription to it."""
    await follows.add_followers(user_topic("bob"), ["ann"])
    assert (await follows.follows(user_topic("bob"), ["ann"]), told) == ([True], [])
