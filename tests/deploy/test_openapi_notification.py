"""docs/openapi-notification.json is true: what it describes is what the notification module's door does."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.runtime.http.openapi import ON_AIOHTTP
from infra.runtime.outgoing.options import OutgoingOptions
from notification.email import EmailOptions
from notification.handlers import NotificationHandlers
from notification.notice import NoticeRequest, check
from notification.push import PushOptions
from notification.webhook_handlers import WebhookHandlers
from rule_engine.preferences import parse
from tests.support.cluster import Cluster
from tests.support.openapi_page import OpenapiPage, examples
from tests.support.push_receiver import PushReceiver
from tests.support.samples import service_token, user_token
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import configured, decided, stored

PAGE = OpenapiPage("openapi-notification.json")
DOCUMENT = PAGE.document
OPERATIONS = PAGE.operations()
FIELDS = DOCUMENT["components"]["schemas"]["NoticeRequest"]["properties"]
WHO: dict[str, list[dict[str, list[str]]]] = {
    "user": [{"userToken": []}],
    "service": [{"serviceToken": []}],
    "operator": [{"serviceToken": []}],
    "nobody": [],
}
INTAKE, PREFERENCES, DEVICES = ("POST", "/v1/notifications"), ("PUT", "/v1/me/preferences"), ("POST", "/v1/me/devices")
WEBHOOKS = ("POST", "/v1/me/webhooks")
ALBUM = DOCUMENT["paths"]["/v1/notifications"]["post"]["requestBody"]["content"]["application/json"]["examples"]["album"]["value"]
WORDS = {"Content-Type": "text/plain"}
MAX_BODY_BYTES = 64 << 10
MANY = b" " * (MAX_BODY_BYTES + 1)


def shown(operation: tuple[str, str], content_type: str = "application/json") -> list[Any]:
    """Returns the request bodies that an operation shows."""
    return list(examples(OPERATIONS[operation]["requestBody"]["content"][content_type]))


class Asking:
    """A client of a notification module; every answer must be one that is described. `tried`: what was answered so far."""

    def __init__(self, c: Cluster) -> None:
        self.tried: set[tuple[str, str, str]] = set()
        self._c = c

    async def __call__(self, method: str, path: str, token: str = "", **request: Any) -> tuple[int, Any]:
        """Status and document; `path` as the document has it, without `{...}`. As ann without a token."""
        url = f"http://{self._c.of('notification')[0].address}{path}"
        headers = {"Authorization": f"Bearer {token or user_token('ann')}"} | request.pop("headers", {})
        async with self._c.http.request(method, url, headers=headers, **request) as answer:
            document = await answer.json() if answer.content_type == "application/json" else None
            self._check(method, urlsplit(path).path, answer.status, answer.headers, answer.content_type, document)
            return answer.status, document

    def _check(self, method: str, path: str, status: int, headers: Any, content_type: str, document: Any) -> None:
        (template,) = (form for verb, form in OPERATIONS if verb == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", form), path))
        self.tried.add((method, template, str(status)))
        described = PAGE.resolved(OPERATIONS[method, template]["responses"][str(status)])
        for name, header in described.get("headers", {}).items():
            PAGE.validator(header["schema"]).validate(headers[name])
        if "content" not in described:
            assert status == 204
        elif document is not None:
            PAGE.validator(described["content"][content_type]["schema"]).validate(document)
        if status >= 400:
            assert f"`{document['code']}`" in described["description"]


def test_schemas_are_schemas_examples_are_valid_and_each_code_stands_under_its_status() -> None:
    PAGE.check_itself()


def test_the_door_has_the_paths_that_are_described_and_takes_the_tokens_that_are_described() -> None:
    handlers = NotificationHandlers(Mock(), Mock(), Mock(), Mock(), Mock(), secret=b"", pusher=None)
    webhooks = WebhookHandlers(Mock(), Mock(), per_user=1, refresh=Mock())
    described = {where: operation["security"] for where, operation in OPERATIONS.items()}
    assert {(route.method, route.path): WHO[route.who] for route in (*handlers.routes(), *webhooks.routes())} == described


async def test_what_is_shown_works_and_every_answer_is_as_described(tmp_path: Path) -> None:
    """Each operation with the bodies that it shows, through a mail that is refused, replayed and unsubscribed from."""
    async with ScriptedSmtp() as smtp, PushReceiver() as receiver:
        mail = EmailOptions(host="127.0.0.1", port=smtp.port, sender="notify@example.org", starttls="never")
        push = PushOptions(contact="mailto:ops@example.org", allow_loopback=True)
        change, outgoing = configured(email=mail, push=push, max_body_bytes=MAX_BODY_BYTES), OutgoingOptions(private=["127.0.0.1"])
        async with Cluster(sites=1, state=tmp_path, change=change, outgoing=outgoing) as c:
            ask = Asking(c)
            await check_settings(ask, receiver)
            await check_intake(ask)
            await decided(c, 10)
            assert (await ask("GET", "/v1/me/notifications?since=0&limit=10"))[1]["items"][0]["id"] == "album-7"
            assert (await ask("GET", "/v1/me/notifications?since=9999&client=laptop"))[1]["reset"]
            assert (await ask("GET", "/v1/me/why/album-7"))[1]["mark"] == 1
            await check_mail(ask, c, smtp)
            await check_refusals(ask)
            await c.of("notification")[0].drain()
            for method, path in OPERATIONS:
                assert (await ask(method, concrete(path)))[0] == 503
            described = {(*where, status) for where, operation in OPERATIONS.items() for status in operation["responses"]}
            described = {row for row in described if int(row[-1]) not in ON_AIOHTTP}  # tests/security tries them at every door
            assert described - ask.tried == {("GET", "/v1/push-key", "404")}  # below


def concrete(path: str) -> str:
    """Returns a path without names in it."""
    return re.sub(r"\{\w+\}", "none", path)


async def check_settings(ask: Asking, receiver: PushReceiver) -> None:
    for body in shown(PREFERENCES):
        assert await ask(*PREFERENCES, json=body | {"digest": "off"}) == (200, body | {"digest": "off"})
    assert (await ask("GET", "/v1/me/preferences"))[0] == 200
    for body in shown(DEVICES):
        assert (await ask(*DEVICES, json=body))[0] == 201
        assert (await ask("DELETE", "/v1/me/devices", params={"endpoint": body["endpoint"]}))[0] == 204
    device = receiver.subscription()
    assert (await ask(*DEVICES, json={"endpoint": device.endpoint, "keys": {"p256dh": device.p256dh, "auth": device.auth}}))[0] == 201
    assert (await ask("GET", "/v1/me/devices"))[1] == {"devices": [{"endpoint": device.endpoint}]}
    assert (await ask("GET", "/v1/push-key"))[0] == 200
    _, nobody = await ask(*WEBHOOKS, json={"url": "https://127.0.0.1:1/"})
    assert (await ask("POST", f"/v1/me/webhooks/{nobody['id']}/test"))[1]["state"] == "retry"
    assert (await ask("DELETE", f"/v1/me/webhooks/{nobody['id']}"))[0] == 204
    for body in shown(WEBHOOKS):
        status, made = await ask(*WEBHOOKS, json=body)
        assert status == 201
        assert (await ask("POST", f"/v1/me/webhooks/{made['id']}/rotate"))[0] == 200
        assert len((await ask("GET", "/v1/me/webhooks"))[1]["webhooks"]) == 1
        assert (await ask("DELETE", f"/v1/me/webhooks/{made['id']}"))[0] == 204


async def check_intake(ask: Asking) -> None:
    album, playlist, joined, several = shown(INTAKE)
    for service, notice in (("artist", album), ("playlist", playlist), ("social", joined)):
        status, receipt = await ask(*INTAKE, service_token(service), json=notice)
        assert (status, receipt["id"], receipt["duplicate"]) == (202, notice["id"], False)
    status, receipts = await ask(*INTAKE, service_token("artist"), json=[*several, several[0] | {"kind": "other"}])
    assert [each["duplicate"] for each in receipts["accepted"]] == [False, True]
    assert [(each["index"], each["code"]) for each in receipts["rejected"]] == [(2, "conflict")]
    (stream,) = shown(INTAKE, "application/x-ndjson")
    headers = {"Content-Type": "application/x-ndjson"}
    assert (await ask(*INTAKE, service_token("artist"), data=stream.encode(), headers=headers))[1]["accepted"] == 3


async def check_mail(ask: Asking, c: Cluster, smtp: ScriptedSmtp) -> None:
    operator, dispatch = service_token("operator"), c.of("notification")[0].stored.dispatch
    await c.until(lambda: any(recipient == "ann@example.org" for recipient, _ in smtp.mails))
    smtp.refused["dora@example.org"] = "550 no such user"
    await ask("PUT", "/v1/me/preferences", user_token("dora"), json={"email": "dora@example.org"})
    await ask(*INTAKE, service_token("artist"), json=ALBUM | {"id": "album-10", "followers": ["dora"]})
    await c.until(lambda: dispatch.ended["dead"] == 1)
    _, page = await ask("GET", "/v1/dead-letters?limit=1", operator)
    (letter,) = page["letters"]
    assert (letter["user"], letter["event"], page["next"]) == ("dora", "album-10", letter["key"])
    assert (await ask("GET", f"/v1/dead-letters?after={letter['key']}", operator))[1] == {"letters": [], "next": None}
    assert await ask("POST", f"/v1/dead-letters/{letter['key']}/replay", operator) == (202, {"key": letter["key"]})
    link = urlsplit(str(smtp.mails[0][1]["List-Unsubscribe"]).strip("<>")).path
    for method in ("GET", "POST"):
        assert (await ask(method, link))[0] == 200


async def check_refusals(ask: Asking) -> None:
    """Asks for each operation with a wrong token and with one that is not for it, and provokes whatever else it may refuse."""
    for (method, path), operation in OPERATIONS.items():
        if operation["security"]:
            assert (await ask(method, concrete(path), "not.a.token"))[0] == 401
            stranger = service_token("presence")
            assert (await ask(method, concrete(path), stranger, **({"json": ALBUM} if (method, path) == INTAKE else {})))[0] == 403
        elif "401" in operation["responses"]:
            assert (await ask(method, concrete(path)))[0] == 401
    artist, operator = service_token("artist"), service_token("operator")
    assert [
        (await ask(*INTAKE, artist, json=ALBUM | {"id": ""}))[0],
        (await ask(*INTAKE, artist, json=ALBUM | {"kind": "single"}))[0],
        (await ask(*INTAKE, artist, json=ALBUM | {"payload": {"text": "x" * (16 << 10)}}))[0],
        (await ask(*INTAKE, artist, data=b"album", headers=WORDS))[0],
    ] == [400, 409, 413, 415]
    for path in ("rotate", "test"):
        assert (await ask("POST", f"/v1/me/webhooks/none/{path}"))[0] == 404
    for writing in (PREFERENCES, DEVICES, WEBHOOKS):
        assert (await ask(*writing, json={"email": 7}))[0] == 400
        assert (await ask(*writing, data=MANY, headers={"Content-Type": "application/json"}))[0] == 413
        assert (await ask(*writing, data=b"off", headers=WORDS))[0] == 415
    assert (await ask("GET", "/v1/me/notifications?since=-1"))[0] == 400
    assert (await ask("DELETE", "/v1/me/devices"))[0] == 400
    assert (await ask("GET", "/v1/dead-letters?limit=501", operator))[0] == 400
    assert (await ask("POST", "/v1/dead-letters/none/replay", operator))[0] == 404
    assert (await ask("GET", "/v1/me/why/nothing"))[0] == 404


async def test_where_no_pushes_are_sent_there_is_no_key(tmp_path: Path) -> None:
    async with stored(tmp_path) as c:
        assert (await Asking(c)("GET", "/v1/push-key"))[0] == 404


def texts(field: str) -> st.SearchStrategy[str]:
    """Texts that match the pattern of a field, and texts that hardly ever do. Without a final line end, which `$` lets pass in Python."""
    return (st.from_regex(FIELDS[field]["pattern"]) | st.text(max_size=100)).filter(lambda text: not text.endswith("\n"))


@settings(max_examples=100)
@given(id_=texts("id"), topic=texts("topic"), kind=texts("kind"), producer=texts("producer"))
def test_the_schema_of_a_notice_takes_exactly_what_the_intake_takes(id_: str, topic: str, kind: str, producer: str) -> None:
    notice = {"id": id_, "topic": topic, "kind": kind, "producer": producer, "payload": {}, "followers": ["ann"]}
    assert PAGE.validator({"$ref": "#/components/schemas/NoticeRequest"}).is_valid(notice) == is_taken(notice)


def is_taken(notice: dict[str, Any]) -> bool:
    """Returns whether the intake takes `notice` from one of the three services."""
    header = msgspec.json.decode(json.dumps(notice), type=NoticeRequest)
    return any(is_allowed(header, service) for service in ("artist", "playlist", "social"))


def is_allowed(request: NoticeRequest, service: str) -> bool:
    try:
        check(request, service, 0)
    except Refused:
        return False
    return True


async def test_the_schema_of_an_audience_takes_exactly_what_the_door_takes(tmp_path: Path) -> None:
    audiences: list[dict[str, Any]] = [
        {},
        {"followers": []},
        {"followers": ["a b"]},
        {"followers": ["ann\nbob"]},
        {"followers": ["x" * 129]},
        {"pages": [{"followers": []}]},
        {"pages": [{"followers": ["ann"] * 1001}]},
        {"pages": [{"friend": True}]},
        {"pages": [], "followers": ["ann"]},
        {"followers": ["ann"], "other": 1},
    ]
    async with stored(tmp_path) as c:
        for n, audience in enumerate(audiences):
            notice = {key: value for key, value in ALBUM.items() if key != "followers"} | audience | {"id": f"album-{n}"}
            status, _ = await Asking(c)(*INTAKE, service_token("artist"), json=notice)
            assert (status == 202) == PAGE.validator({"$ref": "#/components/schemas/NoticeRequest"}).is_valid(notice), audience


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"email": None},
        {"channels": {"new-albun": {}}},
        {"channels": {"playlist": {"engine": True}}},
        {"muted": ["bjork"]},
        {"muted": ["playlist:ann/summer"]},
        {"quiet": None},
        {"quiet": {"from": "25:00", "to": "07:00"}},
        {"quiet": {"from": "22:00"}},
        {"digest": "monthly"},
        {"digest_day": "someday"},
        {"colour": "blue"},
    ],
)
def test_the_schema_of_preferences_takes_exactly_what_the_door_takes(change: dict[str, Any]) -> None:
    (body,) = shown(PREFERENCES)
    try:
        parse(json.dumps(body | change).encode())
        taken = True
    except Refused:
        taken = False
    assert taken == PAGE.validator({"$ref": "#/components/schemas/Preferences"}).is_valid(body | change)
