"""The key pair that push services know us by."""

from base64 import urlsafe_b64decode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from infra.kernel.errors import ConfigError
from notification.vapid import FILE_NAME, Vapid
from tests.support.signing import rsa_key


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def keep(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / FILE_NAME
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_the_first_use_makes_a_pair_that_only_its_owner_can_read_and_later_ones_find_it(tmp_path: Path) -> None:
    state_dir = tmp_path / "new" / "state"
    first = Vapid.ensure(state_dir)
    assert (state_dir / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert Vapid.ensure(state_dir).public_key == first.public_key
    assert [path.name for path in state_dir.iterdir()] == [FILE_NAME]


def test_the_public_key_has_the_form_that_browsers_want(tmp_path: Path) -> None:
    key = Vapid.ensure(tmp_path).public_key
    assert len(key) == 87
    point = urlsafe_b64decode(key + "=")
    assert (len(point), point[0]) == (65, 4)


@pytest.mark.parametrize(
    "content",
    [b"", b"nothing", pem(rsa_key()), pem(ec.generate_private_key(ec.SECP384R1())), pem(ec.generate_private_key(ec.SECP256R1()))[:60]],
    ids=["empty", "text", "rsa", "p-384", "cut"],
)
def test_what_is_no_p_256_key_is_never_replaced_but_refused(content: bytes, tmp_path: Path) -> None:
    path = keep(tmp_path, content)
    with pytest.raises(ConfigError, match="holds no P-256 private key"):
        Vapid.ensure(tmp_path)
    assert path.read_bytes() == content


def test_a_key_that_everybody_can_read_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, pem(ec.generate_private_key(ec.SECP256R1())), 0o644)
    with pytest.raises(ConfigError, match=r"mode 644.*chmod 600"):
        Vapid.ensure(tmp_path)


def test_a_state_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match=r"cannot be used: .*choose another state directory"):
        Vapid.ensure(tmp_path / "file")
