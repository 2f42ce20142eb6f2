"""What the stored path promises of rows, retention, mails and pushes, over many random users (SB-37, SB-38, SB-41, SB-42)."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from infra.runtime.cassandra.options import CassandraOptions
from notification.email import EmailOptions
from notification.push import PushOptions
from segue.cassandra import Server
from tests.support.clocked import ClockedCluster
from tests.support.push_receiver import PushReceiver
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, decided, me, stored

DAY_S = 86_400.0
CASES = 240
SEED = 41
DEVICES = ("", "", "", "desktop", "mobile")


class Case(NamedTuple):
    """A user: whether there is an address and a phone, what is opted out of, and the kind of device in use ("": offline)."""

    name: str
    has_address: bool
    has_phone: bool
    no_mail: bool
    no_push: bool
    is_muting: bool
    online: str

    @property
    def may_be_mailed(self) -> bool:
        return self.has_address and not (self.no_mail or self.is_muting or self.online)

    @property
    def may_be_pushed(self) -> bool:
        """Who sits at a desktop is told there; the phone is not woken."""
        return self.has_phone and not (self.no_push or self.is_muting) and self.online != "desktop"

    def preferences(self) -> dict[str, Any]:
        channels = {"email": not self.no_mail, "push": not self.no_push}
        muted = ["artist:bjork"] if self.is_muting else []
        address = {"email": f"{self.name}@example.org"} if self.has_address else {}
        return {"channels": {"new-album": channels}, "muted": muted, **address}


class Phones(PushReceiver):
    """A push service that remembers which phone each push was for."""

    def __init__(self) -> None:
        super().__init__()
        self.rung: list[str] = []

    async def _take(self, request: web.Request) -> web.StreamResponse:
        self.rung.append(request.match_info["id"])
        return await super()._take(request)


@pytest.fixture
async def phones() -> AsyncIterator[Phones]:
    async with Phones() as phones:
        yield phones


def cases(seed: int) -> list[Case]:
    rng = random.Random(seed)
    shares = (0.7, 0.6, 0.3, 0.3, 0.15)
    return [Case._make([f"u{n}", *(rng.random() < share for share in shares), rng.choice(DEVICES)]) for n in range(CASES)]


@pytest.mark.slow
async def test_only_who_is_offline_and_wants_it_is_mailed_and_only_phones_that_want_it_ring(tmp_path: Path, phones: Phones) -> None:
    """SB-41, SB-42, SB-37: random users through the whole worker; no exception, no omission, each once."""
    async with ScriptedSmtp() as smtp, AsyncExitStack() as online:
        email = EmailOptions(host="127.0.0.1", port=smtp.port, sender="notify@example.org", starttls="never")
        push = PushOptions(contact="mailto:ops@example.org", allow_loopback=True)
        async with stored(tmp_path, email=email, push=push) as c:
            people = cases(SEED)
            for each in people:
                assert (await me(c, each.name, "PUT", "preferences", each.preferences()))[0] == 200
                if each.has_phone:
                    device = phones.subscription()
                    endpoint = device.endpoint.replace("device-1", each.name)
                    body = {"endpoint": endpoint, "keys": {"p256dh": device.p256dh, "auth": device.auth}}
                    assert (await me(c, each.name, "POST", "devices", body))[0] == 201
                if each.online:
                    await online.enter_async_context(c.user(each.name, device=each.online))
            mailed = sorted(f"{each.name}@example.org" for each in people if each.may_be_mailed)
            rung = sorted(each.name for each in people if each.may_be_pushed)
            assert (await c.notify(album(1, *(each.name for each in people))))[0] == 202
            dispatch, worker = c.of("notification")[0].stored.dispatch, c.of("notification")[0].stored.worker
            await c.until(lambda: worker.decided == CASES)
            await c.until(lambda: sum(dispatch.ended.values()) >= worker.scheduled and not dispatch._running, lambda: str(dispatch.ended))
            assert sorted(recipient for recipient, _ in smtp.mails) == mailed
            assert sorted(phones.rung) == rung
            assert await count(c, "SELECT count(*), count(DISTINCT user) FROM events") == (CASES, CASES)
            await online.aclose()


@pytest.mark.parametrize("followers", [1, 999, 3001])
async def test_an_event_leaves_a_row_for_each_follower(tmp_path: Path, followers: int) -> None:
    """SB-37: exactly n, in the lane for few as in that for very many."""
    async with stored(tmp_path) as c:
        assert (await c.notify(album(1, *(f"u{n}" for n in range(followers)))))[1]["accepted"] == followers
        assert await count(c, "SELECT count(*), count(DISTINCT user) FROM events") == (followers, followers)
        await decided(c, followers)
        assert await count(c, "SELECT count(*), count(DISTINCT user), max(mark) FROM items") == (followers, followers, 1)


async def count(c: Any, sql: str) -> tuple[Any, ...]:
    (row,) = await c.of("notification")[0].stored.store._all(sql, ())
    return tuple(row)


async def live_on(c: ClockedCluster, days: float) -> None:
    """Lets the clock come to `days` after the start, sweeping as the module does: a leap would not be believed."""
    while c.clock.ahead_s < days * DAY_S:
        c.clock.ahead_s += DAY_S / 4
        await c.module.stored.store.sweep(0)


async def test_one_start_with_a_clock_that_is_far_ahead_costs_nothing(tmp_path: Path) -> None:
    """SB-38: what was stored is there again, and nothing of it was swept, when the clock is right again."""
    async with ClockedCluster(tmp_path) as c, c.user("ann") as ann:
        for n in range(5):
            await c.notify(album(n, "ann"))
        await decided(c, 5)
        await c.module.stored.owned.log.save()
        name = "sto/n1"
        await c.leave(name)
        c.clock.ahead_s = 100 * DAY_S
        await c.start(name)
        await c.settle()
        await c.until(lambda: c.linked("sto/ap1", name) and c.module.stored.store.doubts_clock)
        assert await c.module.stored.store.sweep(1000) == 0
        assert [item["mark"] for item in (await ann.pull(since=0))["items"]] == [1, 2, 3, 4, 5]
        await c.leave(name)
        c.clock.ahead_s = 60.0
        await c.start(name)
        await c.settle()
        assert await c.module.stored.store.sweep(1000) == 0
        assert not c.module.stored.store.doubts_clock
        assert await count(c, "SELECT count(*) FROM items") == (5,)


@pytest.mark.parametrize("days", [90.0, 2.0])
async def test_an_item_is_there_until_the_day_before_its_retention_ends_and_gone_the_day_after(tmp_path: Path, days: float) -> None:
    """SB-38: day 89 and day 91 where it is 90 days, and another number of days where that is configured."""
    async with ClockedCluster(tmp_path, retention_days=days) as c, c.user("ann") as ann:
        topic = "hm://notifications/feed/bjork%new-album/"
        await c.notify(album(1, "ann"))
        await decided(c, 1)
        await live_on(c, days - 1)
        assert [item["mark"] for item in (await ann.pull(since=0))["items"]] == [1]
        assert len((await ann.ask("history", topic=topic))["items"]) == 1
        assert await c.module.stored.store.sweep(1000) == 0
        await live_on(c, days + 1)
        assert (await ann.pull(since=0))["items"] == []
        assert (await ann.ask("history", topic=topic))["items"] == []
        await c.module.stored.owned.log.save()  # what was worked off is swept
        await c.module.stored.store.sweep(1000)
        for table in ("items", "events", "decisions", "notices"):
            assert await count(c, f"SELECT count(*) FROM {table}") == (0,), table  # noqa: S608 - our own names
        # Marks go on where they were: no device mistakes a new item for one that it has.
        await c.notify(album(2, "ann"))
        await decided(c, 2)
        assert [item["mark"] for item in (await ann.pull(since=0))["items"]] == [2]


@pytest.mark.slow
@pytest.mark.parametrize("days", [90.0, 2.0])
async def test_what_cassandra_stores_of_an_event_lives_as_long_as_is_configured(
    tmp_path: Path, cassandra_server: Server, days: float
) -> None:
    """SB-38: the server itself forgets it, by the time to live of each row."""
    options = CassandraOptions(port=cassandra_server.port, keyspace="notification_contract")
    user, number = f"ttl{random.SystemRandom().getrandbits(40)}", random.SystemRandom().getrandbits(40)
    # The keyspace is shared, and nodes of other tests have died in it: their shards are free after one lease.
    async with stored(tmp_path, store="cassandra", cassandra=options, retention_days=days, lease_s=5.0) as c:
        await c.notify(album(number, user))
        await decided(c, 1)
        db = c.of("notification")[0].stored.store._db
        event = f"bjork-{number}"
        found = {
            "items": await db.execute("SELECT ttl(event) FROM items WHERE user = ?", user),
            "decisions": await db.execute("SELECT ttl(mark) FROM decisions WHERE user = ? AND event = ?", user, event),
            "notices": await db.execute("SELECT ttl(topic) FROM notices WHERE id = ?", event),
        }
        for table, rows in found.items():
            ((ttl_s,),) = rows
            assert days * DAY_S - 60 < ttl_s <= days * DAY_S, table
