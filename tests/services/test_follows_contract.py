"""The contract of every store of follows."""

import random
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, parse_topic, user_topic
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.sqlite import Sqlite
from segue.cassandra import Server
from services import follows_sqlite
from services.follows import FollowStore, follower_pages
from services.follows_cassandra import FollowsCassandra
from services.follows_sqlite import FollowsSqlite
from tests.services.shared_keyspace import empty_keyspace

ANN, BOB = user_topic("ann"), user_topic("bob")


async def everybody(follows: FollowStore, topic: Topic, limit: int = 3) -> list[str]:
    """Returns all followers of `topic`, through pages of `limit`."""
    return [user async for page in follower_pages(follows, topic, limit) for user in page]


async def everything(follows: FollowStore, user: str, limit: int = 3) -> list[Topic]:
    """Returns all topics of a user, through pages."""
    found: list[Topic] = []
    after: str | None = ""
    while after is not None:
        topics, after = await follows.topics(user, after, limit)
        found += topics
    return found


class FollowsContract:
    """The contract of every store. `follows` lets a user follow 100 topics."""

    async def test_following_twice_leaves_one_pair_and_only_the_first_is_new(self, follows: FollowStore) -> None:
        """SB-3."""
        assert await follows.add("u", [ANN]) == [ANN]
        assert await follows.add("u", [ANN, BOB]) == [BOB]
        assert await follows.add("u", [ANN, BOB]) == []
        assert (await follows.count(ANN), await everybody(follows, ANN)) == (1, ["u"])

    async def test_unfollowing_ends_it_and_may_be_repeated(self, follows: FollowStore) -> None:
        await follows.add("u", [ANN, BOB])
        for _ in range(2):
            await follows.remove("u", [ANN])
        assert await everything(follows, "u") == [BOB]
        assert (await follows.count(ANN), await follows.count(BOB)) == (0, 1)
        assert await follows.add("u", [ANN]) == [ANN]

    async def test_the_list_of_followers_and_the_list_of_topics_are_two_views_of_the_same_pairs(self, follows: FollowStore) -> None:
        """SB-32: over random changes, compared with a set."""
        rng, pairs = random.Random(32), set[tuple[str, Topic]]()
        users, topics = [f"u{n}" for n in range(12)], [parse_topic(f"hm://playlist/user/o/playlist/p{n}/") for n in range(9)]
        for _ in range(120):
            user, topic = rng.choice(users), rng.choice(topics)
            some = rng.sample(users, 3)
            match rng.randrange(4):
                case 0:
                    assert await follows.add(user, [topic]) == ([] if (user, topic) in pairs else [topic])
                    pairs.add((user, topic))
                case 1:
                    await follows.remove(user, [topic])
                    pairs.discard((user, topic))
                case 2:
                    await follows.add_followers(topic, some)
                    pairs |= {(each, topic) for each in some}
                case _:
                    await follows.remove_followers(topic, some)
                    pairs -= {(each, topic) for each in some}
        for topic in topics:
            assert sorted(await everybody(follows, topic)) == sorted(user for user, each in pairs if each == topic)
            assert await follows.follows(topic, users) == [(user, topic) in pairs for user in users]
            assert await follows.count(topic) == sum(each == topic for _, each in pairs)
        for user in users:
            assert await everything(follows, user) == sorted(topic for each, topic in pairs if each == user)

    @pytest.mark.parametrize("count", [0, 1, 100, 101, 300])
    async def test_of_few_and_of_many_users_those_who_follow_a_topic_are_found(self, follows: FollowStore, count: int) -> None:
        users = [f"u{n}" for n in range(count)]
        await follows.add_followers(ANN, users[::2])
        await follows.add_followers(BOB, users)
        assert await follows.follows(ANN, users) == [n % 2 == 0 for n in range(count)]

    async def test_of_many_topics_those_that_a_user_follows_are_found_at_once(self, follows: FollowStore) -> None:
        topics = [user_topic(f"t{n}") for n in range(90)]
        await follows.add("u", topics[::3])
        await follows.add("v", topics)
        assert await follows.followed("u", [*topics, ANN, *topics]) == set(topics[::3])
        assert await follows.followed("u", []) == await follows.followed("w", topics) == set()

    async def test_who_would_follow_too_much_is_refused_and_follows_what_he_did_before(self, follows: FollowStore) -> None:
        topics = [user_topic(f"t{n}") for n in range(101)]
        await follows.add("u", topics[:99])
        with pytest.raises(Refused, match="too-many-topics"):
            await follows.add("u", topics)
        assert len(await everything(follows, "u", 50)) == 99
        assert await follows.add("u", topics[:100]) == [topics[99]]
        assert await follows.add("u", topics[:100]) == []


class TestSqlite(FollowsContract):
    @pytest.fixture
    async def follows(self, tmp_path: Path) -> AsyncIterator[FollowStore]:
        db = await Sqlite.open(tmp_path / "follows.sqlite", "follows", follows_sqlite.SCRIPTS)
        yield FollowsSqlite(db, max_topics=100)
        await db.close()


class TestCassandra(FollowsContract):
    @pytest.fixture
    async def db(self, cassandra_server: Server) -> AsyncIterator[Cassandra]:
        async with empty_keyspace(cassandra_server, "follows") as db:
            yield db

    @pytest.fixture
    def follows(self, db: Cassandra) -> FollowStore:
        return FollowsCassandra(db, "test", max_topics=100)

    async def test_services_have_lists_of_their_own(self, db: Cassandra, follows: FollowStore) -> None:
        other = FollowsCassandra(db, "other")
        await follows.add("u", [ANN])
        await other.add("u", [BOB])
        assert (await everything(follows, "u"), await everything(other, "u")) == ([ANN], [BOB])

    async def test_a_cursor_that_is_made_up_is_refused(self, follows: FollowStore) -> None:
        with pytest.raises(Refused, match="bad-field"):
            await follows.followers(ANN, "made up")

    async def test_a_large_audience_comes_once_whatever_the_page(self, follows: FollowStore) -> None:
        names = [f"u{n:05d}" for n in range(1200)]
        await follows.add_followers(ANN, names)
        for limit in (500, 90):
            assert sorted(await everybody(follows, ANN, limit)) == names


async def test_followers_come_in_pages_faster_than_a_hundred_thousand_a_second(tmp_path: Path) -> None:
    db = await Sqlite.open(tmp_path / "follows.sqlite", "follows", follows_sqlite.SCRIPTS)
    many, topic = FollowsSqlite(db), parse_topic("hm://notifications/feed/a1%new-album/")
    names = [f"u{n:06d}" for n in range(100_000)]
    for start in range(0, len(names), 10_000):
        await many.add_followers(topic, names[start : start + 10_000])
    start_s = time.process_time()
    assert [user async for page in follower_pages(many, topic) for user in page] == names
    assert time.process_time() - start_s < 1.0
    await db.close()
