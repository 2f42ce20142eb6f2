"""Requests that two readers could read in two ways, at every HTTP door: nothing that follows them is taken for a request (DPS-26)."""

from pathlib import Path

import pytest

from tests.support.every_door import DOORS, opened, statuses

# What a smuggler hides behind a request. It is answered 404, so nobody mistakes it for the first one.
HIDDEN = b"GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POST = b"POST /nothing HTTP/1.1\r\nHost: x\r\n"
GET = b"GET /nothing HTTP/1.1\r\nHost: x\r\n"

ATTACKS = {
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
    "two equal lengths": POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": POST + b"Content-Length: 0, 0\r\n\r\n",
    "a signed length": POST + b"Content-Length: +0\r\n\r\n",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n",
    "a length in hex": POST + b"Content-Length: 0x0\r\n\r\n",
    "an endless length": POST + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n",
    "an encoding twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an encoding before chunks": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an encoding after chunks": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "an unknown encoding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded header": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a bare newline": b"POST /nothing HTTP/1.1\nHost: x\nContent-Length: 0\n\n",
    "a bare return": POST + b"X: y\rContent-Length: 0\r\n\r\n",
    "a zero byte": POST + b"X: y\x00z\r\nContent-Length: 0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /nothing HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a chunk in signed hex": POST + b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n",
    "a chunk with 0x": POST + b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "a chunk too long for a number": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"F" * 20 + b"\r\n\r\n",
    "a chunk that ends elsewhere": POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n",
    "a chunk that ends with a bare newline": POST + b"Transfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
    "no host": b"GET /nothing HTTP/1.1\r\n\r\n",
    "two hosts": GET + b"Host: y\r\n\r\n",
    "a host behind a user": b"GET /nothing HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "two hosts in one header": b"GET /nothing HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "a host with a path": b"GET /nothing HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "two tokens": GET + b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
    "the same token twice": GET + b"Authorization: Bearer a\r\nauthorization: Bearer a\r\n\r\n",
    "two requests in a line": b"GET /nothing HTTP/1.1 GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
    "another version": b"GET /nothing HTTP/3.0\r\nHost: x\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
# What is no attack, and leaves the connection open.
PLAIN = {
    "nothing": GET + b"\r\n",
    "a length": POST + b"Content-Length: 3\r\n\r\nabc",
    "chunks": POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("door", DOORS)
async def test_nothing_behind_a_request_with_two_meanings_is_answered(door: str, tmp_path: Path) -> None:
    """DPS-26: each gets one refusal at most, and the connection ends with it."""
    async with opened(door, tmp_path) as there:
        said = {name: statuses(await there.say(attack + HIDDEN)) for name, attack in ATTACKS.items()}
        taken = {name: found for name, found in said.items() if len(found) > 1 or any(status // 100 not in (4, 5) for status in found)}
        assert taken == {}
        assert await there.is_well()


@pytest.mark.parametrize("door", DOORS)
async def test_what_follows_a_request_with_one_meaning_is_answered(door: str, tmp_path: Path) -> None:
    async with opened(door, tmp_path) as there:
        said = {name: statuses(await there.say(request + HIDDEN)) for name, request in PLAIN.items()}
    # The engine's server does not read the chunks of what it has refused already: it ends the connection.
    assert said in ({name: [404, 404] for name in PLAIN}, {name: [404, 404] for name in PLAIN} | {"chunks": [404]})
