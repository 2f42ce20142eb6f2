"""Key pairs for tests: what an identity provider has, and the JWKS that it would publish."""

import json
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    """Returns an RSA key: the same one all through a test run, because making one takes long."""
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    """Returns a P-256 key: the same one all through a test run."""
    return ec.generate_private_key(ec.SECP256R1())


def jwk(kid: str | None, key: Private, *, private: bool = False, **fields: str) -> dict[str, Any]:
    """Returns the JWK of `key` under the id `kid`, with its `private` part if that is wanted: what a JWKS is made of."""
    shown = key if private else key.public_key()
    if isinstance(shown, rsa.RSAPrivateKey | rsa.RSAPublicKey):
        data = RSAAlgorithm.to_jwk(shown, as_dict=True)
    else:
        data = ECAlgorithm.to_jwk(shown, as_dict=True)
    return data | ({"kid": kid} if kid is not None else {}) | fields


def jwks(*keys: dict[str, Any]) -> bytes:
    """Returns a JWKS document."""
    return json.dumps({"keys": keys}).encode()


def sign(claims: dict[str, Any], key: Private | bytes, algorithm: str, kid: str | None = None) -> str:
    """Returns a token with `claims`, signed with `key` by `algorithm` as an identity provider would; `kid` is in its head."""
    return jwt.encode(claims, key, algorithm, headers={"kid": kid} if kid is not None else None)
