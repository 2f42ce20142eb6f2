"""infra.kernel.request_head: heads that can be read in two ways are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.request_head import check_encoding, check_head

HOST = (b"Host", b"segue.example:7720")
CHUNKED = (b"Transfer-Encoding", b"chunked")


@pytest.mark.parametrize(
    ("target", "version", "headers"),
    [
        ("/", (1, 1), [HOST]),
        ("/v1/me/notifications?since=1&client=%C3%A9%20x", (1, 1), [HOST]),
        ("/v1/x", (1, 0), []),
        ("/v1/x", (1, 1), [(b"host", b"[::1]:7720"), (b"content-length", b"12")]),
        ("/v1/x", (1, 1), [HOST, (b"TRANSFER-ENCODING", b" Chunked ")]),
        ("/v1/x", (1, 1), [(b"Host", b"sto_n1"), (b"X-Name", "Jóga".encode())]),
    ],
)
def test_a_head_that_has_one_meaning_is_taken(target: str, version: tuple[int, int], headers: list[tuple[bytes, bytes]]) -> None:
    check_head(target, version, headers)


@pytest.mark.parametrize(
    ("headers", "complaint"),
    [
        ([], "needs a Host"),
        ([HOST, HOST], "one Host header, not several"),
        ([(b"Host", b"")], "must be one host"),
        ([(b"Host", b"a b")], "must be one host"),
        ([(b"Host", b"good.example, evil.example")], "must be one host"),
        ([(b"Host", b"user@evil.example")], "must be one host"),
        ([(b"Host", b"evil.example/path")], "must be one host"),
        ([HOST, CHUNKED, (b"Content-Length", b"3")], "exclude each other"),
        ([HOST, CHUNKED, CHUNKED], "chunked, once"),
        ([HOST, (b"Transfer-Encoding", b"gzip, chunked")], "chunked, once"),
        ([HOST, (b"Transfer-Encoding", b"identity")], "chunked, once"),
        ([HOST, (b"Transfer-Encoding", b"xchunked")], "chunked, once"),
        ([HOST, (b"Content-Length", b"3"), (b"Content-Length", b"3")], "one number"),
        ([HOST, (b"Content-Length", b"3, 3")], "one number"),
        ([HOST, (b"Content-Length", b"+3")], "one number"),
        ([HOST, (b"Content-Length", b"-3")], "one number"),
        ([HOST, (b"Content-Length", b"0x3")], "one number"),
        ([HOST, (b"Content-Length", b"3_0")], "one number"),
        ([HOST, (b"Content-Length", b"")], "one number"),
    ],
)
def test_a_head_that_two_readers_could_read_in_two_ways_is_refused(headers: list[tuple[bytes, bytes]], complaint: str) -> None:
    """DPS-26: request smuggling."""
    with pytest.raises(Refused, match=f"bad-request: .*{complaint}"):
        check_head("/", (1, 1), headers)


@pytest.mark.parametrize("target", ["*", "", "example.org:443", "http://example.org/", "//x y", "/é", "/\x00", "/\x7f", "/ x", "v1"])
def test_a_target_is_a_path(target: str) -> None:
    with pytest.raises(Refused, match="bad-request: the request target must be a path"):
        check_head(target, (1, 1), [HOST])


def test_http_1_0_has_no_chunks() -> None:
    with pytest.raises(Refused, match=r"HTTP/1\.0 has no Transfer-Encoding"):
        check_head("/", (1, 0), [HOST, CHUNKED])


@pytest.mark.parametrize("version", [(0, 9), (2, 0), (1, 2), (3, 0)])
def test_other_versions_are_refused(version: tuple[int, int]) -> None:
    with pytest.raises(Refused, match="bad-request"):
        check_head("/", version, [HOST])


@pytest.mark.parametrize("target", ["/%FF", "/a?x=%C3", "/a?x=%C3%28", "/%ED%A0%80", "/%C0%AF"])
def test_a_path_or_query_that_is_no_utf8_is_refused(target: str) -> None:
    with pytest.raises(Refused, match="bad-utf8"):
        check_head(target, (1, 1), [HOST])


def test_a_header_that_is_no_utf8_is_refused_by_its_name() -> None:
    with pytest.raises(Refused, match="bad-utf8: the header Authorization"):
        check_head("/", (1, 1), [HOST, (b"Authorization", b"Bearer \xff")])


@pytest.mark.parametrize("encoding", [b"gzip", b"GZIP", b"deflate", b"br", b"zstd", b"identity, gzip", b"x-gzip"])
def test_a_compressed_body_is_refused(encoding: bytes) -> None:
    """DPS-26: 1 MB of gzip must not become 1 GB here."""
    with pytest.raises(Refused, match="bad-content-type: the body is encoded"):
        check_encoding([HOST, (b"Content-encoding", encoding)])
    check_encoding([HOST, (b"Content-Encoding", b"identity")])


@given(st.text(max_size=40), st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=20)), max_size=5))
def test_whatever_comes_is_taken_or_refused_with_a_reason_that_can_be_written(target: str, headers: list[tuple[bytes, bytes]]) -> None:
    reason = ""
    try:
        check_head(target, (1, 1), headers)
        check_encoding(headers)
    except Refused as refused:
        reason = refused.reason
    assert reason.encode().decode() == reason
