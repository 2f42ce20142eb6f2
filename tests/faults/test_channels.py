"""Mail servers and push services that are in trouble, through the whole worker (the channels alone: tests/notification/channels)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from notification.email import EmailOptions
from notification.push import PushOptions
from notification.retries import MAX_ATTEMPTS
from notification.shards import shard_of
from tests.support import push_receiver, smtp
from tests.support.clocked import ClockedCluster
from tests.support.push_receiver import PushReceiver
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, me

# The hang of the other side is waited for.
TIMEOUT_S = 0.2
# Every retry but the last ones is due within it.
LATER_S = 1000.0
PUSH = PushOptions(contact="mailto:ops@example.org", allow_loopback=True, timeout_s=TIMEOUT_S)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedSmtp]:
    async with ScriptedSmtp() as server:
        yield server


@pytest.fixture
async def receiver() -> AsyncIterator[PushReceiver]:
    async with PushReceiver() as receiver:
        yield receiver


def mailing(server: ScriptedSmtp, timeout_s: float = 5.0) -> EmailOptions:
    return EmailOptions(host="127.0.0.1", port=server.port, sender="notify@example.org", starttls="never", timeout_s=timeout_s)


async def wants_mail(c: ClockedCluster, *users: str) -> None:
    for user in users:
        assert (await me(c, user, "PUT", "preferences", {"email": f"{user}@example.org"}))[0] == 200


async def has_phone(c: ClockedCluster, user: str, receiver: PushReceiver) -> None:
    device = receiver.subscription()
    keys = {"p256dh": device.p256dh, "auth": device.auth}
    assert (await me(c, user, "POST", "devices", {"endpoint": device.endpoint, "keys": keys}))[0] == 201


async def endings_of(c: ClockedCluster, user: str, event: str) -> list[str]:
    status, why = await me(c, user, "GET", f"why/{event}")
    assert status == 200
    return [each["state"] for each in why["sent"]]


@pytest.mark.slow
async def test_a_mail_that_is_refused_for_now_arrives_once_later_and_one_refused_for_good_holds_up_nobody(
    tmp_path: Path, server: ScriptedSmtp
) -> None:
    """451 to the first, 550 to bob for ever."""
    server.to_data[:] = ["451 later", "451 later"]
    server.refused["bob@example.org"] = "550 no such user"
    async with ClockedCluster(tmp_path, email=mailing(server)) as c:
        await wants_mail(c, "ann", "bob", "cyd")
        await c.notify(album(1, "ann", "bob", "cyd"))
        await c.ended(retried=2, dead=1)
        assert server.mails == []
        c.clock.ahead_s += LATER_S
        await c.ended(delivered=2)
        assert await endings_of(c, "bob", "bjork-1") == ["dead"]
        assert await endings_of(c, "ann", "bjork-1") == ["delivered"]
    assert sorted(recipient for recipient, _ in server.mails) == ["ann@example.org", "cyd@example.org"]


@pytest.mark.slow
async def test_a_mail_server_that_hangs_is_given_up_after_a_while_and_asked_again(tmp_path: Path, server: ScriptedSmtp) -> None:
    """Others get their mails meanwhile."""
    server.to_sender[:] = [smtp.HANG]
    async with ClockedCluster(tmp_path, email=mailing(server, TIMEOUT_S)) as c:
        await wants_mail(c, "ann", "bob")
        await c.notify(album(1, "ann", "bob"))
        await c.ended(retried=1, delivered=1)
        c.clock.ahead_s += LATER_S
        await c.ended(delivered=2)
    assert sorted(recipient for recipient, _ in server.mails) == ["ann@example.org", "bob@example.org"]


@pytest.mark.slow
async def test_a_mail_server_that_never_recovers_is_asked_a_few_times_then_an_operator_is(tmp_path: Path, server: ScriptedSmtp) -> None:
    """At most `MAX_ATTEMPTS`, then it is a dead letter, which can be replayed."""
    server.refused["ann@example.org"] = "451 later"
    async with ClockedCluster(tmp_path, email=mailing(server)) as c:
        await wants_mail(c, "ann")
        await c.notify(album(1, "ann"))
        attempts = 1
        await c.ended(retried=attempts)
        while not c.endings["dead"]:
            c.clock.ahead_s += LATER_S
            attempts += 1
            await c.until(lambda attempts=attempts: c.endings["retried"] == attempts or c.endings["dead"] > 0)  # type: ignore[misc]
        assert 3 <= attempts <= MAX_ATTEMPTS
        del server.refused["ann@example.org"]
        url = f"http://{c.module.address}/v1/dead-letters"
        async with c.http.get(url, headers=c.operator()) as answer:
            (letter,) = (await answer.json())["letters"]
        async with c.http.post(f"{url}/{letter['key']}/replay", headers=c.operator()) as answer:
            assert answer.status == 202
        await c.ended(delivered=1)
    assert [recipient for recipient, _ in server.mails] == ["ann@example.org"]


@pytest.mark.slow
async def test_a_push_service_that_asks_for_time_gets_it(tmp_path: Path, receiver: PushReceiver) -> None:
    """429 with Retry-After: nothing before that, one push after it."""
    receiver.answers[:] = [(429, {"Retry-After": "600"}, "slow down")]
    async with ClockedCluster(tmp_path, push=PUSH) as c:
        await has_phone(c, "bob", receiver)
        await c.notify(album(1, "bob"))
        await c.ended(retried=1)
        due_ms = await c.module.stored.store.next_due(shard_of("bob"), int(c.clock() * 1000))
        assert 590 < due_ms / 1000 - c.clock() <= 601
        c.clock.ahead_s += 610
        await c.ended(delivered=1)
        assert await endings_of(c, "bob", "bjork-1") == ["delivered"]
    assert (receiver.requests, len(receiver.pushes)) == (2, 1)


@pytest.mark.slow
async def test_a_push_service_that_hangs_is_given_up_after_a_while_and_asked_again(tmp_path: Path, receiver: PushReceiver) -> None:
    """And the item is in the inbox all the time."""
    receiver.answers[:] = [(push_receiver.HANG, {}, "")]
    async with ClockedCluster(tmp_path, push=PUSH) as c:
        await has_phone(c, "bob", receiver)
        await c.notify(album(1, "bob"))
        await c.ended(retried=1)
        assert [item.mark for item in await c.module.stored.store.items("bob", 0, 10)] == [1]
        c.clock.ahead_s += LATER_S
        await c.ended(delivered=1)
        receiver._end.set()
    assert len(receiver.pushes) == 1


async def test_a_device_that_is_gone_is_forgotten_and_pushed_to_no_more(tmp_path: Path, receiver: PushReceiver) -> None:
    """410, and it was the only one: no push is planned for the next event."""
    receiver.answers[:] = [(410, {}, "")]
    async with ClockedCluster(tmp_path, push=PUSH) as c:
        await has_phone(c, "bob", receiver)
        await c.notify(album(1, "bob"))
        await c.ended(pruned=1, dropped=1)
        await c.notify(album(2, "bob"))
        await c.until(lambda: c.module.stored.worker.decided == 2)
        assert c.module.stored.worker.scheduled == 1
    assert receiver.requests == 1
