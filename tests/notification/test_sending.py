"""Mails and pushes, against a real mail server and a real receiver of pushes."""

import time
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from notification.email import EmailOptions
from notification.notice import Notice
from notification.push import PushOptions
from notification.shards import shard_of
from notification.store import Task
from tests.support.clocked import ClockedCluster
from tests.support.cluster import Cluster
from tests.support.push_receiver import PushReceiver
from tests.support.samples import service_token
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, decided, me, stored

PUSH = PushOptions(contact="mailto:ops@example.org", allow_loopback=True)


@pytest.fixture
async def smtp() -> AsyncIterator[ScriptedSmtp]:
    async with ScriptedSmtp() as server:
        yield server


@pytest.fixture
async def receiver() -> AsyncIterator[PushReceiver]:
    async with PushReceiver() as server:
        yield server


def mailing(smtp: ScriptedSmtp) -> EmailOptions:
    return EmailOptions(host="127.0.0.1", port=smtp.port, sender="Segue <notify@example.org>", starttls="never", timeout_s=5.0)


async def wants_mail(c: Cluster, *users: str) -> None:
    for user in users:
        status, _ = await me(c, user, "PUT", "preferences", {"email": f"{user}@example.org"})
        assert status == 200


async def has_phone(c: Cluster, user: str, receiver: PushReceiver) -> None:
    device = receiver.subscription()
    keys = {"p256dh": device.p256dh, "auth": device.auth}
    status, _ = await me(c, user, "POST", "devices", {"endpoint": device.endpoint, "keys": keys})
    assert status == 201


async def ended(c: Cluster, **counts: int) -> None:
    """Waits until so many mails and pushes have ended so."""
    (module,) = c.of("notification")

    def so_far() -> dict[str, int]:
        return {state: module.stored.dispatch.ended[state] for state in counts}

    await c.until(lambda: so_far() == counts, lambda: str(module.stored.dispatch.ended))


async def test_who_is_offline_gets_one_mail_who_is_online_gets_none(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """SB-41: ann is online, bob is not, cyd opted out, dan never gave an address."""
    async with stored(tmp_path, email=mailing(smtp)) as c, c.user("ann") as ann:
        await wants_mail(c, "ann", "bob")
        await me(c, "cyd", "PUT", "preferences", {"email": "cyd@example.org", "channels": {"new-album": {"email": False}}})
        await c.notify(album(1, "ann", "bob", "cyd", "dan"))
        await ann.heard(1)
        await ended(c, delivered=1)
        ((recipient, mail),) = smtp.mails
        assert recipient == "bob@example.org"
        assert "Album 1" in mail["Subject"]


async def test_a_preference_is_honoured_by_the_next_event(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """SB-43: also by a user whom the worker knows already."""
    async with stored(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob")
        await c.notify(album(1, "bob"))
        await ended(c, delivered=1)
        await me(c, "bob", "PUT", "preferences", {"email": "bob@example.org", "muted": ["artist:bjork"]})
        await c.notify(album(2, "bob"))
        await c.notify(album(3, "bob", artist="sigur"))
        await ended(c, delivered=2)
        assert ["sigur" in mail["Subject"] for _, mail in smtp.mails] == [False, True]
        status, why = await me(c, "bob", "GET", "why/bjork-2")
        assert (status, why["mark"], why["types"]) == (200, 0, [])
        assert "-email:muted" in why["reasons"]


async def test_a_mail_that_was_due_is_not_sent_to_who_came_online_meanwhile(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """SB-41, at the moment of sending: the first attempt is refused for now, then bob comes online."""
    smtp.to_recipient[:] = ["451 later"]
    async with ClockedCluster(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob")
        await c.notify(album(1, "bob"))
        await ended(c, retried=1)
        async with c.user("bob"):
            c.clock.ahead_s += 60
            await ended(c, dropped=1)
        status, why = await me(c, "bob", "GET", "why/bjork-1")
        assert (status, why["sent"][0]["state"]) == (200, "dropped")
        assert "-email:online" in why["sent"][0]["reason"] or "no rule grants" in why["sent"][0]["reason"]
    assert smtp.mails == []


async def test_a_notice_of_which_no_mail_can_be_made_is_a_dead_letter_and_holds_up_nobody(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """One that was stored before such payloads were refused. The mails of its shard that are due after it go out all the same."""
    async with stored(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob")
        (module,) = c.of("notification")
        now_ms = int(time.time() * 1000)
        poison = Notice("bjork-1", "artist", "hm://notifications/feed/bjork%new-album/", "album", "bjork", b'{"n":1e999}', now_ms, "d")
        await module.stored.store.begin(poison)
        await module.stored.owned.agenda.add([Task(shard_of("bob"), now_ms, "bob", "email", "bjork-1", 1, now_ms)])
        await c.notify(album(2, "bob"))
        await ended(c, delivered=1, dead=1)
        assert ["Album 2" in mail["Subject"] for _, mail in smtp.mails] == [True]
        ((_, letter),) = await module.stored.store.dead("", 10)
        assert (letter.event, letter.state) == ("bjork-1", "dead")
        assert "a defect of ours" in letter.reason


async def test_whatever_stands_in_one_mail_with_it_is_mailed_without_it(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """Both are due for the same user at once, so they would be one mail."""
    async with stored(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob")
        (module,) = c.of("notification")
        now_ms = int(time.time() * 1000)
        for number, payload in enumerate((b'{"n":1e999}', b'{"title":"Homogenic"}'), 1):
            topic = "hm://notifications/feed/bjork%new-album/"
            await module.stored.store.begin(Notice(f"bjork-{number}", "artist", topic, "album", "bjork", payload, now_ms, "d"))
        tasks = [Task(shard_of("bob"), now_ms, "bob", "email", f"bjork-{number}", 1, now_ms) for number in (1, 2)]
        await module.stored.owned.agenda.add(tasks)
        await ended(c, delivered=1, dead=1)
        assert len(smtp.mails) == 1
        ((_, letter),) = await module.stored.store.dead("", 10)
        assert letter.event == "bjork-1"


@pytest.mark.parametrize("payload", [b'{"n":1e999}', b'{"n":[-1e400]}'])
async def test_a_payload_with_a_number_that_no_reader_holds_is_refused_at_the_intake(tmp_path: Path, payload: bytes) -> None:
    async with stored(tmp_path) as c:
        body = b'{"id":"x","topic":"hm://notifications/feed/bjork%%new-album/","kind":"album","payload":%b,"followers":["bob"]}' % payload
        status, answer = await c.notify(body, headers={"Content-Type": "application/json"})
        assert (status, answer["code"]) == (400, "bad-json")
        assert "out of range" in answer["reason"]


async def test_a_mail_that_is_refused_for_good_is_a_dead_letter_and_can_be_replayed(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """550 to bob; an operator sees it, mends what was wrong, and sends it again."""
    smtp.refused["bob@example.org"] = "550 no such user"
    async with stored(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob", "cyd")
        await c.notify(album(1, "bob", "cyd"))
        await ended(c, delivered=1, dead=1)
        url = f"http://{c.of('notification')[0].address}/v1/dead-letters"
        status, answer = await c.notify(b"", service="operator", path="/v1/dead-letters/none/replay")
        assert (status, answer["code"]) == (404, "not-found")
        headers = {"Authorization": f"Bearer {service_token('operator')}"}
        async with c.http.get(url, headers=headers) as response:
            (letter,) = (await response.json())["letters"]
        assert (letter["user"], letter["channel"]) == ("bob", "email")
        assert "550" in letter["reason"]
        del smtp.refused["bob@example.org"]
        status, _ = await c.notify(b"", service="operator", path=f"/v1/dead-letters/{letter['key']}/replay")
        assert status == 202
        await ended(c, delivered=2)
        async with c.http.get(url, headers=headers) as response:
            assert (await response.json())["letters"] == []
    assert sorted(recipient for recipient, _ in smtp.mails) == ["bob@example.org", "cyd@example.org"]


async def test_one_click_in_a_mail_ends_mails_of_its_class(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """RFC 8058: a GET only asks, a POST does it, without a login."""
    async with stored(tmp_path, email=mailing(smtp)) as c:
        await wants_mail(c, "bob")
        await c.notify(album(1, "bob"))
        await ended(c, delivered=1)
        link = str(smtp.mails[0][1]["List-Unsubscribe"]).strip("<>")
        assert urlsplit(link).netloc == c.of("notification")[0].address
        async with c.http.get(link) as page:
            assert (page.status, page.content_type) == (200, "text/html")
            # The link is as good as a key: no cache may keep it, and no page that follows may learn it.
            assert {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}.items() <= page.headers.items()
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
        _, before = await me(c, "bob", "GET", "preferences")
        assert before["channels"] == {}
        async with c.http.post(link, data={"List-Unsubscribe": "One-Click"}) as page:
            assert page.status == 200
        _, after = await me(c, "bob", "GET", "preferences")
        assert after["channels"] == {"new-album": {"email": False}}
        await c.notify(album(2, "bob"))
        async with c.http.post(link + "x") as page:
            assert page.status == 401
    assert len(smtp.mails) == 1


async def test_a_phone_gets_a_push_through_the_push_service_and_a_desktop_none(tmp_path: Path, receiver: PushReceiver) -> None:
    """SB-42, SB-44: bob has a phone and is offline, ann sits at a desktop: that item has no push among its types."""
    async with stored(tmp_path, push=PUSH) as c, c.user("ann") as ann:
        device = receiver.subscription()
        status, _ = await me(
            c, "bob", "POST", "devices", {"endpoint": device.endpoint, "keys": {"p256dh": device.p256dh, "auth": device.auth}}
        )
        assert status == 201
        await c.notify(album(1, "ann", "bob"))
        await ended(c, delivered=1)
        assert ann.events[0]["payload"]["types"] == ["in-client"]
        (push,) = receiver.pushes
        assert b"bjork-1" in push.payload
        async with c.user("bob") as bob:
            assert (await bob.pull(since=0))["items"][0]["types"] == ["in-client", "push"]


async def test_a_device_that_is_gone_is_forgotten(tmp_path: Path, receiver: PushReceiver) -> None:
    """410 from the push service: the next event is not pushed there any more."""
    receiver.answers[:] = [(410, {}, "")]
    async with stored(tmp_path, push=PUSH) as c:
        await has_phone(c, "bob", receiver)
        await c.notify(album(1, "bob"))
        await ended(c, pruned=1, dropped=1)
        assert await me(c, "bob", "GET", "devices") == (200, {"devices": []})
        await c.notify(album(2, "bob"))
        await decided(c, 2)
        async with c.user("bob") as bob:
            assert [item["types"] for item in (await bob.pull(since=0))["items"]] == [["in-client", "push"], ["in-client"]]
        assert receiver.requests == 1


async def test_a_digest_collects_mails_into_one(tmp_path: Path, smtp: ScriptedSmtp) -> None:
    """Three albums, one mail, at the hour that bob chose."""
    async with ClockedCluster(tmp_path, email=mailing(smtp)) as c:
        await me(c, "bob", "PUT", "preferences", {"email": "bob@example.org", "digest": "daily", "digest_at": "08:00"})
        await c.notify([album(n, "bob") for n in range(3)])
        await c.until(lambda: c.module.stored.worker.scheduled == 3)
        assert smtp.mails == []
        c.clock.ahead_s += 86_400
        await ended(c, delivered=3)
        ((_, mail),) = smtp.mails
        assert isinstance(mail, EmailMessage)
        body = mail.get_body(("plain",))
        assert body is not None
        assert all(f"Album {n}" in body.get_content() for n in range(3))
