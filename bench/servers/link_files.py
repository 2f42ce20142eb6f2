"""What proves the links of servers that are measured: a secret, or one certificate that names all their nodes."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from infra.runtime.certificates import issue_certificate, make_authority
from infra.runtime.secret_file import create_secret

Proved = Literal["open", "secret", "tls"]


class LinkCertificate(NamedTuple):
    """Files: a certificate, its key, and whom to believe."""

    certificate: Path
    key: Path
    authority: Path


def link_certificate(folder: Path, names: Sequence[str]) -> LinkCertificate:
    """Returns a certificate for the nodes of these `names` in `folder`, which the first call makes."""
    files = LinkCertificate(*(folder / name for name in ("node.crt", "node.key", "links.crt")))
    if not files.authority.exists():
        now_s = time.time()
        authority = make_authority("Segue bench", now_s)
        issue_certificate(names, authority, now_s).write(files.certificate, files.key)
        files.authority.write_bytes(authority.certificate)
    return files


def link_auth(folder: Path, mode: Proved, names: Sequence[str]) -> str:
    """Returns the table `[link_auth]` of a configuration file.

    - `folder`: where the files are made that it names.
    - `mode`: how links are proved.
    - `names`: of all nodes that have the file (see `node_name`).
    """
    match mode:
        case "tls":
            files = link_certificate(folder, names)
            more = f'certificate = "{files.certificate}"\nkey = "{files.key}"\nauthority = "{files.authority}"\n'
        case "secret":
            create_secret(folder / "link.key")
            more = f'secret_files = ["{folder / "link.key"}"]\n'
        case _:
            more = ""
    return f'\n[link_auth]\nmode = "{mode}"\n{more}'
