"""bench.servers.link_files: what the servers that are measured write about their links can be read by them, and proves all of them."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from bench.servers.link_files import Proved, link_auth
from bench.servers.segue import NODES
from infra.runtime.certificates import certificate_facts
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions


@pytest.mark.parametrize("mode", ["open", "secret", "tls"])
def test_the_table_is_one_with_which_links_are_proved(mode: Proved, tmp_path: Path) -> None:
    for _ in range(2):  # files that are there stay
        document = tomllib.loads(link_auth(tmp_path, mode, NODES))
    options = msgspec.convert(document["link_auth"], LinkAuthOptions, dec_hook=lambda kind, value: kind(value))
    auth = LinkAuth(options)
    assert (options.mode, auth.tls is not None) == (mode, mode == "tls")
    if options.certificate is not None:
        assert set(certificate_facts(options.certificate.read_bytes()).names) == set(NODES)
