"""Texts that are no UTF-8, or would tell a terminal or a log something, at every HTTP door (DPS-26): refused, never a defect."""

import logging
from pathlib import Path

import msgspec
import pytest

from tests.support.every_door import DOORS, opened, statuses
from tests.support.samples import service_token, user_token

END = b"Connection: close\r\n\r\n"
TEXTS = {
    "a path": b"GET /v1/\xff HTTP/1.1\r\nHost: x\r\n" + END,
    "an escaped path": b"GET /v1/%FF/%C3%28 HTTP/1.1\r\nHost: x\r\n" + END,
    "a query": b"GET /v1/nothing?a=%ED%A0%80&b=\xff HTTP/1.1\r\nHost: x\r\n" + END,
    "a method": b"G\xffT /v1/nothing HTTP/1.1\r\nHost: x\r\n" + END,
    "a host": b"GET /v1/nothing HTTP/1.1\r\nHost: \xff\r\n" + END,
    "a token": b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe.\xc3.\x80\r\n" + END,
    "a content type": b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Type: \xff\r\nContent-Length: 1\r\n" + END + b"x",
    "a header's name": b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nX-\xff: y\r\n" + END,
    "an escape of terminals": b"GET /v1/\x1b[2J HTTP/1.1\r\nHost: x\r\n" + END,
    "an escaped escape": b"GET /v1/%1B%5B2J%0Aall%20is%20well HTTP/1.1\r\nHost: x\r\n" + END,
}
# Of each door on aiohttp with a token: a request whose body is read as JSON.
BODIES = {
    "notification": [
        ("PUT", "/v1/me/preferences", user_token("ann")),
        ("POST", "/v1/me/devices", user_token("ann")),
        ("POST", "/v1/notifications", service_token("artist")),
    ],
    "playlist": [("POST", "/v1/playlists", user_token("ann"))],
    "social": [("PUT", "/v1/social/wall", user_token("ann"))],
    "broker": [("POST", "/v1/events", service_token("presence"))],
}
HOSTILE = (
    b"\xff",
    b'"\xff"',
    b'{"\xff":1}',
    b'{"tz":"\xff"}',
    b'{"channels":{"\xff":{}}}',
    b'{"muted":["\xed\xa0\x80"]}',
    b'{"name":"\xc3"}',
    b'{"endpoint":"\xf8","keys":{"\xfe":"\xff"}}',
    b'{"tz":"\\ud800"}',
    b'{"name":"\\ud800"}',
    b'{"email":"\\udfff@x"}',
    b'{"topic":"\\ud800","kind":"\\ud800","payload":{"\\ud800":"\\udc00"},"id":"\\ud800"}',
    b'{"enabled":"\xff"}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"n":1e999}',
    b"\xef\xbb\xbf{}",
    b"\x00",
)


@pytest.mark.parametrize("door", DOORS)
async def test_a_head_that_is_no_text_is_refused(door: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(door, tmp_path) as there:
        said = {name: statuses(await there.say(request)) for name, request in TEXTS.items()}
        assert {name: found for name, found in said.items() if len(found) != 1 or found[0] // 100 != 4} == {}
        assert await there.is_well()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("door", BODIES)
async def test_a_body_that_is_no_text_is_refused(door: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is no UTF-8, no JSON, deeper or larger than any reader holds is refused, and leaves no traceback."""
    async with opened(door, tmp_path) as there:
        wrong = {}
        for method, path, token in BODIES[door]:
            for body in HOSTILE:
                head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
                said = await there.say(head.encode() + b"Content-Length: %d\r\n" % len(body) + END + body)
                if any(status >= 500 and status != 503 for status in statuses(said)) or len(statuses(said)) != 1:
                    wrong[path, body[:40]] = said[-300:]
                else:
                    msgspec.json.decode(said.partition(b"\r\n\r\n")[2])
        assert wrong == {}
        assert await there.is_well()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
