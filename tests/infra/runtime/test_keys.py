"""infra.runtime.keys: which keys are taken, and what is said of the others."""

import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from infra.kernel.errors import ConfigError
from infra.runtime.keys import MAX_JWKS_BYTES, AuthOptions, Keys
from infra.runtime.logs import get_logger
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.secret_file import ensure_secret, forget_previous, renew_secret
from tests.support.signing import ec_key, jwk, jwks, rsa_key

HERE = OutgoingOptions(private=["127.0.0.1"])


def write(path: Path, data: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


class Issuer:
    """An identity provider on a port of the loopback: it serves whatever `document` is."""

    def __init__(self) -> None:
        self.document = jwks(jwk("k1", ec_key()))
        self.status = 200
        self.url = ""

    async def serve(self, _: web.Request) -> web.Response:
        return web.Response(body=self.document, status=self.status, headers={"Location": "/elsewhere"})


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    app = web.Application()
    app.router.add_get("/keys", issuer.serve)
    async with TestServer(app) as server:
        issuer.url = str(server.make_url("/keys"))
        yield issuer


def test_without_any_key_nothing_starts() -> None:
    with pytest.raises(ConfigError, match="set secret_file, jwks_file or jwks_url"):
        Keys.load(AuthOptions())


def test_a_kind_of_key_brings_its_algorithms_and_no_others(tmp_path: Path) -> None:
    secret_file = ensure_secret(tmp_path)
    jwks_file = write(tmp_path / "jwks", jwks(jwk("r", rsa_key()), jwk(None, ec_key())))
    assert Keys.load(AuthOptions(secret_file=secret_file)).algorithms == ("HS256",)
    assert Keys.load(AuthOptions(jwks_file=jwks_file)).algorithms == ("RS256", "ES256")
    assert Keys.load(AuthOptions(jwks_url="https://issuer.example/keys")).algorithms == ("RS256", "ES256")
    assert set(Keys.load(AuthOptions(secret_file=secret_file, jwks_file=jwks_file)).public) == {"r", ""}


def test_keys_that_do_not_sign_with_an_allowed_algorithm_are_left_out(tmp_path: Path) -> None:
    document = jwks(
        jwk("yes", ec_key()),
        jwk("encrypts", rsa_key(), use="enc"),
        jwk("other", rsa_key(), alg="RS512"),
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0" * 8, "alg": "HS256"},
        {"kty": "none", "kid": "odd"},
    )
    assert set(Keys.load(AuthOptions(jwks_file=write(tmp_path / "jwks", document))).public) == {"yes"}


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (lambda: b"\xff", "is not a JWKS"),
        (lambda: b"{}", "is not a JWKS"),
        (lambda: b"[]", "is not a JWKS"),
        (lambda: b"[" * 100_000, "is not a JWKS"),
        (lambda: jwks({"kty": "RSA", "alg": ["RS256"]}), "is not a JWKS"),
        (lambda: jwks(jwk("a", rsa_key(), use="enc")), "has no signing key for RS256 or ES256"),
        (lambda: jwks(jwk("a", rsa_key(), private=True)), "holds the private key 'a'"),
        (lambda: jwks(jwk("a", ec_key(), private=True)), "holds the private key 'a'"),
        (lambda: jwks(jwk("a", rsa_key(1024))), "key 'a': .*1024"),
    ],
    ids=["no text", "no keys", "a list", "deep", "odd algorithm", "only encryption", "private RSA", "private EC", "weak"],
)
def test_a_document_that_cannot_be_used_says_why(tmp_path: Path, document: Callable[[], bytes], complaint: str) -> None:
    path = write(tmp_path / "jwks.json", document())
    with pytest.raises(ConfigError, match=rf"jwks\.json.*{complaint}"):
        Keys.load(AuthOptions(jwks_file=path))


def test_two_places_for_public_keys_and_plain_http_are_refused() -> None:
    with pytest.raises(ConfigError, match="both set"):
        AuthOptions(jwks_file=Path("a"), jwks_url="https://b").check()
    for url in ("http://issuer.example/keys", "file:///etc/passwd", "issuer.example"):
        with pytest.raises(ConfigError, match="must be https"):
            AuthOptions(jwks_url=url).check()
    for url in ("https://issuer.example/keys", "http://127.0.0.1:80/keys", "http://[::1]/", "http://localhost/"):
        AuthOptions(jwks_url=url).check()


async def test_keys_are_fetched_and_replaced(issuer: Issuer) -> None:
    keys = Keys.load(AuthOptions(jwks_url=issuer.url), HERE)
    assert not keys.is_current
    assert await keys.refresh()
    assert set(keys.public) == {"k1"}
    issuer.document = jwks(jwk("k2", rsa_key()))
    assert await keys.refresh()
    assert set(keys.public) == {"k2"}
    assert keys.is_current
    assert keys.failure is None


@pytest.mark.parametrize(
    ("document", "status", "complaint"),
    [
        (b"", 500, "500"),
        (jwks(jwk("k2", ec_key())), 302, "302"),
        (b"{}", 200, "is not a JWKS"),
        (b" " * (MAX_JWKS_BYTES + 1), 200, "more than 1048576 bytes"),
    ],
    ids=["error", "redirect", "no keys", "endless"],
)
async def test_a_fetch_that_fails_keeps_the_old_keys_and_tells_why(issuer: Issuer, document: bytes, status: int, complaint: str) -> None:
    keys = Keys.load(AuthOptions(jwks_url=issuer.url), HERE)
    await keys.refresh()
    issuer.document, issuer.status = document, status
    assert not await keys.refresh()
    assert set(keys.public) == {"k1"}
    assert complaint in (keys.failure or "")


async def test_an_issuer_that_is_not_there_is_a_failure_and_no_crash() -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        keys = Keys.load(AuthOptions(jwks_url=f"http://127.0.0.1:{bound.getsockname()[1]}/keys"), HERE)
        assert not await keys.refresh()
    assert "127.0.0.1" in (keys.failure or "")


async def test_a_fetch_is_due_at_most_once_a_minute_and_only_behind_a_url(issuer: Issuer) -> None:
    keys = Keys.load(AuthOptions(jwks_url=issuer.url), HERE)
    assert [keys.is_fetch_due(now_s) for now_s in (0.0, 1.0, 59.9, 60.0, 61.0)] == [True, False, False, True, False]
    assert not Keys(secret=b"x" * 32).is_fetch_due(0.0)
    assert await Keys(secret=b"x" * 32).refresh()


def test_two_keys_with_one_id_are_refused(tmp_path: Path) -> None:
    document = write(tmp_path / "jwks", jwks(jwk("k1", ec_key()), jwk("k1", rsa_key())))
    with pytest.raises(ConfigError, match="two keys with the same id"):
        Keys.load(AuthOptions(jwks_file=document))


def test_options_that_make_no_sense_together_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"without auth\.secret_file"):
        AuthOptions(previous_secret_file=Path("old")).check()
    with pytest.raises(ConfigError, match="names public keys, and there are none"):
        AuthOptions(secret_file=Path("s"), service_keys=("k1",)).check()
    with pytest.raises(ConfigError, match="give it a kid"):
        AuthOptions(jwks_file=Path("j"), service_keys=("",)).check()


def two_files(folder: Path) -> AuthOptions:
    return AuthOptions(secret_file=ensure_secret(folder), previous_secret_file=folder / "secret.previous.key")


def test_the_newest_secret_comes_first_and_the_one_before_it_is_there_too(tmp_path: Path) -> None:
    """DPS-28: a secret can be changed without a gap."""
    options = two_files(tmp_path)
    keys = Keys.load(options)
    (first,) = keys.held.secrets
    renew_secret(tmp_path)
    keys.reload()
    second, former = keys.held.secrets
    assert (keys.secret, former) == (second, first)
    assert second != first
    forget_previous(tmp_path)
    keys.reload()
    assert keys.held.secrets == (second,)


def test_files_are_read_anew_when_they_have_changed_and_once_a_second_at_most(tmp_path: Path) -> None:
    keys = Keys.load(two_files(tmp_path))
    assert not keys.reread(0.0)
    renew_secret(tmp_path)
    assert keys.reread(0.1)
    assert not keys.reread(0.2)
    renew_secret(tmp_path)
    assert not keys.reread(0.3)
    assert keys.reread(1.2)
    assert len(keys.held.secrets) == 2


def test_files_that_cannot_be_used_any_more_change_nothing_and_why_is_told_once(tmp_path: Path) -> None:
    options = two_files(tmp_path)
    keys = Keys.load(options, log=get_logger("keys", "", ""))
    before = keys.held
    write(tmp_path / "secret.key", b"short")
    with capture_logs() as told:
        assert not keys.reread(0.0)
        assert not keys.reread(1.2)
    assert keys.held is before
    assert [each["event"] for each in told] == ["keys not read anew"]
    assert "holds 5 bytes" in (keys.failure or "")
    with pytest.raises(ConfigError, match="holds 5 bytes"):
        keys.reload()
    assert keys.held is before


def test_keys_that_came_from_no_file_stay_when_the_files_are_read_anew() -> None:
    keys = Keys(secret=b"x" * 32, public={"k1": jwt.PyJWK(jwk("k1", ec_key()))})
    keys.reload()
    assert (keys.secret, set(keys.public)) == (b"x" * 32, {"k1"})


def test_a_file_of_public_keys_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "jwks", jwks(jwk("k1", ec_key())))
    keys = Keys.load(AuthOptions(jwks_file=path))
    write(path, jwks(jwk("k2", ec_key())))
    keys.reload()
    assert set(keys.public) == {"k2"}
