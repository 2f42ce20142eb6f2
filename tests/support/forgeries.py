"""Forged tokens, by what their forger tries. All are refused everywhere; `genuine` tokens, made the same way, are taken."""

import base64
import hmac
import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.signing import ec_key, jwk, rsa_key, sign

NOW_S: Final = 1_700_000_000.0
SECRET: Final = b"0123456789abcdef" * 4
OTHER_SECRET: Final = b"another secret of thirty-two byte"
EXPIRES_S: Final = int(NOW_S) + 600

Claims = dict[str, Any]
# Whom a forger wants to be, at each of the three doors.
AS_USER: Final[Claims] = {"sub": "alice", "exp": EXPIRES_S}
AS_SERVICE: Final[Claims] = {"svc": "presence", "exp": EXPIRES_S}
AS_SUBSCRIBER: Final[Claims] = AS_USER | {"purpose": "subscribe", "topics": ["hm://presence/user/*/"]}
TARGETS: Final[Mapping[str, Claims]] = {"client": AS_USER, "service": AS_SERVICE, "subscription": AS_SUBSCRIBER}

HS256: Final = {"alg": "HS256", "typ": "JWT"}


def b64(data: bytes) -> str:
    """Returns base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(header: Any, payload: bytes, secret: bytes = SECRET, algorithm: str = "sha256") -> str:
    """Returns a token of any `header`, and of any bytes as claims, which is well signed with `secret`."""
    unsigned = f"{b64(header if isinstance(header, bytes) else json.dumps(header).encode())}.{b64(payload)}"
    return f"{unsigned}.{b64(hmac.digest(secret, unsigned.encode(), algorithm))}"


def genuine(claims: Claims, header: Any = HS256) -> str:
    """Returns a token that is signed with the secret."""
    return signed(header, json.dumps(claims).encode())


def forgeries(claims: Claims) -> Iterator[tuple[str, str]]:
    """Yields what is forged, and the forged token, for who wants what `claims` say."""
    for name, found in (
        ("no algorithm", _no_algorithm(claims)),
        ("confused", _confused(claims)),
        ("key id", _key_ids(claims)),
        ("key brought along", _own_keys(claims)),
        ("header", _headers(claims)),
        ("claims", _claims(claims)),
        ("structure", _structures(claims)),
    ):
        for number, token in enumerate(found):
            yield f"{name} {number}", token


def _no_algorithm(claims: Claims) -> Iterator[str]:
    payload = json.dumps(claims).encode()
    names: list[Any] = [
        "none",
        "None",
        "NONE",
        "nOnE",
        "",
        None,
        0,
        True,
        [],
        ["HS256"],
        {},
        "HS256 ",
        " HS256",
        "hs256",
        "HS256\x00",
        "HS256\n",
    ]
    names += ["HS384", "HS512", "PS256", "RS512", "EdDSA", "ES384", "ES256K", "dir", "A128KW", "RSA-OAEP", "x" * 7000]
    for name, signature in product(names, (b"", b"\0" * 32)):
        unsigned = f"{b64(json.dumps({'alg': name}).encode())}.{b64(payload)}"
        yield f"{unsigned}.{b64(signature)}"
    for name in names:
        yield signed({"alg": name}, payload)
    for name, digest in (("HS384", "sha384"), ("HS512", "sha512"), ("HS256", "sha384"), ("HS256", "sha1")):
        yield signed({"alg": name}, payload, algorithm=digest)
    yield signed({}, payload)
    yield signed({"typ": "JWT"}, payload)


def _confused(claims: Claims) -> Iterator[str]:
    """Yields tokens whose HMAC has what everybody knows for a secret: the public keys, and nothing at all."""
    payload = json.dumps(claims).encode()
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
    for kid, key in (("users", ec_key()), ("ours", rsa_key())):
        public = key.public_key()
        texts = [public.public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo) for encoding in (Encoding.PEM, Encoding.DER)]
        if isinstance(public, rsa.RSAPublicKey):
            texts += [public.public_bytes(encoding, PublicFormat.PKCS1) for encoding in (Encoding.PEM, Encoding.DER)]
        document = jwk(kid, key)
        texts += [json.dumps(document).encode(), *(str(value).encode() for value in document.values())]
        for text, header in product([*texts, *(text.strip() for text in texts)], ({"alg": "HS256"}, {"alg": "HS256", "kid": kid})):
            yield signed(header, payload, secret=text)
    for known in (b"", b"\0" * 32, b"secret", b"HS256", SECRET[:-1], SECRET + b"\n", SECRET.upper(), OTHER_SECRET):
        yield signed({"alg": "HS256"}, payload, secret=known)
    # Signed by the keys of others, and under the id of another kind of key.
    yield sign(claims, ec.generate_private_key(ec.SECP256R1()), "ES256", "users")
    yield sign(claims, ec_key(), "ES256", "ours")
    yield sign(claims, rsa_key(), "RS256", "users")
    yield sign(claims, rsa_key(), "RS512", "ours")
    yield sign(claims, rsa_key(), "PS256", "ours")


def _key_ids(claims: Claims) -> Iterator[str]:
    payload = json.dumps(claims).encode()
    paths = [
        "../../../dev/null",
        "/dev/null",
        "/proc/self/environ",
        "file:///dev/null",
        "\\\\host\\share",
        "ours/../ours",
        "ours\x00",
        " ours",
    ]
    tricks = [
        "' OR 1=1 --",
        "'; DROP TABLE keys",
        "$(id)",
        "`id`",
        "__proto__",
        "OURS",
        "\u202eours",
        "o\u0443rs",
        "",
        "x" * 257,
        "x" * 5000,
    ]
    for kid in paths + tricks:
        header = {"alg": "RS256", "kid": kid}
        yield sign(claims, ec.generate_private_key(ec.SECP256R1()), "ES256", kid)
        yield signed(header, payload, secret=b"")
    no_ids: list[Any] = [0, True, [], ["ours"], {"ours": 1}, 1.5, None]
    for no_id in no_ids:
        yield signed({"alg": "RS256", "kid": no_id}, payload)
        yield signed({"alg": "ES256", "kid": no_id}, payload)


def _own_keys(claims: Claims) -> Iterator[str]:
    """Yields tokens that bring along, or point to, the key that verifies them."""
    payload = json.dumps(claims).encode()
    theirs = jwk("theirs", ec.generate_private_key(ec.SECP256R1()))
    for header in (
        {"jwk": theirs},
        {"jwk": {"kty": "oct", "k": b64(b"x" * 32)}},
        {"jku": "https://evil.example/keys"},
        {"x5u": "https://evil.example/cert"},
        {"x5c": ["MII="]},
        {"x5t": "AAAA"},
    ):
        for algorithm, kid in product(("HS256", "ES256", "RS256"), ({}, {"kid": "theirs"})):
            yield signed({"alg": algorithm, **header, **kid}, payload, secret=b"x" * 32)


def _headers(claims: Claims) -> Iterator[str]:
    """Yields tokens that are signed with the secret itself, under headers that ask for what nobody here does."""
    payload = json.dumps(claims).encode()
    odd: list[Claims] = [
        {"crit": ["exp"]},
        {"crit": []},
        {"crit": "exp"},
        {"crit": None},
        {"crit": ["b64"], "b64": False},
        {"crit": ["b64"], "b64": True},
        {"b64": False},
        {"cty": "JWT"},
        {"cty": "jwt"},
        {"cty": None},
        {"typ": "logout+jwt"},
        {"typ": "dpop+jwt"},
        {"typ": "secevent+jwt"},
        {"typ": "JWE"},
        {"typ": "jwt\x00"},
        {"typ": 5},
        {"typ": None},
        {"kid": 5},
        {"kid": "x" * 257},
    ]
    yield from (signed(HS256 | extra, payload) for extra in odd)
    for text in (
        b'{"alg":"HS256","alg":"none"}',
        b'{"alg":"none","alg":"HS256"}',
        b'{"alg":"HS256","kid":"a","kid":"b"}',
        b'{"alg":"HS256","\\u0061lg":"HS256"}',
        b'{"alg":"HS256","x":NaN}',
        b'{"alg":"HS256","x":' + b"[" * 2000 + b"}",
        b'["HS256"]',
        b'"HS256"',
        b"HS256",
        b"null",
        b"",
        '{"alg":"HS256"}'.encode("utf-16"),
        b"\xef\xbb\xbf" + b'{"alg":"HS256"}',
        b'{"alg":"HS256"}{}',
    ):
        yield signed(text, payload)


def _claims(claims: Claims) -> Iterator[str]:
    """Yields tokens that are signed with the secret itself, with claims of which one could think this or that."""
    who = "svc" if "svc" in claims else "sub"
    texts = [
        "\u0430lice",
        "alice\u200b",
        "\u202ealice",
        "\uff41lice",
        "alice\x00",
        "alice\n",
        "alice\r\n",
        " alice",
        "alice ",
        "",
        "a" * 129,
    ]
    texts += ["alice/../bob", "alice%00", "alice bob", "alice@", "\x1b[2Jalice", "<b>alice</b>", "'alice'"]
    for name in [*texts, None, 7, True, ["alice"], {"alice": 1}, 1.5]:
        yield genuine(claims | {who: name})
    times: list[Any] = ["soon", str(EXPIRES_S), None, True, [EXPIRES_S], {}, -1, -0.5, 2**53, 10**400, float(2**60)]
    yield from (genuine(claims | {"exp": time}) for time in times)
    times = ["then", None, True, [], -1, 2**53]
    yield from (genuine(claims | {name: time}) for name, time in product(("nbf", "iat"), times))
    for token_id in (5, None, ["a"], "a b", "\x1b[2J", "\u202e", "x" * 257):
        yield genuine(claims | {"jti": token_id})
    yield genuine({name: value for name, value in claims.items() if name != "exp"})
    yield genuine({name: value for name, value in claims.items() if name != who})
    yield genuine(claims | {"exp": NOW_S - 31})
    yield genuine(claims | {"nbf": NOW_S + 31})
    yield genuine(claims | {"aud": "another"})
    purposes: list[Any] = ["unsubscribe", "Subscribe", "", None, ["subscribe"], True, {}]
    yield from (genuine(claims | {"purpose": purpose}) for purpose in purposes)
    if who == "sub":
        for topics in (
            "hm://presence/user/*/",
            [1],
            [None],
            {"a": 1},
            ["*"],
            ["hm://notifications/inbox/alice/"],
            ["hm://presence/user/a*/"],
        ):
            yield genuine(claims | {"topics": topics})
        wrong: list[Any] = ["user", ["inbox"], [1], [["user"]], {}]
        yield from (genuine(claims | {"kinds": kinds}) for kinds in wrong)
    text = json.dumps(claims)[:-1]
    for tail in (
        f',"{who}":"bob"}}',
        f',"{who}":"alice"}}',
        ',"exp":99999999999}',
        ',"exp":1e400}',
        ',"exp":1e999}',
        ',"nbf":NaN}',
        ',"nbf":Infinity}',
        ',"nbf":-Infinity}',
        ',"\\u0065xp":99999999999}',
        ',"x":' + "[" * 2500 + "}",
        ',"x":1',
        "}{}",
        "},",
    ):
        yield signed(HS256, (text + tail).encode())
    for payload in (
        b"[]",
        b'"alice"',
        b"null",
        b"7",
        b"",
        b"\xff",
        json.dumps(claims).encode("utf-16"),
        b"\xef\xbb\xbf" + json.dumps(claims).encode(),
    ):
        yield signed(HS256, payload)
    yield signed(HS256, json.dumps(genuine(claims)).encode())  # a token as the claims of a token
    yield signed(HS256, genuine(claims).encode())


def _structures(claims: Claims) -> Iterator[str]:
    good = genuine(claims)
    header, payload, signature = good.split(".")
    _, other_payload, other_signature = genuine(claims | {"exp": EXPIRES_S + 1}).split(".")
    yield from (
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        header,
        f"{header}.{payload}",
        f"{header}.{payload}.",
        f".{payload}.{signature}",
        f"{header}..{signature}",
        f"{header}.{payload}.{signature}.{signature}",
        f"{header}.{payload}..{signature}.",
        f"{header}.{other_payload}.{signature}",
        f"{header}.{payload}.{other_signature}",
        f"{payload}.{header}.{signature}",
        f"{header}.{payload}.{signature[:-1]}",
        f"{header}.{payload}.{signature[:-4]}",
        f"{header}.{payload}.{signature}AAAA",
        f"{header}.{payload}.{signature.swapcase()}",
        f"{header}.{payload}.{'A' * 43}",
        f"{header}.{payload}.+/+/",
        f"{header}.{payload}.{signature}!",
        f"{header}!.{payload}.{signature}",
        f"{header}.{payload}\n.{signature}",
        f" {good}",
        f"{good} ",
        f"{good}\n",
        f"{good}\x00",
        f"Bearer {good}",
        f"{good},{good}",
        good.replace(".", "\u3002"),
        good.replace("e", "\u0435", 1),
        good + "\u00e9",
        good + "\ud800",
        "x" * 8193,
        "." * 8192,
        f"{header}.{payload}.{'A' * 9000}",
        json.dumps({"protected": header, "payload": payload, "signature": signature}),
        json.dumps({"payload": payload, "signatures": [{"protected": header, "signature": signature}]}),
    )
