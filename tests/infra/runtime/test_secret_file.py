"""infra.runtime.secret_file: secrets are made once, read by their owner alone, and changed without a gap."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.secret_file import ensure_secret, forget_previous, read_secret, renew_secret
from tests.support.signing import jwk, jwks, rsa_key


def write(path: Path, data: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_a_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "a" / "b"
    path = ensure_secret(state)
    secret = read_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert state.stat().st_mode & 0o077 == 0
    assert len(secret) == 64
    assert read_secret(ensure_secret(state)) == secret
    assert list(state.iterdir()) == [path]
    assert read_secret(ensure_secret(tmp_path / "other")) != secret


def test_starters_that_meet_agree_on_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(ensure_secret, [tmp_path] * 16))
    assert len({read_secret(path) for path in paths}) == 1
    assert list(tmp_path.iterdir()) == [paths[0]]


def test_a_state_directory_that_cannot_be_used_is_refused_with_the_option(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be used: .*--state DIR"):
        ensure_secret(write(tmp_path / "file", b""))


def test_a_secret_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = ensure_secret(tmp_path)
    path.chmod(0o644)
    with pytest.raises(ConfigError, match=rf"mode 644\); run: chmod 600 {path}"):
        ensure_secret(tmp_path)


def test_a_short_or_missing_secret_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s", b"x" * 31 + b"\n")
    with pytest.raises(ConfigError, match="holds 31 bytes; a secret needs at least 32"):
        read_secret(path)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_secret(tmp_path / "none")


def test_a_public_key_is_no_secret(tmp_path: Path) -> None:
    path = write(tmp_path / "s", jwks(jwk("k1", rsa_key())))
    with pytest.raises(ConfigError, match=r"not a secret; public keys go into auth\.jwks_file"):
        read_secret(path)


def test_a_renewed_secret_keeps_the_one_before_it_for_its_owner_alone(tmp_path: Path) -> None:
    """DPS-28: two secrets at once."""
    path, previous = ensure_secret(tmp_path), tmp_path / "secret.previous.key"
    first = read_secret(path)
    renew_secret(tmp_path)
    second = read_secret(path)
    assert (read_secret(previous), second != first, len(second)) == (first, True, 64)
    renew_secret(tmp_path)
    assert read_secret(previous) == second
    assert {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {"secret.key": 0o600, "secret.previous.key": 0o600}


def test_the_previous_secret_is_forgotten_once(tmp_path: Path) -> None:
    path = ensure_secret(tmp_path)
    assert not forget_previous(tmp_path)
    renew_secret(tmp_path)
    assert forget_previous(tmp_path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_without_a_secret_gets_none_by_renewing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        renew_secret(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_who_renew_at_once_do_not_mix_their_secrets(tmp_path: Path) -> None:
    path = ensure_secret(tmp_path)
    first = read_secret(path)
    following = write(tmp_path / "secret.next.key", b"somebody else's")
    with pytest.raises(ConfigError, match=rf"being changed by somebody else; if that is not so, remove {following}"):
        renew_secret(tmp_path)
    assert read_secret(path) == first
