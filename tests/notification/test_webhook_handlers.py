"""Webhooks of users, from the door to a real endpoint and back."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from infra.runtime.outgoing.options import OutgoingOptions
from notification.webhook_caller import WebhookOptions
from tests.support.cluster import Cluster
from tests.support.samples import service_token
from tests.support.stored import album, configured, me
from tests.support.webhook_receiver import WebhookReceiver, is_signed


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with WebhookReceiver() as running:
        yield running


def site(tmp_path: Path, **fields: Any) -> Cluster:
    return Cluster(sites=1, state=tmp_path, change=configured(**fields), outgoing=OutgoingOptions(private=["127.0.0.1"]))


async def made(c: Cluster, user: str, url: str) -> tuple[str, str]:
    """Returns id and secret of a webhook of `user`."""
    status, document = await me(c, user, "POST", "webhooks", {"url": url})
    assert status == 201
    return document["id"], document["secret"]


async def ended(c: Cluster, **counts: int) -> None:
    (module,) = c.of("notification")
    await c.until(lambda: counts.items() <= module.stored.dispatch.ended.items(), lambda: str(module.stored.dispatch.ended))


async def test_what_a_user_is_told_is_posted_and_signed(tmp_path: Path, receiver: WebhookReceiver) -> None:
    """SB-44: also to who is online; each endpoint once; and `why` says what became of it."""
    async with site(tmp_path) as c, c.user("ann") as ann:
        webhook_id, secret = await made(c, "ann", receiver.url)
        await c.notify(album(1, "ann", "bob"))
        await ann.heard(1)
        await ended(c, delivered=1)
        ((headers, body),) = receiver.messages
        (message,) = receiver.data()
        assert is_signed(secret, headers, body)
        assert (message["data"]["user"], message["data"]["payload"]["album"]) == ("ann", "Album 1")
        _, why = await me(c, "ann", "GET", "why/bjork-1")
        assert [(each["channel"], each["state"]) for each in why["sent"]] == [(f"webhook:{webhook_id}", "delivered")]
        assert "webhook" in why["types"]
        assert (await c.of("notification")[0].stored.store.people(["ann"]))["ann"].webhooks == (webhook_id,)


async def test_who_opts_out_or_mutes_gets_nothing_there(tmp_path: Path, receiver: WebhookReceiver) -> None:
    """SB-43."""
    async with site(tmp_path) as c:
        for user in ("ann", "bob", "cyd"):
            await made(c, user, receiver.url)
        await me(c, "ann", "PUT", "preferences", {"channels": {"new-album": {"webhook": False}}})
        await me(c, "bob", "PUT", "preferences", {"muted": ["artist:bjork"]})
        await c.notify(album(1, "ann", "bob", "cyd"))
        await ended(c, delivered=1)
        assert [each["data"]["user"] for each in receiver.data()] == ["cyd"]


async def test_a_new_secret_signs_beside_the_one_before(tmp_path: Path, receiver: WebhookReceiver) -> None:
    async with site(tmp_path) as c:
        webhook_id, old = await made(c, "ann", receiver.url)
        _, rotated = await me(c, "ann", "POST", f"webhooks/{webhook_id}/rotate", {})
        status, tested = await me(c, "ann", "POST", f"webhooks/{webhook_id}/test", {})
        assert (status, tested) == (200, {"state": "delivered", "reason": "127.0.0.1 answers 204"})
        ((headers, body),) = receiver.messages
        assert rotated["secret"] != old
        assert [is_signed(secret, headers, body) for secret in (rotated["secret"], old)] == [True, True]
        assert receiver.data()[0]["type"] == "test"


async def test_a_webhook_is_of_its_user_and_its_secret_is_shown_once(tmp_path: Path, receiver: WebhookReceiver) -> None:
    async with site(tmp_path, webhook=WebhookOptions(per_user=2)) as c:
        webhook_id, secret = await made(c, "ann", receiver.url)
        _, listed = await me(c, "ann", "GET", "webhooks")
        assert [each["id"] for each in listed["webhooks"]] == [webhook_id]
        assert secret not in str(listed)
        assert (await me(c, "bob", "GET", "webhooks"))[1] == {"webhooks": []}
        for path in ("rotate", "test"):
            assert (await me(c, "bob", "POST", f"webhooks/{webhook_id}/{path}", {}))[0] == 404
        assert (await me(c, "bob", "DELETE", f"webhooks/{webhook_id}"))[0] == 204
        await made(c, "ann", receiver.url)
        status, refused = await me(c, "ann", "POST", "webhooks", {"url": receiver.url})
        assert (status, refused["reason"]) == (400, "2 webhooks of a user are taken here; remove one first")
        assert (await me(c, "ann", "POST", "webhooks", {"url": "http://10.0.0.1/"}))[0] == 400
        assert (await me(c, "ann", "DELETE", f"webhooks/{webhook_id}"))[0] == 204
        assert len((await me(c, "ann", "GET", "webhooks"))[1]["webhooks"]) == 1


async def test_an_endpoint_that_wants_no_more_is_removed(tmp_path: Path, receiver: WebhookReceiver) -> None:
    async with site(tmp_path) as c:
        await made(c, "ann", receiver.url)
        receiver.answers = [410]
        await c.notify(album(1, "ann"))
        await ended(c, dropped=1, pruned=1)
        assert (await me(c, "ann", "GET", "webhooks"))[1] == {"webhooks": []}
        await c.notify(album(2, "ann"))
        await c.until(lambda: c.of("notification")[0].stored.worker.decided == 2)
        assert len(receiver.messages) == 1


async def test_what_is_given_up_is_a_dead_letter_and_goes_again_when_an_operator_says_so(
    tmp_path: Path, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SB-42: with the same id, so the endpoint knows it again."""
    monkeypatch.setattr("notification.attempt.next_delay_s", lambda *_: None)
    async with site(tmp_path) as c:
        webhook_id, _ = await made(c, "ann", receiver.url)
        receiver.answers = [500]
        await c.notify(album(1, "ann"))
        await ended(c, dead=1)
        headers = {"Authorization": f"Bearer {service_token('operator')}"}
        async with c.http.get(f"http://{c.of('notification')[0].address}/v1/dead-letters", headers=headers) as response:
            (letter,) = (await response.json())["letters"]
        assert letter["channel"] == f"webhook:{webhook_id}"
        status, _ = await c.notify(b"", service="operator", path=f"/v1/dead-letters/{letter['key']}/replay")
        assert status == 202
        await ended(c, dead=1, delivered=1)
        first, second = receiver.messages
        assert first[0]["webhook-id"] == second[0]["webhook-id"]
