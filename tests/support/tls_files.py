"""Certificates in files: an authority for one test, and the pairs that it issues."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from infra.runtime.certificate_end import DAY_S
from infra.runtime.certificates import KeyPair, issue_certificate, make_authority
from infra.runtime.tls.contexts import TlsOptions

LOCAL: Final = ("localhost", "127.0.0.1", "::1")


class TestAuthority:
    """An authority in `folder`. `ca_file` is what clients are given that shall believe it."""

    __test__ = False

    def __init__(self, folder: Path, name: str = "Segue test") -> None:
        self._folder, self._name = folder, name.replace(" ", "-")
        # It is older than anything that it issues, also what has expired since.
        self._pair = make_authority(name, time.time() - 1_000 * DAY_S)
        self.ca_file = folder / f"{self._name}-ca.pem"
        self.ca_file.write_bytes(self._pair.certificate)
        self._issued = 0

    def issue(self, names: Sequence[str] = LOCAL, *, days: int = 30, age_days: float = 1) -> KeyPair:
        """Returns a new pair for `names`, which was issued `age_days` ago for `days`."""
        return issue_certificate(names, self._pair, time.time() - age_days * DAY_S, days=days)

    def options(self, pair: KeyPair | None = None, **others: Any) -> TlsOptions:
        """Returns options whose files hold `pair`, a new one for this machine if none is given, and the `others`."""
        self._issued += 1
        certificate, key = (self._folder / f"{self._name}-{self._issued}-{what}.pem" for what in ("door", "key"))
        (pair or self.issue()).write(certificate, key)
        return TlsOptions(certificate=certificate, key=key, **others)

    @staticmethod
    def renew(options: TlsOptions, pair: KeyPair) -> None:
        """Puts `pair` in the place of the files of `options`."""
        assert options.certificate is not None
        assert options.key is not None
        options.certificate.write_bytes(pair.certificate)
        options.key.write_bytes(pair.key)
