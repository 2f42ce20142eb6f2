"""NATS to clients that come back: each reads a JetStream stream from where it was, by an ordered consumer in memory."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from .dialect import DialectError
from .nats import CONNECT, Nats

STREAM: Final = "bench"
SUBJECTS: Final = "hm.presence.user.>"
HEARTBEAT_NS: Final = 5_000_000_000
# Flow control comes in headers.
CONNECT_WITH_HEADERS: Final = CONNECT.replace(b"{", b'{"headers":true,')
# The answer to a new consumer that nothing is pending, and nothing was delivered before it.
_NOTHING: Final = re.compile(rb'"delivered":\{"consumer_seq":0,.*"num_pending":0,').search
# The subject to acknowledge a delivery at ends with how many are pending behind it.
_PENDING: Final = re.compile(rb"MSG \S+ 2 \$JS\.ACK\.\S+\.(\d+) \d+\r\n").findall
# A status message, and where its answer is waited for.
_FLOW: Final = re.compile(rb"HMSG \S+ 2 (\$JS\.FC\.\S+) \d+ \d+\r\n").findall


class JetStream(Nats):
    """The dialect of clients that go on behind the message `after` of the stream.

    `recovered` counts those who were through, `replayed` the messages that they got before that.
    """

    def __init__(self, after: int) -> None:
        self._first = after + 1
        self.recovered = self.replayed = 0

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        config = {
            "name": f"c{client}",
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self._first,
            "ack_policy": "none",
            "max_deliver": 1,
            "mem_storage": True,
            "num_replicas": 1,
            "flow_control": True,
            "idle_heartbeat": HEARTBEAT_NS,
            "inactive_threshold": HEARTBEAT_NS,
            "deliver_subject": f"in.c{client}",
            "filter_subjects": topics,
        }
        body = msgspec.json.encode({"stream_name": STREAM, "action": "create", "config": config})
        lines = b"SUB re.c%d 1\r\nSUB in.c%d 2\r\nPUB $JS.API.CONSUMER.CREATE.%b.c%d re.c%d %d\r\n" % (
            *(client, client),
            STREAM.encode(),
            *(client, client),
            len(body),
        )
        return [CONNECT_WITH_HEADERS + lines + body + b"\r\n"]

    def confirms(self, message: bytes) -> bool:
        if b"-ERR" in message or b'"error":{' in message:
            raise DialectError(message[:400].decode())
        pending = _PENDING(message)
        self.replayed += len(pending)
        is_through = b"0" in pending or _NOTHING(message) is not None
        self.recovered += is_through
        return is_through

    def answer(self, message: bytes) -> bytes:
        return super().answer(message) + b"".join(b"PUB %b 0\r\n\r\n" % reply for reply in _FLOW(message))
