"""Every answer of a broker, or of a proxy in front of it, has one meaning."""

import json

import pytest

from infra.kernel.codes import ALL, Code
from segue.sdk.broker_answer import read_answer
from segue.sdk.errors import ConnectionLost, ProtocolError, Refused
from segue.sdk.publication import Rejection, Result

URL = "http://b1"


def test_an_accepted_answer_lists_what_was_rejected() -> None:
    body = b'{"accepted":1,"rejected":[{"index":1,"code":"bad-topic","number":4109,"reason":"no slash"}]}'
    assert read_answer(URL, 202, body, None) == Result(1, (Rejection(1, "bad-topic", "no slash"),))


@pytest.mark.parametrize("code", ALL, ids=lambda code: code.name)
def test_the_code_table_decides_between_trying_again_and_raising(code: Code) -> None:
    body = json.dumps({"code": code.name, "number": code.number, "reason": "why"}).encode()
    with pytest.raises((Refused, ConnectionLost), match="why") as raised:
        read_answer(URL, code.http, body, "7")
    assert isinstance(raised.value, ConnectionLost) == (code.reconnect or code.http in (408, 429, 500, 503))
    if isinstance(raised.value, ConnectionLost):
        assert raised.value.retry_after_s == 7.0


@pytest.mark.parametrize(("status", "name"), [(401, "bad-token"), (413, "too-large"), (418, "bad-request")])
def test_a_refusal_without_a_known_body_is_told_by_its_status(status: int, name: str) -> None:
    for body in (b"<html>", b'{"code":"a-code-of-tomorrow"}'):
        with pytest.raises(Refused) as refused:
            read_answer(URL, status, body, None)
        assert refused.value.code.name in (name, "bad-request")


@pytest.mark.parametrize("retry_after", [None, "", "soon", "Fri, 31 Dec 1999 23:59:59 GMT", "-1"])
def test_a_wait_that_is_not_a_number_of_seconds_is_passed_over(retry_after: str | None) -> None:
    with pytest.raises(ConnectionLost) as lost:
        read_answer(URL, 503, b"", retry_after)
    assert lost.value.retry_after_s is None


@pytest.mark.parametrize(("status", "body"), [(202, b"ok"), (202, b'{"accepted":"all"}'), (200, b"{}"), (301, b"")])
def test_what_no_broker_answers_is_recognised(status: int, body: bytes) -> None:
    with pytest.raises(ProtocolError, match="no broker"):
        read_answer(URL, status, body, None)
