"""The publisher against brokers that play a script."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import segue
from tests.support.scripted_broker import Answer, Request, ScriptedBroker, refused, rejected

BOB = "hm://presence/user/bob/"
FAST = segue.Backoff(base_s=0.001, cap_s=0.002)
CUT = Answer(status=0)


def publisher(*brokers: ScriptedBroker, token: Any = None, **options: Any) -> segue.Publisher:
    return segue.Publisher(
        [broker.url for broker in brokers], token or "secret", options=segue.PublisherOptions(**({"backoff": FAST} | options))
    )


def publications(count: int) -> list[segue.Publication]:
    return [segue.Publication(BOB, f"k{number}", {"number": number}) for number in range(count)]


async def test_one_event_is_sent_with_the_token_and_gets_an_id() -> None:
    async with ScriptedBroker() as broker, publisher(broker) as service:
        event_id = await service.publish(BOB, "play", {"artist": "Björk"})
    assert broker.requests == [
        Request("secret", "application/x-ndjson", [{"topic": BOB, "kind": "play", "payload": {"artist": "Björk"}, "id": event_id}])
    ]
    assert event_id


async def test_an_id_of_the_caller_is_kept() -> None:
    async with ScriptedBroker() as broker, publisher(broker) as service:
        assert await service.publish(BOB, "play", {}, id="mine-1") == "mine-1"
    assert broker.requests[0].events[0]["id"] == "mine-1"


@pytest.mark.parametrize(
    "failure", [CUT, refused(503, "draining"), refused(429, "rate-limited"), refused(500, "internal-error"), Answer(502, {})]
)
async def test_a_try_that_failed_is_repeated_with_the_same_id(failure: Answer) -> None:
    async with ScriptedBroker(failure, failure) as broker, publisher(broker) as service:
        event_id = await service.publish(BOB, "play", {})
    assert [request.events[0]["id"] for request in broker.requests] == [event_id] * 3


async def test_the_next_broker_is_tried_after_a_failure_and_kept_after_a_success() -> None:
    async with ScriptedBroker(refused(503, "draining")) as first, ScriptedBroker() as second, publisher(first, second) as service:
        for _ in range(3):
            await service.publish(BOB, "play", {})
    assert (len(first.requests), len(second.requests)) == (1, 3)


async def test_the_wait_that_a_broker_asks_for_is_kept() -> None:
    loop = asyncio.get_running_loop()
    async with ScriptedBroker(refused(429, "rate-limited", **{"Retry-After": "1"})) as broker, publisher(broker) as service:
        began_s = loop.time()
        await service.publish(BOB, "play", {})
        assert loop.time() - began_s >= 0.99


async def test_no_broker_at_all_is_told_after_the_last_try() -> None:
    async with ScriptedBroker() as gone:
        pass
    async with publisher(gone, tries=3) as service:
        with pytest.raises(segue.ConnectionLost, match=r"not published in 3 tries: .*did not answer"):
            await service.publish(BOB, "play", {})


async def test_a_broker_that_never_answers_is_left() -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(swallow, "127.0.0.1", 0) as silent, ScriptedBroker() as broker:
        host, port = silent.sockets[0].getsockname()
        options = segue.PublisherOptions(backoff=FAST, answer_timeout_s=0.05)
        async with segue.Publisher([f"http://{host}:{port}", broker.url], "secret", options=options) as service:
            await service.publish(BOB, "play", {})
    assert len(broker.requests) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(400, "bad-request"), (401, "bad-token"), (401, "token-expired"), (403, "forbidden"), (413, "too-large")]
)
async def test_what_trying_again_cannot_help_is_raised_with_its_code(status: int, code: str) -> None:
    """SB-45: a service that may not publish is told so."""
    async with ScriptedBroker(refused(status, code)) as broker, publisher(broker) as service:
        with pytest.raises(segue.Refused, match=f"because of {code}") as raised:
            await service.publish(BOB, "play", {})
    assert raised.value.code.name == code
    assert len(broker.requests) == 1


async def test_a_single_event_that_is_rejected_raises() -> None:
    async with ScriptedBroker(rejected((0, "bad-topic"))) as broker, publisher(broker) as service:
        with pytest.raises(segue.Refused, match="bad-topic: because of bad-topic"):
            await service.publish("nonsense", "play", {})


async def test_many_events_are_sent_in_batches_of_bounded_count() -> None:
    async with ScriptedBroker() as broker, publisher(broker, batch_events=3) as service:
        assert await service.publish_many(publications(7)) == segue.Result(accepted=7)
    assert broker.batches == [["k0", "k1", "k2"], ["k3", "k4", "k5"], ["k6"]]
    ids = [event["id"] for request in broker.requests for event in request.events]
    assert len(set(ids)) == 7


async def test_many_events_are_sent_in_batches_of_bounded_size() -> None:
    size_bytes = len(publications(1)[0].line()) + 32
    async with ScriptedBroker() as broker, publisher(broker, batch_bytes=2 * size_bytes + 2) as service:
        await service.publish_many(publications(5))
    assert [len(batch) for batch in broker.batches] == [2, 2, 1]


async def test_rejected_events_are_returned_with_their_index_among_all() -> None:
    script = rejected((1, "bad-topic")), rejected((0, "forbidden"), (2, "bad-field"))
    async with ScriptedBroker(*script) as broker, publisher(broker, batch_events=3) as service:
        result = await service.publish_many(publications(6))
    assert result.accepted == 3
    assert [(each.index, each.code, each.reason) for each in result.rejected] == [
        (1, "bad-topic", "because of bad-topic"),
        (3, "forbidden", "because of forbidden"),
        (5, "bad-field", "because of bad-field"),
    ]


async def test_events_whose_owner_cannot_be_reached_are_tried_again_alone() -> None:
    script = rejected((0, "bad-topic"), (1, "unavailable"), (3, "unavailable")), rejected((1, "unavailable"))
    async with ScriptedBroker(*script) as broker, publisher(broker) as service:
        result = await service.publish_many(publications(4))
    assert broker.batches == [["k0", "k1", "k2", "k3"], ["k1", "k3"], ["k3"]]
    assert (result.accepted, [each.index for each in result.rejected]) == (3, [0])


async def test_events_whose_owner_stays_away_are_returned_as_rejected() -> None:
    async with ScriptedBroker(*[rejected((0, "unavailable"))] * 3) as broker, publisher(broker, tries=3) as service:
        result = await service.publish_many(publications(2))
    assert (result.accepted, [each.code for each in result.rejected]) == (1, ["unavailable"])
    assert broker.batches == [["k0", "k1"], ["k0"], ["k0"]]


async def test_a_stream_is_sent_as_it_comes_and_grows_into_batches() -> None:
    sent = asyncio.Event()

    async def stream() -> AsyncIterator[segue.Publication]:
        first, *rest = publications(4)
        yield first
        await sent.wait()
        for publication in rest:
            yield publication

    async with ScriptedBroker() as broker, publisher(broker) as service:
        publishing = asyncio.create_task(service.publish_many(stream()))
        await broker.next_request()
        sent.set()
        assert (await publishing).accepted == 4
    assert broker.batches == [["k0"], ["k1", "k2", "k3"]]


async def test_an_error_says_how_many_events_were_dealt_with_before() -> None:
    async with (
        ScriptedBroker(rejected((0, "bad-topic")), refused(403, "forbidden")) as broker,
        publisher(broker, batch_events=2) as service,
    ):
        with pytest.raises(segue.Refused) as raised:
            await service.publish_many(publications(6))
    assert raised.value.__notes__ == ["2 events before this batch were dealt with, 1 of them rejected"]


async def test_an_error_of_the_source_is_raised_after_the_events_before_it() -> None:
    def source() -> Any:
        yield from publications(2)
        raise EOFError("the file is cut")

    async with ScriptedBroker() as broker, publisher(broker) as service:
        with pytest.raises(EOFError, match="the file is cut"):
            await service.publish_many(source())
    assert broker.batches == [["k0", "k1"]]


async def test_a_payload_that_is_not_json_is_refused_before_it_is_sent() -> None:
    async with ScriptedBroker() as broker, publisher(broker) as service:
        with pytest.raises(segue.Misuse, match="cannot be written as JSON"):
            await service.publish(BOB, "play", {"when": object()})
    assert broker.requests == []


async def test_a_token_function_is_asked_at_every_request() -> None:
    tokens = iter("ab")

    async def fetch() -> str:
        return next(tokens)

    async with ScriptedBroker() as broker, publisher(broker, token=fetch) as service:
        await service.publish(BOB, "play", {})
        await service.publish(BOB, "play", {})
    assert [request.token for request in broker.requests] == ["a", "b"]


async def test_something_else_at_the_address_is_recognised() -> None:
    async with ScriptedBroker(Answer(302, {}, {"Location": "http://127.0.0.1:1/"})) as broker, publisher(broker) as service:
        with pytest.raises(segue.ProtocolError, match="HTTP 302"):
            await service.publish(BOB, "play", {})


async def test_a_publisher_outside_its_block_says_what_to_write() -> None:
    async with ScriptedBroker() as broker:
        service = publisher(broker)
        with pytest.raises(segue.Misuse, match="async with"):
            await service.publish(BOB, "play", {})
        async with service:
            pass
        with pytest.raises(segue.Misuse, match="async with"):
            await service.publish(BOB, "play", {})
        with pytest.raises(segue.Misuse, match="entered once"):
            await service.__aenter__()


@pytest.mark.parametrize("name", ["batch_events", "batch_bytes", "tries", "answer_timeout_s"])
def test_an_option_that_cannot_work_is_refused_at_once(name: str) -> None:
    with pytest.raises(segue.Misuse, match=name):
        segue.PublisherOptions(**{name: 0})  # type: ignore[arg-type]
