"""docs/openapi.json is true: what it describes is what the doors do."""

import json
import random
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.kernel.events import Submission, accept
from infra.runtime.http.admin import Admin
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import Shape
from tests.support.openapi_page import OpenapiPage, examples
from tests.support.samples import SECRET, service_token, user_token

PAGE = OpenapiPage("openapi.json")
DOCUMENT = PAGE.document
PUBLISH = DOCUMENT["paths"]["/v1/events"]["post"]
ADMIN = {path: item["get"] for path, item in DOCUMENT["paths"].items() if "get" in item}
EVENT = {"topic": "hm://presence/user/bob/", "kind": "play", "payload": {}}
# Left out: 408 takes the time that it speaks of, 500 is a defect; both are tested where they are made.
REFUSED: dict[str, dict[str, Any]] = {
    "400": {"json": EVENT | {"topic": "hm://presence/user/bob"}},
    "401": {"json": EVENT, "token": "not.a.token"},
    "403": {"json": EVENT, "token": user_token("bob")},
    "413": {"json": EVENT | {"payload": {"text": "x" * (16 << 10)}}},
    "415": {"data": b"play", "headers": {"Content-Type": "text/plain"}},
}


class Doors:
    """A broker's door and the admin door of its process."""

    def __init__(self, process: Process, admin: Admin, http: aiohttp.ClientSession) -> None:
        self.process = process
        self._admin, self._http = admin, http

    async def publish(self, *, token: str | None = None, headers: dict[str, str] | None = None, **body: Any) -> aiohttp.ClientResponse:
        """Sends POST /v1/events, as the presence service unless another token is given."""
        (door,) = self.process.of("broker")
        shown = {"Authorization": f"Bearer {token or service_token('presence')}"} | (headers or {})
        async with self._http.post(f"http://{door.address}/v1/events", headers=shown, **body) as answer:
            await answer.read()
        return answer

    async def look(self, path: str) -> aiohttp.ClientResponse:
        """Sends GET to the admin listener."""
        async with self._http.get(f"{self._admin.address}{path}") as answer:
            await answer.read()
        return answer


@pytest.fixture
async def doors() -> AsyncIterator[Doors]:
    factory = RoleFactory.local(SECRET, random.Random(1))
    (broker,) = (each for each in Shape().options() if role_of(each) == "broker")
    async with Process(factory, [broker]) as process, Admin(process.roles, "127.0.0.1", 0) as admin, aiohttp.ClientSession() as http:
        await process.settled()
        yield Doors(process, admin, http)


async def check(answer: aiohttp.ClientResponse, operation: dict[str, Any]) -> None:
    """Checks that `answer` is one that `operation` describes: status, headers, type, body."""
    described = PAGE.resolved(operation["responses"][str(answer.status)])
    for name, header in described.get("headers", {}).items():
        PAGE.validator(header["schema"]).validate(answer.headers[name])
    content = described["content"][answer.content_type]
    if answer.content_type == "application/json":
        PAGE.validator(content["schema"]).validate(await answer.json())


def test_every_schema_is_a_schema_and_every_example_is_valid() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
        for each in schema["properties"].values():
            for example in each.get("examples", ()):
                PAGE.validator(each).validate(example)
    described = [*map(PAGE.resolved, PUBLISH["responses"].values()), PUBLISH["requestBody"]]
    described += [PAGE.resolved(response) for operation in ADMIN.values() for response in operation["responses"].values()]
    for content in (content for each in described for content in each["content"].values()):
        for example in examples(content):
            PAGE.validator(content["schema"]).validate(example)


def test_every_code_that_is_named_has_the_status_under_which_it_is_named() -> None:
    for status, response in PUBLISH["responses"].items():
        for name in re.findall(r"`([a-z0-9-]+)`", PAGE.resolved(response)["description"]):
            assert str(BY_NAME[name].http) == status


async def test_every_request_that_is_shown_is_accepted(doors: Doors) -> None:
    for content_type, content in PUBLISH["requestBody"]["content"].items():
        for example in examples(content):
            body = example if isinstance(example, str) else json.dumps(example)
            answer = await doors.publish(data=body.encode(), headers={"Content-Type": content_type})
            await check(answer, PUBLISH)
            assert answer.status == 202
            assert (await answer.json())["rejected"] == []


@pytest.mark.parametrize("status", REFUSED)
async def test_a_refusal_is_as_described(doors: Doors, status: str) -> None:
    answer = await doors.publish(**REFUSED[status])
    await check(answer, PUBLISH)
    assert str(answer.status) == status


async def test_a_draining_broker_is_as_described(doors: Doors) -> None:
    await doors.process.drain()
    answer = await doors.publish(json=EVENT)
    await check(answer, PUBLISH)
    assert (answer.status, (await answer.json())["code"]) == (503, "draining")


def test_no_status_is_left_untried() -> None:
    assert PUBLISH["responses"].keys() == {"202", *REFUSED, "503", "408", "500"}


async def test_what_is_wrong_in_an_array_is_rejected_by_position(doors: Doors) -> None:
    answer = await doors.publish(json=[EVENT, EVENT | {"kind": "Play"}, EVENT])
    await check(answer, PUBLISH)
    outcome = await answer.json()
    assert (answer.status, outcome["accepted"], [each["index"] for each in outcome["rejected"]]) == (202, 2, [1])


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"]["SubmittedEvent"]["required"])
async def test_a_required_field_is_required(doors: Doors, name: str) -> None:
    answer = await doors.publish(json={key: value for key, value in EVENT.items() if key != name})
    assert (answer.status, (await answer.json())["code"]) == (400, "bad-field")


async def test_a_field_that_is_not_described_is_refused(doors: Doors) -> None:
    answer = await doors.publish(json=EVENT | {"time": 1})
    assert (answer.status, (await answer.json())["code"]) == (400, "bad-field")


def texts(pattern: str) -> st.SearchStrategy[str]:
    """Texts that match, and texts that hardly ever do. Without a final line end, which `$` lets pass in Python only."""
    return (st.from_regex(pattern) | st.text(max_size=100)).filter(lambda text: not text.endswith("\n"))


FIELDS = DOCUMENT["components"]["schemas"]["SubmittedEvent"]["properties"]


@settings(max_examples=200)
@given(topic=texts(FIELDS["topic"]["pattern"]), kind=texts(FIELDS["kind"]["pattern"]), id_=texts(FIELDS["id"]["pattern"]))
def test_the_schema_of_an_event_takes_exactly_what_the_door_takes(topic: str, kind: str, id_: str) -> None:
    event = {"topic": topic, "kind": kind, "id": id_, "payload": {}}
    valid = PAGE.validator({"$ref": "#/components/schemas/SubmittedEvent"}).is_valid(event)
    try:
        accept(Submission(topic, kind, b"{}", id_), int(time.time() * 1000), "made-up", 1024)  # type: ignore[arg-type]
        taken = True
    except Refused:
        taken = False
    assert taken == valid


@pytest.mark.parametrize("path", ADMIN)
async def test_the_admin_door_answers_as_described(doors: Doors, path: str) -> None:
    answer = await doors.look(path)
    await check(answer, ADMIN[path])
    assert answer.status == 200


async def test_a_process_that_is_not_ready_is_as_described(doors: Doors) -> None:
    await doors.process.drain()
    answer = await doors.look("/readyz")
    await check(answer, ADMIN["/readyz"])
    assert answer.status == 503
