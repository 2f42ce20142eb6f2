"""Certificates of one authority for the nodes of a test, made when they are asked for first."""

import tempfile
import time
from pathlib import Path
from weakref import finalize

from infra.kernel.link_handshake import node_name
from infra.runtime.certificates import KeyPair, issue_certificate, make_authority
from infra.runtime.link_auth import LinkAuthOptions


class CertificateFolder:
    """A folder with the certificates of one authority, which is gone when nobody has this any more."""

    def __init__(self, name: str = "Segue test") -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name)
        finalize(self, self._folder.cleanup)
        self.authority: KeyPair = make_authority(name, time.time())
        self.authority.write(self.path / "authority.crt", self.path / "authority.key")

    def issue(self, name: str, *names: str, days: int = 30, now_s: float | None = None) -> tuple[Path, Path]:
        """Returns the files `name`.crt and `name`.key with a certificate for `names`; the same again for the same name."""
        certificate, key = self.path / f"{name}.crt", self.path / f"{name}.key"
        if not certificate.exists():
            issue_certificate(names, self.authority, time.time() if now_s is None else now_s, days=days).write(certificate, key)
        return certificate, key

    def options(self, site: str, role: str, node: str) -> LinkAuthOptions:
        """Returns the options of a node of these names, whose links are proved by certificates."""
        certificate, key = self.issue(f"{site}-{role}-{node}", node_name(site, role, node))
        return LinkAuthOptions(mode="tls", certificate=certificate, key=key, authority=self.path / "authority.crt")
