"""The dialects in which the benchmarks' generator speaks with each server."""

from pathlib import Path

import msgspec
import pytest

from bench.dialects.dialect import DialectError
from bench.dialects.jetstream import JetStream
from bench.dialects.mosquitto import Mosquitto
from bench.dialects.nats import Nats
from bench.dialects.recovering import RecoveringSegue
from bench.dialects.segue import Segue
from bench.stamp import PAYLOAD_BYTES, payload
from infra.kernel.events import Submission, accept
from segue.cli.state import secret_of

PAYLOAD = payload(10**12, 7)


@pytest.fixture
def segue(tmp_path: Path) -> Segue:
    secret_of(tmp_path)
    return Segue(str(tmp_path))


def test_what_is_published_to_segue_is_an_event_that_a_broker_accepts(segue: Segue) -> None:
    before, after = segue.envelope(segue.topic("u1"))
    event = accept(msgspec.json.decode(before + PAYLOAD + after, type=Submission), 1, "x", PAYLOAD_BYTES)
    assert PAYLOAD in event.tail


def test_a_client_of_segue_is_ready_only_when_all_its_topics_are_installed(segue: Segue) -> None:
    assert not segue.confirms(b'{"op":"welcome","session":"s"}')
    assert segue.confirms(b'{"op":"subscribed","id":1,"installed":"local","missing_sites":[],"rejected":[]}')
    with pytest.raises(DialectError, match="partial"):
        segue.confirms(b'{"op":"subscribed","id":1,"installed":"partial","missing_sites":["sto"],"rejected":[]}')


def test_a_client_that_recovers_goes_on_from_its_point_and_is_ready_behind_what_it_missed(segue: Segue, tmp_path: Path) -> None:
    client = RecoveringSegue(str(tmp_path), "a point")
    assert msgspec.json.decode(client.hello(0, ["t"])[1])["point"] == "a point"
    assert not client.confirms(b'{"op":"event","topic":"t"}')
    confirmed = b'{"op":"subscribed","id":1,"installed":"local","missing_sites":[],"rejected":[],"recovered":true,"lost":[],"replayed":2}'
    assert client.confirms(confirmed)
    assert (client.recovered, client.replayed) == (1, 2)
    with pytest.raises(DialectError, match="installed"):
        client.confirms(b'{"op":"subscribed","id":1,"installed":"local","missing_sites":[],"rejected":[]}')


def test_nats_is_told_the_size_of_the_payload_and_confirms_with_a_pong() -> None:
    nats = Nats()
    before, after = nats.envelope(nats.topic("u1"))
    assert before + PAYLOAD + after == b"PUB hm.presence.user.u1 120\r\n" + PAYLOAD + b"\r\n"
    assert nats.hello(0, ["a.b", "a.c"])[0].endswith(b"SUB a.b 1\r\nSUB a.c 2\r\nPING\r\n")
    assert (nats.confirms(b"INFO {}\r\n"), nats.confirms(b"PONG\r\n")) == (False, True)
    with pytest.raises(DialectError, match="-ERR"):
        nats.confirms(b"-ERR 'Authorization Violation'\r\n")


def test_a_client_of_a_stream_goes_on_behind_what_it_had_and_is_ready_when_nothing_is_pending() -> None:
    client = JetStream(7)
    (said,) = client.hello(3, ["a.b", "a.c"])
    config = msgspec.json.decode(said.splitlines()[-1])["config"]
    assert (config["opt_start_seq"], config["filter_subjects"], config["deliver_subject"]) == (8, ["a.b", "a.c"], "in.c3")
    made = b'MSG re.c3 1 99\r\n{"type":"io.nats.jetstream.api.v1.consumer_create_response",'
    answer = made + b'"delivered":{"consumer_seq":0,"stream_seq":7},%b}\r\n'
    assert not client.confirms(answer % b'"num_pending":2,"push_bound":true')
    assert not client.confirms(b"MSG a.b 2 $JS.ACK.bench.c3.1.8.1.1795815032910185731.1 3\r\nabc\r\n")
    assert client.confirms(b"MSG a.c 2 $JS.ACK.bench.c3.1.9.2.1795815032910192441.0 3\r\nabc\r\n")
    assert (client.recovered, client.replayed) == (1, 2)
    assert client.confirms(answer % b'"num_pending":0,"push_bound":true')
    assert (
        client.answer(b"HMSG in.c3 2 $JS.FC.bench.c3.x 42 42\r\nNATS/1.0 100 FlowControl Request\r\n\r\n\r\n")
        == b"PUB $JS.FC.bench.c3.x 0\r\n\r\n"
    )
    with pytest.raises(DialectError, match="10058"):
        client.confirms(b'MSG re.c3 1 60\r\n{"error":{"code":400,"err_code":10058}}\r\n')


def test_an_mqtt_packet_over_127_bytes_has_a_length_of_two_bytes() -> None:
    """MQTT 3.1.1, 2.2.3: seven bits a byte, the lowest first."""
    before, after = Mosquitto().envelope("hm/presence/user/u1")
    rest = 2 + len("hm/presence/user/u1") + PAYLOAD_BYTES
    assert before == bytes((0x30, rest % 128 | 0x80, rest // 128)) + b"\x00\x13hm/presence/user/u1"
    assert after == b""
    assert Mosquitto().confirms(b"\x90\x03\x00\x01\x00")
    with pytest.raises(DialectError):
        Mosquitto().confirms(b"\x90\x04\x00\x01\x00\x80")
