"""Options that contradict each other, or cannot be meant, are refused at the start: with both keys, and with what to write."""

import re

import pytest

from infra.kernel.errors import ConfigError
from segue.cluster.process_file import read
from tests.support.samples import DEPLOY

ROLES = {
    "broker": "sto-b1",
    "aggregator": "sto-a1",
    "accesspoint": "sto-ap1",
    "presence": "sto-p1",
    "notification": "sto-n1",
    "playlist": "sto-playlist1",
    "social": "sto-social1",
    "artist": "sto-artist1",
    "decision": "sto-decision1",
}
# Role, what is set, what the refusal names besides, what it says to write.
CONTRADICTIONS: list[tuple[str, dict[str, str], str, str]] = [
    ("accesspoint", {"silent_s": "59"}, "accesspoint.ping_s", "60 or more"),
    ("accesspoint", {"ping_s": "40"}, "accesspoint.silent_s", "80 or more"),
    ("accesspoint", {"stalled_s": "80"}, "accesspoint.silent_s", "80 or more"),
    ("accesspoint", {"max_message_bytes": "100000000"}, "accesspoint.max_calls_bytes", "100000000 or more"),
    ("aggregator", {"max_link_bytes": "20000000"}, "aggregator.max_link_queue_bytes", "33554433 or more"),
    ("broker", {"max_link_queue_bytes": "200000000"}, "broker.max_link_bytes", "400000001 or more"),
    ("broker", {"membership.suspect_s": "3"}, "broker.membership.dead_s", "3 or more"),
    ("broker", {"membership.suspect_s": "0.9"}, "broker.link.heartbeat_s", "1 or more"),
    ("broker", {"link.redial_cap_s": "3"}, "broker.membership.grace_s", "3.75 or more"),
    ("broker", {"handover_s": "6"}, "broker.drain_s", "6 or more"),
    ("broker", {"max_payload_bytes": "2000000"}, "broker.max_body_bytes", "2000000 or more"),
    ("broker", {"max_body_bytes": "100000000"}, "broker.max_forward_bytes", "800000000 or more"),
    ("broker", {"max_handover_bytes": "1000000"}, "broker.max_body_bytes", "8388608 or more"),
    ("notification", {"patience.email_s": "8640000"}, "notification.retention_days", "100 or more"),
    ("notification", {"patience.push_s": "8640000"}, "notification.retention_days", "100 or more"),
    *[(role, {"link.silent_s": "0.9"}, f"{role}.link.heartbeat_s", "1 or more") for role in ROLES],
    *[(role, {"link.redial_base_s": "5"}, f"{role}.link.redial_cap_s", "5 or more") for role in ROLES],
]
# Role, the one key that is set, and to what.
MEANINGLESS: list[tuple[str, str, str]] = [
    *[("accesspoint", key, "0") for key in ("ping_s", "hello_s", "call_s", "max_connections", "max_topics", "outbox_bytes", "stalled_s")],
    *[("accesspoint", key, "-1") for key in ("install_s", "move_bytes", "reconnect_within_ms", "write_buffer_bytes")],
    *[("accesspoint", key, "nan") for key in ("silent_s", "drain_s", "drain_per_s", "catch_up_s", "install_s")],
    ("accesspoint", "hello_s", "inf"),
    ("aggregator", "drain_s", "-1"),
    ("aggregator", "drain_s", "nan"),
    ("broker", "handover_s", "inf"),
    ("broker", "membership.grace_s", "nan"),
    ("broker", "max_connections", "0"),
    ("presence", "peer_s", "0"),
    ("presence", "grace_s", "-1"),
    ("notification", "max_body_bytes", "0"),
    ("notification", "patience.email_s", "-1"),
    ("playlist", "max_playlists", "0"),
    ("social", "max_followed", "-5"),
    ("artist", "max_body_bytes", "0"),
    ("decision", "keep_s", "inf"),
    *[(role, f"link.{key}", value) for role in ROLES for key in ("heartbeat_s", "hello_s", "redial_base_s") for value in ("0", "nan")],
]

# What may be left out by saying 0.
ZEROS = {
    "accesspoint": ("install_s", "move_bytes", "write_buffer_bytes", "reconnect_within_ms", "drain_wait_s"),
    "aggregator": ("drain_s",),
    "broker": ("handover_s", "drain_s", "join_steps"),
    "presence": ("grace_s", "jitter_s"),
    "notification": ("patience.email_s", "patience.push_s"),
    "decision": ("keep_s",),
}


def refusal(role: str, changes: dict[str, str]) -> str:
    path = DEPLOY / "config" / f"{ROLES[role]}.toml"
    with pytest.raises(ConfigError) as refused:
        read(path, role, {f"{role}.{key}": value for key, value in changes.items()})
    return str(refused.value)


@pytest.mark.parametrize(("role", "changes", "other", "remedy"), CONTRADICTIONS, ids=lambda value: str(value))
def test_a_contradiction_is_told_with_both_keys_and_what_to_write(role: str, changes: dict[str, str], other: str, remedy: str) -> None:
    said = refusal(role, changes)
    keys = {f"{role}.{key}" for key in changes} | {other}
    assert keys <= set(re.findall(r"[a-z_]+(?:\.[a-z_]+)+", said)), said
    assert re.search(rf"; write \S+ = {re.escape(remedy)}", said), said


@pytest.mark.parametrize(("role", "key", "value"), MEANINGLESS)
def test_a_number_that_cannot_be_meant_is_told_with_what_to_write(role: str, key: str, value: str) -> None:
    said = refusal(role, {key: value})
    assert f"{role}.{key} is" in said
    assert re.search(r"write a finite number that is (over 0|0 or more), such as \d", said), said


@pytest.mark.parametrize("role", ROLES)
def test_a_zero_that_can_be_meant_is_taken(role: str) -> None:
    zeros = {
        "accesspoint": ("install_s", "move_bytes"),
        "aggregator": ("drain_s",),
        "presence": ("grace_s", "jitter_s"),
        "decision": ("keep_s",),
    }
    read(DEPLOY / "config" / f"{ROLES[role]}.toml", role, {f"{role}.{key}": "0" for key in zeros.get(role, ())})
