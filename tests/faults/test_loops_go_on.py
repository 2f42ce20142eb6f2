"""Whatever a role does again and again goes on after it went wrong once, and the failure is counted."""

import random
import secrets
from pathlib import Path
from typing import Any

import msgspec
import pytest

from accesspoint.server import AccessPoint
from aggregator.server import Aggregator
from analytics.offloading.plan import PlanOptions
from broker.server import Broker
from notification import stored_path
from notification.agenda import Agenda
from notification.log import Log
from notification.server import NotificationModule
from notification.store_sqlite import SqliteStore
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import Shape
from services.artist.options import ArtistOptions
from services.artist.schedule import Schedule
from services.decision.rounds import Rounds
from services.decision.server import DecisionService
from services.outbox_sqlite import OutboxSqlite
from services.presence.server import PresenceService
from services.service import ServiceRole
from tests.support.cluster import FAST
from tests.support.eventually import eventually

# The role, the step that fails, at which of its calls, and the loop that must go on.
STEPS: list[tuple[str, type, str, int, str]] = [
    ("broker", Broker, "tick", 2, "heartbeats"),
    ("aggregator", Aggregator, "tick", 1, "heartbeats"),
    ("presence", PresenceService, "tick", 1, "heartbeats"),
    ("decision", DecisionService, "tick", 1, "heartbeats"),
    ("decision", Rounds, "decide", 1, "decisions"),
    ("accesspoint", AccessPoint, "sweep", 1, "timeouts of clients"),
    ("playlist", ServiceRole, "tick", 1, "heartbeats"),
    ("playlist", OutboxSqlite, "undone", 1, "outbox reader"),
    ("social", OutboxSqlite, "undone", 1, "outbox reader"),
    ("artist", Schedule, "run_if_due", 1, "artist schedule"),
    ("notification", NotificationModule, "tick", 1, "heartbeats"),
    ("notification", Log, "save", 1, "rule worker saves cursors"),
    ("notification", SqliteStore, "sweep", 1, "sweeping what is past its time"),
    ("notification", Agenda, "ready", 1, "mails and pushes"),
    ("notification", SqliteStore, "beat", 2, "beats of the lease"),
]


def fail_at(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, call: int) -> list[None]:
    """Has `owner.method` raise at that call; grows with each call that comes after it."""
    whole, calls = getattr(owner, method), 0
    later: list[None] = []

    def step(self: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyError("oops")
        if calls > call:
            later.append(None)
        return whole(self, *arguments, **named)

    monkeypatch.setattr(owner, method, step)
    return later


@pytest.mark.parametrize(("role", "owner", "method", "call", "loop"), STEPS, ids=lambda value: value if isinstance(value, str) else "")
async def test_a_role_goes_on_after_a_step_of_it_raised_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, role: str, owner: type, method: str, call: int, loop: str
) -> None:
    monkeypatch.setattr(stored_path, "SWEEP_S", 0.01)
    (tmp_path / "catalogue.jsonl").touch()
    later = fail_at(monkeypatch, owner, method, call)
    plan = PlanOptions(period_s=0.5, survey_s=0.1)
    shape = Shape(
        notification=1,
        services=("playlist", "social", "artist"),
        state=tmp_path,
        catalogue=str(tmp_path / "catalogue.jsonl"),
        decision=plan if role == "decision" else None,
        link=FAST,
    )
    options = [each for each in shape.options() if role_of(each) == role]
    quick = [msgspec.structs.replace(each, at="00:00") if isinstance(each, ArtistOptions) else each for each in options]
    async with Process(RoleFactory.local(secrets.token_bytes(32), random.Random(1)), quick) as process:
        await eventually(lambda: later)
        assert process.roles[0].counters()["loop_failures_total"] == {loop: 1}
