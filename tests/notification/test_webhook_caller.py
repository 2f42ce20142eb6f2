"""The webhook channel, against a real endpoint."""

import asyncio

import pytest

from infra.runtime.outgoing.options import OutgoingOptions
from notification.outcome import OutcomeState
from notification.webhook import Webhook, secret_from
from notification.webhook_caller import MAX_WAITING_PER_HOST, WebhookCaller, WebhookOptions
from tests.support.webhook_receiver import HANG, WebhookReceiver, is_signed

SECRET, PREVIOUS = secret_from(b"n" * 24), secret_from(b"p" * 24)
LISTED = OutgoingOptions(private=["127.0.0.1"])


def caller(now_s: float = 100.0, outgoing: OutgoingOptions = LISTED, **options: float) -> WebhookCaller:
    return WebhookCaller(WebhookOptions(**options), lambda: now_s, outgoing)  # type: ignore[arg-type]


def webhook(url: str) -> Webhook:
    return Webhook("a1", url, SECRET, PREVIOUS, 200_000, 0)


async def test_a_message_is_signed_by_both_secrets_while_one_replaces_the_other() -> None:
    async with WebhookReceiver() as receiver:
        for now_s, signed in ((100.0, [True, True]), (300.0, [True, False])):
            at = caller(now_s)
            outcome = await at.call(webhook(receiver.url), "msg_1", b'{"a":1}')
            await at.close()
            headers, body = receiver.messages.pop()
            assert outcome.state is OutcomeState.DELIVERED
            assert (body, headers["webhook-id"], headers["webhook-timestamp"]) == (b'{"a":1}', "msg_1", str(int(now_s)))
            assert [is_signed(secret, headers, body) for secret in (SECRET, PREVIOUS)] == signed


@pytest.mark.parametrize(
    ("status", "state"),
    [(200, "delivered"), (299, "delivered"), (302, "retry"), (400, "retry"), (404, "retry"), (410, "gone"), (429, "retry"), (503, "retry")],
)
async def test_what_an_endpoint_answers_decides(status: int, state: str) -> None:
    async with WebhookReceiver() as receiver:
        receiver.answers = [status]
        at = caller()
        outcome = await at.call(webhook(receiver.url), "msg_1", b"{}")
        await at.close()
    assert (outcome.state.value, at.outcomes[state], sum(at.outcomes.values())) == (state, 1, 1)
    assert f"127.0.0.1 answers {status}" in outcome.reason


async def test_a_private_address_that_is_not_listed_is_not_called() -> None:
    async with WebhookReceiver() as receiver:
        at = caller(outgoing=OutgoingOptions())
        outcome = await at.call(webhook(receiver.url), "msg_1", b"{}")
        await at.close()
    assert (outcome.state, receiver.messages) == (OutcomeState.FAILED, [])


async def test_silence_and_nobody_there_are_tried_again() -> None:
    async with WebhookReceiver() as receiver:
        receiver.answers = [HANG]
        at = caller(timeout_s=0.05)
        outcome = await at.call(webhook(receiver.url), "msg_1", b"{}")
        url = receiver.url
    assert (outcome.state, outcome.reason) == (OutcomeState.RETRY, "127.0.0.1 did not answer within 0.05 s")
    assert (await at.call(webhook(url), "msg_1", b"{}")).state is OutcomeState.RETRY
    await at.close()
    assert (await at.call(webhook(url), "msg_1", b"{}")).reason == "this node is closing"


async def test_a_slow_endpoint_has_places_of_its_own_and_what_is_too_much_waits_elsewhere() -> None:
    """Of one host so many are under way, so many wait, and the rest is told to come later; another host is called at once."""
    async with WebhookReceiver() as slow, WebhookReceiver() as prompt:
        slow.answers = [HANG] * MAX_WAITING_PER_HOST
        at = caller(timeout_s=60.0, max_connections_per_host=2)
        waiting = [asyncio.create_task(at.call(webhook(slow.url), f"m{n}", b"{}")) for n in range(MAX_WAITING_PER_HOST)]
        await slow.came.wait()
        assert "repeat this one later" in (await at.call(webhook(slow.url), "one too many", b"{}")).reason
        named = webhook(prompt.url.replace("127.0.0.1", "localhost"))
        assert (await at.call(named, "m", b"{}")).state is OutcomeState.DELIVERED
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await at.close()
