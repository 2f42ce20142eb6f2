"""The contract of the notification store, on every adapter (SQLite, a real Cassandra)."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import resources
from itertools import count
from pathlib import Path

import msgspec
import pytest

from infra.kernel.errors import Unavailable
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.sqlite import Sqlite
from notification.item_state import ACTIONS, ItemState, StatedItem
from notification.notice import Notice
from notification.ownership.core import FencingToken, NodeRecord
from notification.shards import SHARDS, US_PER_MS
from notification.store import AGAIN, Decision, Device, LogRow, Person, Sent, Store, Task
from notification.store_cassandra import CassandraStore
from notification.store_sqlite import SqliteStore
from notification.tables_sqlite import SCRIPTS
from notification.webhook import Webhook
from tests.support.cassandra import fresh_keyspace

DAY_S = 86_400.0
RETENTION_S = 90 * DAY_S
# Tests share one keyspace: each takes names and numbers of its own.
NAMES = count(random.SystemRandom().randrange(1 << 40))
NOW_MS = int(time.time() * 1000)


@pytest.fixture(params=["sqlite", "cassandra"])
def adapter(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def store(adapter: str, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    if adapter == "sqlite":
        opened = await SqliteStore.open(tmp_path, RETENTION_S, time.time)
    else:
        server = request.getfixturevalue("cassandra_server")
        opened = await CassandraStore.open(CassandraOptions(port=server.port, keyspace="notification_contract"), RETENTION_S, time.time)
    yield opened
    await opened.close()


Again = Callable[[], Awaitable[Store]]


@asynccontextmanager
async def older(adapter: str, request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[tuple[Store, Again]]:
    """Gives a store as it was made before there were epochs, and a way to open it as it is made now."""
    if adapter == "sqlite":
        db = await Sqlite.open(folder / "notification.sqlite", "notification", SCRIPTS[:2])
        yield SqliteStore(db, RETENTION_S, time.time), lambda: SqliteStore.open(folder, RETENTION_S, time.time)
        await db.close()
        return
    async with fresh_keyspace(request.getfixturevalue("cassandra_server")) as cassandra:
        scripts = sorted(resources.files("infra").joinpath("deploy/cassandra/notification").iterdir(), key=lambda each: each.name)[:2]
        await cassandra.migrate("notification", [(each.name.removesuffix(".cql"), each.read_text(encoding="utf-8")) for each in scripts])
        yield CassandraStore(cassandra, RETENTION_S, time.time), lambda: CassandraStore.open(cassandra.options, RETENTION_S, time.time)


@pytest.fixture
def name() -> str:
    """Returns a name that no other test uses."""
    return f"t{next(NAMES)}"


def notice(name: str, number: int = 1, ts_ms: int = NOW_MS) -> Notice:
    return Notice(f"{name}-{number}", "artist", f"hm://notifications/feed/{name}%new-album/", "album", name, b'{"a":1}', ts_ms, "d")


def decision(user: str, event: str, mark: int, shown: int, ts_ms: int = NOW_MS) -> Decision:
    return Decision(user, event, mark, shown, ("in-client", "push"), ("offline-row", "-email:no-address"), ts_ms)


async def test_a_notice_is_kept_once_and_complete_when_its_audience_is(store: Store, name: str) -> None:
    first = notice(name)
    assert await store.begin(first) == (first, None, True)
    assert await store.begin(notice(name, ts_ms=NOW_MS + 5)) == (first, None, False)
    await store.complete(first.id, 7)
    assert await store.begin(first) == (first, 7, False)
    assert await store.notices([first.id, "nobody-knows"]) == {first.id: first}


async def test_history_is_newest_first_and_goes_on_where_it_ended(store: Store, name: str) -> None:
    """SB-52: also within one millisecond, in which the ids decide."""
    notices = [notice(name, n, NOW_MS + n // 3) for n in range(9)]
    for each in notices:
        await store.begin(each)
    newest = sorted(notices, key=lambda each: (each.ts_ms, each.id), reverse=True)
    first = await store.history(notices[0].topic, None, 4)
    rest = await store.history(notices[0].topic, (first[-1].ts_ms, first[-1].id), 50)
    assert first + rest == newest
    assert await store.history("hm://notifications/feed/other%new-album/", None, 4) == []


async def test_rows_are_read_in_order_after_a_number(store: Store) -> None:
    """SB-37: one row for each follower; across buckets, which are ten minutes long."""
    part, start = next(NAMES) % (1 << 30), NOW_MS * US_PER_MS
    rows = [LogRow(part, start + n * 40_000_000, f"e{n % 3}", f"u{n}", n % 2 * AGAIN) for n in range(50)]
    await store.append(rows[:20])
    await store.append(rows[20:])
    assert await store.rows({part: 0}, 1000) == {part: rows}
    read: list[LogRow] = []
    while page := (await store.rows({part: read[-1].n if read else 0}, 7))[part]:
        read += page
    assert read == rows
    assert await store.rows({part: rows[-1].n}, 7) == {part: []}


async def test_rows_of_several_parts_are_read_at_once(store: Store) -> None:
    one, other, empty = (next(NAMES) % (1 << 30) for _ in range(3))
    rows = [LogRow(part, NOW_MS * US_PER_MS + n, "e", f"u{n}", 0) for part in (one, other) for n in range(5)]
    await store.append(rows)
    found = await store.rows({one: 0, other: rows[6].n, empty: 0}, 4)
    assert found == {one: rows[:4], other: rows[7:], empty: []}


async def test_cursors_stay(store: Store) -> None:
    one, other = next(NAMES) % (1 << 30), next(NAMES) % (1 << 30)
    await store.save_cursors({one: 5, other: 6})
    await store.save_cursors({one: 8})
    cursors = await store.cursors()
    assert (cursors[one], cursors[other], cursors.get(-1)) == (8, 6, None)


async def three_items(store: Store, name: str) -> str:
    """Stores three items; returns whose they are. The second is not in the bell."""
    user, notices = f"{name}-ann", [notice(name, n) for n in range(3)]
    for each in notices:
        await store.begin(each)
    decided = [decision(user, each.id, mark, mark - (mark > 1)) for mark, each in enumerate(notices, 1)]
    decided[1] = msgspec.structs.replace(decided[1], types=("push",))
    await store.decide(list(zip(decided, notices, strict=True)))
    return user


async def test_items_are_read_from_both_ends_and_by_their_marks(store: Store, name: str) -> None:
    user = await three_items(store, name)
    assert [item.mark for item in await store.items_before(user, 4, 10)] == [3, 2, 1]
    assert [item.mark for item in await store.items_before(user, 3, 1)] == [2]
    assert await store.items_before(user, 1, 10) == []
    assert sorted(item.mark for item in await store.items_at(user, [3, 1, 7])) == [1, 3]
    assert (await store.items_at(user, [2]))[0] == (await store.items(user, 1, 1))[0]


async def test_what_was_said_of_an_item_stays_until_something_else_is_said(store: Store, name: str) -> None:
    """SB-51: each change concerns one side of a state. Marks that stand for nothing are changed by nobody."""
    user = await three_items(store, name)
    assert ((await store.people([user]))[user].changed, await store.states(user)) == (0, [])
    assert await store.change_items(user, [1, 2, 7], ACTIONS["archive"], 10) == {1, 2}
    assert await store.change_items(user, [1], ACTIONS["unread"], 11) == {1}
    assert await store.change_items(user, [1, 3], ACTIONS["delete"], 12) == {1, 3}
    assert await store.change_items(user, [2], ACTIONS["unarchive"], 13) == {2}
    assert await store.change_items(user, [7], ACTIONS["delete"], 14) == set()
    assert await store.change_items(f"{user}-other", [1], ACTIONS["delete"], 14) == set()
    assert sorted(await store.states(user), key=lambda each: each.mark) == [
        StatedItem(1, True, ItemState(is_read=False, is_archived=True, is_deleted=True)),
        StatedItem(2, False, ItemState(is_archived=False)),
        StatedItem(3, True, ItemState(is_deleted=True)),
    ]
    person = (await store.people([user]))[user]
    assert (person.changed, person.last, person.shown) == (13, 3, 2)
    assert [item.mark for item in await store.items(user, 0, 10)] == [1, 2, 3]
    assert await store.states(f"{user}-other") == []


async def test_a_state_goes_with_its_item_and_the_number_of_the_change_stays(
    adapter: str, request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    """One that outlived its item would be counted as one that is not unread, for ever."""
    retention_s = 2.0
    store: Store
    if adapter == "sqlite":
        store = await SqliteStore.open(tmp_path, retention_s, time.time)
    else:
        options = CassandraOptions(port=request.getfixturevalue("cassandra_server").port, keyspace="notification_contract")
        store = await CassandraStore.open(options, retention_s, time.time)
    try:
        user = f"{name}-ann"
        each = notice(name, ts_ms=int(time.time() * 1000))
        await store.begin(each)
        await store.decide([(decision(user, each.id, 1, 1), each)])
        assert await store.change_items(user, [1], ACTIONS["archive"], 10) == {1}
        assert len(await store.states(user)) == 1
        while await store.items(user, 0, 1):
            await store.sweep(100)
        while await store.states(user):
            await store.sweep(100)
        assert await store.change_items(user, [1], ACTIONS["archive"], 11) == set()
        assert (await store.people([user]))[user].changed == 10
    finally:
        await store.close()


async def test_a_decision_brings_its_item_and_the_last_mark(store: Store, name: str) -> None:
    """And again, as after a crash, changes nothing; one with mark 0 leaves only its record."""
    first, second, muted = (notice(name, n) for n in range(3))
    for each in (first, second, muted):
        await store.begin(each)
    user = f"{name}-ann"
    decided = [(decision(user, first.id, 1, 1), first), (decision(user, second.id, 2, 2), second), (decision(user, muted.id, 0, 2), muted)]
    for _ in range(2):
        await store.decide(decided)
        assert [(item.mark, item.shown, item.types, item.notice) for item in await store.items(user, 0, 10)] == [
            (1, 1, ("in-client", "push"), first),
            (2, 2, ("in-client", "push"), second),
        ]
        person = (await store.people([user]))[user]
        assert (person.last, person.shown) == (2, 2)
    found = await store.decisions([(user, muted.id), (user, first.id), (user, "nothing")])
    assert found == {(user, muted.id): decided[2][0], (user, first.id): decided[0][0]}
    assert [item.mark for item in await store.items(user, 1, 10)] == [2]
    assert [item.mark for item in await store.items(user, 0, 1)] == [1]


async def test_who_is_unknown_is_as_new(store: Store, name: str) -> None:
    assert await store.people([name]) == {name: Person(name)}


async def test_what_is_known_of_a_user_is_kept_apart(store: Store, name: str) -> None:
    """Preferences, devices, times of sending and marks do not touch each other."""
    device = Device(f"https://push.example.org/{name}", "key", "auth")
    await store.save_preferences(name, b'{"tz":"UTC"}')
    await store.add_device(name, device)
    await store.add_device(name, device._replace(auth="newer"))
    await store.save_sent_times(name, [1, 2], [3])
    await store.begin(notice(name))
    await store.decide([(decision(name, notice(name).id, 1, 1), notice(name))])
    expected = Person(name, 1, 1, b'{"tz":"UTC"}', True, (1, 2), (3,))
    assert (await store.people([name]))[name] == expected
    assert await store.devices(name) == [device._replace(auth="newer")]
    await store.remove_device(name, device.endpoint)
    assert (await store.people([name]))[name].has_devices is False
    assert await store.devices(name) == []


async def test_marks_only_rise(store: Store, name: str) -> None:
    """SB-51: one read mark for the user, one seen mark for each client; a late lower one changes nothing."""
    for client, mark in (("phone", 3), ("phone", 2), ("desk", 1), ("", 5), ("", 4)):
        await store.move(name, client, mark)
    assert await store.marks(name) == {"phone": 3, "desk": 1, "": 5}
    assert await store.marks(f"{name}-other") == {}


async def test_a_client_that_was_forgotten_may_come_back(store: Store, name: str) -> None:
    for client, mark in (("phone", 3), ("desk", 1), ("", 5)):
        await store.move(name, client, mark)
    await store.forget_clients(name, ["phone", "nobody"])
    assert await store.marks(name) == {"desk": 1, "": 5}
    await store.move(name, "phone", 4)
    assert await store.marks(name) == {"phone": 4, "desk": 1, "": 5}


async def test_tasks_are_due_in_order_and_those_of_a_moment_stay_together(store: Store, name: str) -> None:
    shard = next(NAMES) % (1 << 30)
    tasks = [Task(shard, NOW_MS + n // 4 * 400_000, f"{name}-{n:02}", "email", "e", 1, NOW_MS) for n in range(20)]
    await store.schedule(tasks)
    await store.schedule(tasks[:3])
    assert await store.due(shard, 0, NOW_MS + 10_000_000, 100) == tasks
    assert await store.due(shard, 0, NOW_MS - 1, 100) == []
    assert await store.due(shard, NOW_MS, NOW_MS + 400_000, 100) == tasks[4:8]
    assert await store.due(shard, 0, NOW_MS + 10_000_000, 6) == tasks[:8]


async def test_how_a_mail_ended_is_kept_and_dead_letters_can_be_taken_up(store: Store, name: str) -> None:
    ended = [Sent(name, f"e{n}", "email", state, "why", NOW_MS + n) for n, state in enumerate(("delivered", "dead", "dropped", "dead"))]
    await store.record(ended)
    keys = [(each.user, each.event, each.channel) for each in ended]
    assert await store.sent([*keys, (name, "e9", "push")]) == dict(zip(keys, ended, strict=True))
    mine = [(key, letter) for key, letter in await store.dead("", 5000) if letter.user == name]
    assert [letter for _, letter in mine] == [ended[1], ended[3]]
    assert [letter for _, letter in await store.dead(mine[0][0], 5000) if letter.user == name] == [ended[3]]
    assert await store.exhume(mine[0][0]) == ended[1]
    assert await store.exhume(mine[0][0]) is None
    assert list(await store.sent(keys)) == [keys[0], keys[2], keys[3]]


async def test_where_a_part_ends_is_its_highest_row(store: Store) -> None:
    part, start = next(NAMES) % (1 << 30), NOW_MS * US_PER_MS
    await store.append([LogRow(part, start + n * 700_000_000, "e", f"u{n}", 0) for n in range(3)])
    assert await store.ends([part, part + 1]) == {part: start + 1_400_000_000}


async def test_cursors_only_rise(store: Store) -> None:
    """What a former owner saves late is passed over."""
    part = next(NAMES) % (1 << 30)
    for cursor in (7, 5, 9, 8):
        await store.save_cursors({part: NOW_MS * US_PER_MS + cursor})
    assert (await store.cursors())[part] == NOW_MS * US_PER_MS + 9


async def test_when_the_next_task_is_due_is_known(store: Store, name: str) -> None:
    shard = next(NAMES) % (1 << 30)
    await store.schedule([Task(shard, NOW_MS + n * 900_000, name, "email", "e", 1, NOW_MS) for n in range(3)])
    assert await store.next_due(shard, 0) == NOW_MS
    assert await store.next_due(shard, NOW_MS) == NOW_MS + 900_000
    assert await store.next_due(shard, NOW_MS + 1_800_000) is None


async def test_a_counter_is_raised_by_who_knows_the_last_one_and_never_by_the_buried(store: Store, name: str) -> None:
    member = NodeRecord(name, "sto", "sto/n1", NOW_MS)
    assert await store.beat(member, 0)
    assert not await store.beat(member, 0)
    assert await store.beat(member._replace(counter=NOW_MS + 5), NOW_MS)
    assert not await store.beat(member._replace(counter=NOW_MS + 6), NOW_MS)
    assert [each for each in await store.members() if each.node == name] == [member._replace(counter=NOW_MS + 5)]
    assert not await store.bury(name, NOW_MS)
    assert await store.bury(name, NOW_MS + 5)
    assert not await store.bury(name, NOW_MS + 5)
    assert not await store.beat(member._replace(counter=NOW_MS + 6), NOW_MS + 5)
    assert [each for each in await store.members() if each.node == name] == []


async def test_claims_are_replaced_by_who_knows_them(store: Store, name: str) -> None:
    before = await store.claims()
    assert len(before.owners) == SHARDS
    after = before._replace(version=before.version + 1, owners=(name, *before.owners[1:]))
    assert await store.claim(after, before.version)
    assert await store.claims() == after
    assert not await store.claim(after._replace(version=after.version + 1), before.version)
    assert await store.claims() == after


async def test_what_a_former_owner_writes_late_changes_nothing_of_what_the_new_one_wrote(store: Store, name: str) -> None:
    """It is refused, or it loses, whichever came last."""
    user, part = f"{name}-ann", next(NAMES) % (1 << 30)
    first, second = notice(name, 1), notice(name, 2)
    late, new = FencingToken(f"{name}-a", NOW_MS * US_PER_MS), FencingToken(f"{name}-b", NOW_MS * US_PER_MS + 1)
    await store.beat(NodeRecord(new.node, "sto", "sto/n2", new.number), 0)
    for each in (first, second):
        await store.begin(each)
    row = LogRow(part, NOW_MS * US_PER_MS, first.id, user, 0)
    await store.append([row], new)
    await store.decide([(decision(user, first.id, 1, 1), first)], new)
    with suppress(Unavailable):
        await store.append([row._replace(user=f"{name}-bob")], late)
    with suppress(Unavailable):
        await store.decide([(decision(user, second.id, 1, 1), second)], late)
    assert await store.rows({part: 0}, 10) == {part: [row]}
    assert [item.notice for item in await store.items(user, 0, 10)] == [first]
    assert (await store.people([user]))[user].last == 1


async def test_an_epoch_is_replaced_by_who_knows_the_one_before(store: Store) -> None:
    """Of two nodes that begin a new one at once, one does, and both find the same."""
    former = await store.epoch()
    begun = await asyncio.gather(*(store.begin_epoch(former + 1 + n, former) for n in range(2)))
    assert sorted(begun) == [False, True]
    assert await store.epoch() == former + 1 + begun.index(True)


async def test_a_store_of_before_epochs_keeps_everything_and_has_none_yet(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, adapter: str
) -> None:
    async with older(adapter, request, tmp_path) as (old, again):
        await old.begin(notice(name))
        await old.decide([(decision(name, f"{name}-1", 1, 1), notice(name))])
        await old.move(name, "desk", 1)
        new = await again()
        try:
            assert [item.notice for item in await new.items(name, 0, 9)] == [notice(name)]
            assert await new.marks(name) == {"desk": 1}
            assert await new.epoch() == 0
            assert await new.begin_epoch(5, 0)
            assert await new.epoch() == 5
        finally:
            await new.close()


async def test_webhooks_of_a_user_are_kept_by_id_and_known_with_the_user(store: Store, name: str) -> None:
    one = Webhook("a1", "https://one.example.org/", "whsec_1", "", 0, 5)
    other = Webhook("b2", "https://two.example.org/", "whsec_2", "whsec_0", 9, 6)
    assert await store.webhooks(name) == []
    await store.save_webhook(name, other)
    await store.save_webhook(name, one)
    await store.save_webhook(name, one.rotated("whsec_3", 7))
    assert await store.webhooks(name) == [one.rotated("whsec_3", 7), other]
    assert (await store.people([name, f"{name}-other"]))[name].webhooks == ("a1", "b2")
    await store.remove_webhook(name, "a1")
    await store.remove_webhook(name, "b2")
    await store.remove_webhook(name, "b2")
    found = await store.people([name, f"{name}-other"])
    assert (await store.webhooks(name), found[name].webhooks, found[f"{name}-other"].webhooks) == ([], (), ())
