"""Options of presence that cannot work are refused with the name of the option."""

from typing import Any

import msgspec
import pytest

from infra.kernel.errors import ConfigError
from services.presence.options import LARGEST_PAYLOAD_BYTES, PresenceOptions

OPTIONS = PresenceOptions(site="sto", node="p1", brokers={"b1": "127.0.0.1:7811"})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("brokers", {"brokers": {}}),
        ("max_payload_bytes", {"max_payload_bytes": LARGEST_PAYLOAD_BYTES + 1}),
        ("max_payload_bytes", {"max_payload_bytes": 0}),
        ("grace_s", {"grace_s": -1.0}),
        ("jitter_s", {"jitter_s": -0.1}),
        ("peer_s", {"peer_s": 0.0}),
    ],
)
def test_what_cannot_work_is_named(name: str, change: dict[str, Any]) -> None:
    OPTIONS.check()
    with pytest.raises(ConfigError, match=name):
        msgspec.structs.replace(OPTIONS, **change).check()
