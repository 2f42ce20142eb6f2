"""Any bytes as the body of a publishing request, in any pieces: a documented answer, and the same one."""

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.grants import NDJSON
from broker.handlers import MAX_REJECTED
from broker.options import BrokerOptions
from broker.server import Broker
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.runtime.context import Context
from infra.runtime.http.door import Head, Response
from infra.runtime.logs import get_logger
from infra.runtime.tokens import Service
from infra.runtime.wire.memory import MemoryNetwork


class Desk:
    """A started broker whose handlers are given requests without sockets."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self.broker: Broker = self._runner.run(self._start())

    async def _start(self) -> Broker:
        options = BrokerOptions(site="sto", slot="b1", sites={"sto": {"b1": "sto/b1"}}, door="127.0.0.1:0")
        log = get_logger("broker", "b1", "sto")
        context = Context(network=MemoryNetwork(), log=log, rng=random.Random(1), wall=lambda: 1.0)
        broker = Broker(options, context, lambda token, now_s: Service("presence", 1e12))
        await broker.start()
        assert broker.ready() is None
        return broker

    def close(self) -> None:
        self._runner.run(self.broker.close())
        self._runner.close()

    def request(self, content_type: bytes, chunks: Sequence[bytes]) -> tuple[int, dict[str, Any]]:
        """Returns status and JSON, as `HttpDoor` would answer."""
        head = Head("POST", "/v1/events", "", {b"content-type": content_type, b"authorization": b"Bearer x"}, True)
        try:
            exchange = self.broker.door.handlers.exchange(head)
            for chunk in chunks:
                exchange.chunk(chunk)
            answer = exchange.end()
        except Refused as refused:
            return refused.code.http, {"code": refused.code.name}
        assert isinstance(answer, Response)
        return answer.status, json.loads(answer.body)


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.close()


leaves = st.none() | st.integers() | st.floats() | st.text(max_size=6)
values = leaves | st.dictionaries(st.text(max_size=3), leaves, max_size=2)
names = st.sampled_from(["topic", "kind", "payload", "id", "other"])
good = st.integers(0, 9).map(lambda n: {"topic": "hm://presence/user/dan/", "kind": "play", "payload": {"n": n}})
odd = st.builds(lambda base, name, value: base | {name: value}, good, names, values)
texts = (good | odd | leaves).map(lambda value: json.dumps(value).encode())


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Returns an event with one byte changed or left out."""
    text, byte = draw(texts), draw(st.binary(max_size=1))
    at = draw(st.integers(0, len(text)))
    return text[:at] + byte + text[at + 1 :]


garbage = st.binary(max_size=30) | damaged()
bodies = (
    st.lists(texts | garbage, max_size=6).map(b"\n".join)
    | st.lists(texts | garbage, max_size=6).map(lambda parts: b"[%b]" % b",".join(parts))
    | texts
    | garbage
)


def known(answer: tuple[int, dict[str, Any]]) -> bool:
    """Tells whether an answer is one of those that are documented."""
    status, body = answer
    if status == 202:
        return set(body) == {"accepted", "rejected"} and all(BY_NAME[each["code"]].number == each["number"] for each in body["rejected"])
    return body["code"] in ("bad-json", "bad-field", "bad-utf8", "bad-topic") and BY_NAME[body["code"]].http == status


@given(body=bodies, content_type=st.sampled_from([b"application/json", NDJSON]))
@settings(max_examples=300)
def test_any_body_is_accepted_or_refused_with_a_documented_code(desk: Desk, body: bytes, content_type: bytes) -> None:
    assert known(desk.request(content_type, [body]))


@given(body=bodies, cuts=st.lists(st.integers(0, 400), max_size=8))
@settings(max_examples=300)
def test_lines_mean_the_same_wherever_the_stream_is_cut(desk: Desk, body: bytes, cuts: list[int]) -> None:
    marks = [0, *sorted(cuts), len(body)]
    whole = desk.request(NDJSON, [body])
    assert desk.request(NDJSON, [body[start:end] for start, end in pairwise(marks)]) == whole
    assert desk.request(NDJSON, [body[n : n + 1] for n in range(len(body))]) == whole


@pytest.mark.parametrize("content_type", [b"application/json", NDJSON])
def test_a_thousand_rejected_events_are_named_and_with_one_more_the_request_is_refused(desk: Desk, content_type: bytes) -> None:
    def chunks(number: int) -> list[bytes]:
        return [b"0\n"] * number if content_type == NDJSON else [b"[%b]" % b",".join([b"0"] * number)]

    status, body = desk.request(content_type, chunks(MAX_REJECTED))
    assert (status, body["accepted"], [each["index"] for each in body["rejected"]]) == (202, 0, list(range(MAX_REJECTED)))
    # An array is counted before it is looked at.
    refused = (400, {"code": "bad-field"}) if content_type == NDJSON else (413, {"code": "too-large"})
    assert desk.request(content_type, chunks(MAX_REJECTED + 1)) == refused
