"""How the processes of a fleet prove their links: files in the folder of their configurations."""

import time
from pathlib import Path
from typing import Any, Final

from infra.kernel.link_handshake import node_name
from infra.runtime.certificates import KeyPair, issue_certificate, make_authority
from infra.runtime.secret_file import create_secret

from .role_spec import RoleOptions
from .roles import role_of

LINK_SECRET: Final = "link.key"  # noqa: S105 - the name of a file
_AUTHORITY: Final = ("link-authority.crt", "link-authority.key")


def make_link_secret(folder: Path) -> None:
    """Makes the secret by which processes with configurations in `folder` prove their links. Raises OSError."""
    create_secret(folder / LINK_SECRET)


def make_link_authority(folder: Path) -> None:
    """Makes what issues certificates to processes with configurations in `folder`: their links are encrypted. Raises ConfigError."""
    certificate, key = _AUTHORITY
    make_authority("Segue links", time.time()).write(folder / certificate, folder / key)


def link_auth(folder: Path, options: RoleOptions) -> dict[str, Any]:
    """Returns the table `[link_auth]` of the process that `options` are for; empty where `folder` has neither an authority nor a secret.

    Where there is an authority, it has a certificate issued, unless there is one. Raises ConfigError.
    """
    authority, authority_key = (folder / name for name in _AUTHORITY)
    if authority.exists():
        certificate, key = (folder / f"{options.site}-{options.node}.{end}" for end in ("crt", "key"))
        if not certificate.exists():
            names = [node_name(options.site, role_of(options), options.node)]
            issue_certificate(names, KeyPair.read(authority, authority_key), time.time()).write(certificate, key)
        return {"mode": "tls", "certificate": str(certificate), "key": str(key), "authority": str(authority)}
    secret = folder / LINK_SECRET
    return {"mode": "secret", "secret_files": [str(secret)]} if secret.exists() else {}
