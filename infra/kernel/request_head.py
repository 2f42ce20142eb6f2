"""The head of an HTTP/1 request, judged by rules that leave no room for two readings (RFC 9112). Pure.

A proxy in front of us and we must agree where each request ends. What two readers could read in two ways is refused, and ends the
connection.
"""

import re
from collections.abc import Sequence
from typing import Final

from .errors import Refused

RawHeaders = Sequence[tuple[bytes, bytes]]

_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")
_TARGET: Final = re.compile(r"/[!-~]*")  # RFC 3986 has no other characters; anything else is to be escaped
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def check_head(target: str, version: tuple[int, int], headers: RawHeaders) -> None:
    """Raises `Refused` for the head of a request that will not be read further: bad-request, bad-utf8.

    - `target`: what stands between method and version.
    - `version`: such as (1, 1).
    - `headers`: names and values as they came.
    """
    if version not in ((1, 0), (1, 1)):
        raise Refused("bad-request", "this is not HTTP/1.0 or HTTP/1.1")
    if not _TARGET.fullmatch(target):
        raise Refused("bad-request", "the request target must be a path in visible ASCII, such as /v1/events; write all else as %XX")
    _check_escapes(target)
    _check_texts(headers)
    _check_host([value for name, value in headers if name.lower() == b"host"], version)
    if sum(name.lower() == b"authorization" for name, _ in headers) > 1:
        raise Refused("bad-request", "there must be one Authorization header, not several")
    _check_framing(headers, version)


def check_host(host: bytes) -> None:
    """Raises `Refused("bad-request")` for a Host header that names no host, or several."""
    if not _HOST.fullmatch(host):
        raise Refused("bad-request", "the Host header must be one host, or a host and a port")


def check_encoding(headers: RawHeaders) -> None:
    """Raises `Refused("bad-content-type")` for a body that is compressed: what is small on the way could fill the memory here."""
    for name, value in headers:
        if name.lower() == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            shown = value[:40].decode("ascii", "replace")
            raise Refused("bad-content-type", f"the body is encoded as {shown!r}; send it as it is, without Content-Encoding")


def _check_escapes(target: str) -> None:
    for run in _ESCAPES.findall(target):
        try:
            bytes.fromhex(run.replace("%", "")).decode()
        except UnicodeDecodeError:
            raise Refused("bad-utf8", "the path or the query is not UTF-8 behind its %XX") from None


def _check_texts(headers: RawHeaders) -> None:
    for name, value in headers:
        try:
            value.decode()
        except UnicodeDecodeError:
            raise Refused("bad-utf8", f"the header {name.decode('ascii', 'replace')} is not UTF-8") from None


def _check_host(hosts: Sequence[bytes], version: tuple[int, int]) -> None:
    if len(hosts) > 1:
        raise Refused("bad-request", "there must be one Host header, not several")
    if not hosts and version == (1, 1):
        raise Refused("bad-request", "HTTP/1.1 needs a Host header")
    if hosts:
        check_host(hosts[0])


def _check_framing(headers: RawHeaders, version: tuple[int, int]) -> None:
    encodings = [value.strip().lower() for name, value in headers if name.lower() == b"transfer-encoding"]
    lengths = [value.strip() for name, value in headers if name.lower() == b"content-length"]
    if encodings and version == (1, 0):
        raise Refused("bad-request", "HTTP/1.0 has no Transfer-Encoding; send Content-Length, or HTTP/1.1")
    if encodings and lengths:
        raise Refused("bad-request", "Transfer-Encoding and Content-Length exclude each other; send one of them")
    if encodings not in ([], [b"chunked"]):
        raise Refused("bad-request", "the only Transfer-Encoding that is read here is chunked, once")
    if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
        raise Refused("bad-request", "Content-Length must be one number in digits")
