"""Both SDKs play the same scenarios (clients/conformance/scenarios.json)."""

from typing import Any

import pytest

from tests.clients.conformance.drivers import NodeDriver, PythonDriver
from tests.clients.conformance.runner import SCENARIOS, Runner, matches
from tests.support.scripted_server import TIME_MS, Answer, Message, ScriptedServer

EACH = {each["name"]: each for each in SCENARIOS["scenarios"]}


@pytest.mark.parametrize("driver", [PythonDriver, NodeDriver], ids=["python", "typescript"])
@pytest.mark.parametrize("name", EACH)
async def test_a_client_does_what_the_scenario_says(name: str, driver: type[PythonDriver] | type[NodeDriver]) -> None:
    async with ScriptedServer() as server, driver() as client:
        silence: dict[str, Answer] = dict.fromkeys(SCENARIOS["ops"], _silent)
        server.answers = silence | {"ping": _pong}
        await Runner(client, server).play(EACH[name]["steps"])


def _silent(_: Message) -> Message | None:
    return None


def _pong(_: Message) -> Message | None:
    return {"op": "pong", "time_ms": TIME_MS}


def test_every_scenario_has_a_name_of_its_own_and_says_what_it_is_about() -> None:
    assert len(EACH) == len(SCENARIOS["scenarios"])
    assert all(each["about"].endswith(".") for each in EACH.values())


@pytest.mark.parametrize(
    ("found", "expected"),
    [({"a": 1}, {"b": 1}), ({"a": [1, 2]}, {"a": [1]}), ({"a": {"b": 1}}, {"a": {"b": 2}}), (None, {}), ([1], {}), (1, 2)],
)
def test_what_differs_is_found(found: Any, expected: Any) -> None:
    with pytest.raises(AssertionError):
        matches(found, expected)


def test_an_object_may_have_more_fields() -> None:
    matches({"a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}]}, {"a": {"b": 1}, "d": [{"e": 1}]})
