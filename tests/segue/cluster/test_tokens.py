"""segue.cluster.tokens: who signs for themselves, with which secret, and how often."""

import itertools
import time

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from segue.cluster.tokens import KEPT_S, kept, signer


def test_services_sign_with_the_newest_secret_and_what_those_who_verify_ask_for() -> None:
    """DPS-28: services that sign for themselves follow when a secret is changed."""
    options = AuthOptions(issuer="https://issuer.example", audience="segue")
    keys = Keys(secret=b"a" * 32)
    sign = signer(keys, options)
    for newest in (b"a" * 32, b"b" * 32):
        keys.held = keys.held._replace(secrets=(newest, b"c" * 32))
        door = Verifier(options, Keys(secret=newest), lambda: None)
        assert door.service(sign("artist"), time.time()).name == "artist"


def test_without_a_secret_nobody_signs() -> None:
    with pytest.raises(ConfigError, match=r"artist needs a secret .* auth\.secret_file"):
        signer(Keys(), AuthOptions())("artist")


def test_a_token_is_kept_for_a_while() -> None:
    now_s, numbers = 0.0, itertools.count(1)
    token = kept(lambda: f"token-{next(numbers)}", lambda: now_s)
    assert [token(), token()] == ["token-1"] * 2
    now_s = KEPT_S
    assert [token(), token()] == ["token-2"] * 2
