"""The core of a playlist replica: what it shows and asks for, whatever is lost, late or done by others."""

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from segue.sdk.replica_core import AwaitVersions, FetchContents, RefusedEdit, ReplicaCore, Request, SendEdit
from services.playlist import core
from services.playlist.change import Create, Edit
from services.playlist.core import Playlist
from tests.architecture.sources import ROOT

SCENARIOS: dict[str, Any] = json.loads((ROOT / "clients" / "conformance" / "replica.json").read_text(encoding="utf-8"))


class Service:
    """The playlist service's own decisions about one playlist, without a store. `told` has the payload of each event."""

    def __init__(self, tracks: list[str]) -> None:
        self.told: list[dict[str, Any]] = []
        self._keep(core.create("ann", "mix", Create("Mix", True, tracks), 0, "e1"))

    def _keep(self, step: core.PlaylistStep) -> None:
        self.playlist: Playlist = step.playlist
        task = next(task for task in step.tasks if task.op == "publish")
        self.told.append(msgspec.json.decode(msgspec.json.decode(task.body, type=core.ChangeEvent).payload))

    def make(self, user: str, request: SendEdit) -> int:
        """Makes a change and returns its version. Raises `Refused`."""
        edit: Edit = msgspec.convert(request.change, type=Edit)
        self._keep(core.edit(self.playlist, user, edit, request.version, 0, "e", request.id))
        return self.playlist.version


class Device:
    """A replica, and what the network between it and the service does. Everything that is under way is done by `step`."""

    def __init__(self, service: Service, user: str, rng: random.Random) -> None:
        self.refused: list[RefusedEdit] = []
        self.added: list[str] = []
        self._service, self._user, self._rng = service, user, rng
        self._numbers = iter(range(1, 1_000_000))
        self.core = ReplicaCore(lambda: f"{user}{next(self._numbers)}")
        self._heard = 0
        self._under_way: list[Callable[[], list[Request]]] = []
        self.is_calm = False
        self.do(self.tell("reload"))

    def do(self, requests: list[Request]) -> None:
        for request in requests:
            match request:
                case SendEdit():
                    self._under_way.append(partial(self._send, request))
                case FetchContents():
                    self._under_way.append(self._fetch)
                case AwaitVersions(version):
                    self._under_way.append(partial(self.tell, "late", version))
                case RefusedEdit():
                    self.refused.append(request)

    def tell(self, name: str, *args: Any) -> list[Request]:
        """Returns what the replica asks for when it is told something."""
        found: list[Request] = getattr(self.core, name)(*args)
        return found

    def _happens(self, chance: float) -> bool:
        return not self.is_calm and self._rng.random() < chance

    def _send(self, request: SendEdit) -> list[Request]:
        if self._happens(0.15):
            return self._lost(request)
        try:
            version = self._service.make(self._user, request)
        except Refused as refused:
            if refused.code.name == "conflict":
                return self.tell("conflicted", request.id)
            return self.tell("refused", request.id, refused.code.name, refused.reason)
        return self._lost(request) if self._happens(0.2) else self.tell("answered", request.id, version)

    def _lost(self, request: SendEdit) -> list[Request]:
        found = self.tell("unanswered", request.id)
        self._under_way.append(partial(self.tell, "retry"))
        return found

    def _fetch(self) -> list[Request]:
        if self._happens(0.2):
            return self.tell("not_loaded")
        now = self._service.playlist
        return self.tell("loaded", now.version, now.name, now.collaborative, now.tracks)

    def hear(self) -> None:
        """Puts what was published on its way; some of it is lost, and then the client is told of a gap."""
        news, self._heard = self._service.told[self._heard :], len(self._service.told)
        for payload in news:
            if self._happens(0.2):
                self._under_way.append(partial(self.tell, "reload"))
            else:
                self._under_way.append(partial(self.tell, "changed", payload))

    def step(self) -> bool:
        """Does something that is under way, in any order; returns whether there was anything."""
        if not self._under_way:
            return False
        at = 0 if self.is_calm else self._rng.randrange(len(self._under_way))
        self.do(self._under_way.pop(at)())
        return True

    def edit(self) -> None:
        """Does what a user does who looks at what is shown."""
        shown, rng = len(self.core.tracks), self._rng
        match rng.randrange(4):
            case 0:
                self.added.append(f"{self._user}-{len(self.added)}")
                self.do(self.tell("add", [self.added[-1]], rng.choice([None, rng.randint(0, shown)])))
            case 1 if shown:
                at = rng.randrange(shown)
                self.do(self.tell("remove", at, rng.randint(1, min(3, shown - at))))
            case 2 if shown:
                at = rng.randrange(shown)
                count = rng.randint(1, min(3, shown - at))
                self.do(self.tell("reorder", at, rng.choice([*range(at + 1), *range(at + count, shown + 1)]), count))
            case _:
                self.do(self.tell("rename", f"Mix {rng.randrange(100)}"))


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(0, 6), st.integers(1, 40))
def test_replicas_come_to_the_order_of_the_service_whatever_is_lost_or_late(seed: int, length: int, moves: int) -> None:
    """SB-33: and no edit is forgotten: it was made, others have made it, or it was refused for a reason."""
    rng = random.Random(seed)
    service = Service([f"t{number % 3}" for number in range(length)])
    devices = [Device(service, user, rng) for user in ("ann", "bob")]
    for _ in range(moves):
        device = rng.choice(devices)
        rng.choice((device.edit, device.hear, device.step, device.step))()
    for device in devices:
        device.is_calm = True
    for _ in range(10_000):
        for device in devices:
            device.hear()
        if sum(device.step() for device in devices) == 0:
            break
    for device in devices:
        assert (device.core.version, device.core.tracks) == (service.playlist.version, service.playlist.tracks)
        assert (device.core.waiting, device.core.shown_name) == (0, service.playlist.name)
        assert {refused.code for refused in device.refused} <= {"unsure"}
        made = [track for each in service.told if each["change"]["op"] == "add" for track in each["change"]["tracks"]]
        unsure = sum(refused.op == "add" for refused in device.refused)
        assert all(made.count(track) <= 1 for track in device.added), "an edit was made twice"
        assert sum(track not in made for track in device.added) <= unsure, "an edit was forgotten"


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 12))
def test_an_edit_shows_at_once_as_it_will_be_if_nobody_else_edits(seed: int, length: int, moves: int) -> None:
    """SB-33."""
    rng = random.Random(seed)
    service = Service([f"t{number}" for number in range(length)])
    device = Device(service, "ann", rng)
    device.is_calm = True
    while device.step():
        pass
    for _ in range(moves):
        device.edit()
    shown = device.core.tracks
    while device.step():
        pass
    assert service.playlist.tracks == device.core.tracks == shown
    assert device.refused == []


@pytest.mark.parametrize("name", [each["name"] for each in SCENARIOS["scenarios"]])
def test_a_replica_does_what_the_scenario_says(name: str) -> None:
    """SB-33: the same scenarios are played by the client in TypeScript."""
    numbers = iter(range(1, 1000))
    replica = ReplicaCore(lambda: f"e{next(numbers)}")
    scenario = next(each for each in SCENARIOS["scenarios"] if each["name"] == name)
    for number, step in enumerate(scenario["steps"], 1):
        requests = getattr(replica, step["do"])(*step.get("with", []))
        assert [said(each) for each in requests] == step.get("asks", []), f"step {number}: {step}"
        if "shows" in step:
            assert replica.tracks == step["shows"], f"step {number}: {step}"


def said(request: Request) -> dict[str, Any]:
    """Returns a request as the scenarios have it: without the reason, which is for people."""
    return {"ask": {SendEdit: "send", FetchContents: "fetch", AwaitVersions: "await", RefusedEdit: "refused"}[type(request)]} | {
        name: value for name, value in msgspec.structs.asdict(request).items() if name != "reason"
    }
