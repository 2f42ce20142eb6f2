"""The replica of a playlist in TypeScript decides what the one in Python does, at every step."""

import json
import random
from typing import Any

import pytest

from segue.sdk.replica_core import Request
from tests.clients.conformance.drivers import NodeDriver
from tests.segue.sdk.test_replica_core import SCENARIOS, Device, Service, said

EACH = {each["name"]: each["steps"] for each in SCENARIOS["scenarios"]}


async def replayed(steps: list[dict[str, Any]], prefix: str = "e") -> list[dict[str, Any]]:
    """Returns what the replica in TypeScript asks for and shows at each step."""
    async with NodeDriver() as driver:
        found: list[dict[str, Any]] = await driver.call("replica", {"steps": steps, "prefix": prefix})
        return found


@pytest.mark.parametrize("name", EACH)
async def test_a_replica_does_what_the_scenario_says(name: str) -> None:
    """SB-33."""
    found = await replayed(EACH[name])
    assert found == [{"asks": step.get("asks", []), "shows": step["shows"]} for step in EACH[name]]


class RecordingDevice(Device):
    """A device that writes down what its replica was told, asked for and showed."""

    steps: list[dict[str, Any]]

    def tell(self, name: str, *args: Any) -> list[Request]:
        requests = super().tell(name, *args)
        step = {"do": name, "with": list(args), "asks": [said(each) for each in requests], "shows": self.core.tracks}
        self.steps = [*getattr(self, "steps", []), json.loads(json.dumps(step))]
        return requests


@pytest.mark.parametrize("seed", range(8))
async def test_both_decide_the_same_whatever_happens(seed: int) -> None:
    """SB-33: random edits, losses and reorderings, as the test in Python has them."""
    rng = random.Random(seed)
    service = Service(["a", "b", "a"])
    devices = [RecordingDevice(service, user, rng) for user in ("ann", "bob")]
    for _ in range(80):
        device = rng.choice(devices)
        rng.choice((device.edit, device.hear, device.step, device.step))()
    for user, device in zip(("ann", "bob"), devices, strict=True):
        found = await replayed(device.steps, user)
        assert found == [{"asks": step["asks"], "shows": step["shows"]} for step in device.steps]
