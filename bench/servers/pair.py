"""The certificate of all servers that are measured over TLS: on P-256, as most are today."""

import time
from pathlib import Path
from typing import NamedTuple

from infra.runtime.certificates import KeyPair, issue_certificate, make_authority

from ..setting import BenchSetting


class BenchPair(NamedTuple):
    """Files: a certificate for this machine, its key, and whom to believe."""

    certificate: Path
    key: Path
    ca_file: Path


def bench_pair(setting: BenchSetting) -> BenchPair:
    """Returns the pair in the scratch folder of `setting`, which the first call makes."""
    pair = BenchPair(*(setting.scratch / name for name in ("door.crt", "door.key", "authority.crt")))
    if not pair.ca_file.exists():
        now_s = time.time()
        authority: KeyPair = make_authority("Segue bench", now_s)
        issue_certificate(["localhost", "127.0.0.1"], authority, now_s).write(pair.certificate, pair.key)
        pair.ca_file.write_bytes(authority.certificate)
    return pair
