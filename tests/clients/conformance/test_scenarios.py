"""Both SDKs play the same scenarios (clients/conformance/scenarios.json)."""

from typing import Any

import pytest

from segue import ArtistClient, PlaylistClient, SettingsClient, Social
from tests.clients.conformance.drivers import FailedCallError, NodeDriver, PythonDriver
from tests.clients.conformance.runner import SCENARIOS, Runner, matches
from tests.support.answering_service import AnsweringService
from tests.support.openapi_page import OpenapiPage
from tests.support.scripted_server import TIME_MS, Answer, Message, ScriptedServer

EACH = {each["name"]: each for each in SCENARIOS["scenarios"]}
REQUESTS = {each["name"]: each for each in SCENARIOS["requests"]}
PAGES = {"artists": "artist", "playlists": "playlist", "settings": "notification", "social": "social"}
DRIVERS = pytest.mark.parametrize("driver", [PythonDriver, NodeDriver], ids=["python", "typescript"])


@DRIVERS
@pytest.mark.parametrize("name", EACH)
async def test_a_client_does_what_the_scenario_says(name: str, driver: type[PythonDriver] | type[NodeDriver]) -> None:
    async with ScriptedServer() as server, driver() as client:
        silence: dict[str, Answer] = dict.fromkeys(SCENARIOS["ops"], _silent)
        server.answers = silence | {"ping": _pong}
        await Runner(client, server).play(EACH[name]["steps"])


@DRIVERS
@pytest.mark.parametrize("name", REQUESTS)
async def test_a_client_asks_services_what_the_file_says(name: str, driver: type[PythonDriver] | type[NodeDriver]) -> None:
    request = REQUESTS[name]
    part, _, method = request["call"].partition(".")
    async with AnsweringService(**request["answers"]) as service, driver() as client:
        args = {"urls": service.url, "token": "secret", "part": part, "method": method, "args": request["with"]}
        args |= {"named": request["named"]} if "named" in request else {}
        if "raises" in request:
            with pytest.raises(FailedCallError) as raised:
                await client.call("api", args)
            matches({"kind": raised.value.kind, "code": raised.value.code}, request["raises"])
        else:
            matches(await client.call("api", args), request["returns"])
    matches(service.asked, [request["asks"] | {"authorization": "Bearer secret"}])


def _silent(_: Message) -> Message | None:
    return None


def _pong(_: Message) -> Message | None:
    return {"op": "pong", "time_ms": TIME_MS}


def test_every_scenario_has_a_name_of_its_own_and_says_what_it_is_about() -> None:
    assert len(EACH | REQUESTS) == len(SCENARIOS["scenarios"]) + len(SCENARIOS["requests"])
    assert all(each["about"].endswith(".") for each in (EACH | REQUESTS).values())


@pytest.mark.parametrize(
    ("found", "expected"),
    [({"a": 1}, {"b": 1}), ({"a": [1, 2]}, {"a": [1]}), ({"a": {"b": 1}}, {"a": {"b": 2}}), (None, {}), ([1], {}), (1, 2)],
)
def test_what_differs_is_found(found: Any, expected: Any) -> None:
    with pytest.raises(AssertionError):
        matches(found, expected)


def test_an_object_may_have_more_fields() -> None:
    matches({"a": {"b": 1, "c": 2}, "d": [{"e": 1, "f": 2}]}, {"a": {"b": 1}, "d": [{"e": 1}]})


def test_every_method_of_a_users_api_is_asked_for() -> None:
    parts = {"artists": ArtistClient, "playlists": PlaylistClient, "settings": SettingsClient, "social": Social}
    methods = {
        f"{part}.{name}"
        for part, kind in parts.items()
        for name in vars(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }
    assert {each["call"] for each in REQUESTS.values()} == methods


@pytest.mark.parametrize("name", [name for name, each in REQUESTS.items() if "body" in each["answers"] or each["answers"]["status"] == 204])
def test_what_is_asked_and_answered_is_as_the_services_describe_it(name: str) -> None:
    request = REQUESTS[name]
    page = OpenapiPage(f"openapi-{PAGES[request['call'].partition('.')[0]]}.json")
    asks, answers = request["asks"], request["answers"]
    page.check_answer(asks["method"], asks["path"], answers["status"], answers.get("body"))
    page.check_request(asks["method"], asks["path"], asks.get("body"))
