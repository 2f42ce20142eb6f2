"""The opening handshake, against RFC 6455 and an independent client."""

import pytest
from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from infra.kernel.errors import Refused
from infra.kernel.websocket_handshake import accept_key, check_handshake, handshake_response

GOOD = {
    b"connection": b"keep-alive, Upgrade",
    b"upgrade": b"WebSocket",
    b"sec-websocket-version": b"13",
    b"sec-websocket-key": b"dGhlIHNhbXBsZSBub25jZQ==",
    b"sec-websocket-protocol": b"chat, segue.v1",
}


def test_the_accept_key_is_that_of_the_example_in_the_standard() -> None:
    """RFC 6455 1.3."""
    assert accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_an_independent_client_accepts_the_handshake() -> None:
    client = ClientProtocol(parse_uri("ws://localhost/v1/connect"), subprotocols=[Subprotocol("segue.v1")])
    request = client.connect()
    client.send_request(request)
    headers = {name.lower().encode(): value.encode() for name, value in request.headers.raw_items()}
    client.receive_data(handshake_response(check_handshake("GET", headers)))
    assert client.handshake_exc is None
    assert (client.state, client.subprotocol) == (State.OPEN, "segue.v1")


def test_tokens_may_be_listed_and_written_in_any_case() -> None:
    assert check_handshake("GET", GOOD) == "dGhlIHNhbXBsZSBub25jZQ=="


@pytest.mark.parametrize(
    ("header", "value", "advice"),
    [
        (b"upgrade", b"h2c", "use a WebSocket client"),
        (b"connection", b"keep-alive", "send 'Connection: Upgrade'"),
        (b"sec-websocket-version", b"8", "Sec-WebSocket-Version: 13"),
        (b"sec-websocket-key", b"c2hvcnQ=", "16 random bytes"),
        (b"sec-websocket-key", b"not base64, not base64", "16 random bytes"),
        (b"sec-websocket-key", b"\xe9", "16 random bytes"),
        (b"sec-websocket-protocol", b"segue.v2", "Sec-WebSocket-Protocol: segue.v1"),
    ],
)
def test_a_refusal_says_what_to_send(header: bytes, value: bytes, advice: str) -> None:
    for headers in (GOOD | {header: value}, {name: kept for name, kept in GOOD.items() if name != header}):
        with pytest.raises(Refused, match=advice) as refused:
            check_handshake("GET", headers)
        assert refused.value.code.name == "bad-handshake"


def test_only_get_opens_a_websocket() -> None:
    with pytest.raises(Refused, match="not with POST"):
        check_handshake("POST", GOOD)
