"""How the processes of a fleet prove their links."""

from pathlib import Path

import msgspec
import pytest

from aggregator.options import AggregatorOptions
from infra.kernel.errors import ConfigError
from infra.runtime.certificates import certificate_facts
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions
from segue.cluster.link_files import link_auth, make_link_authority, make_link_secret

AGGREGATOR = AggregatorOptions(site="sto", node="a1", brokers={}, listen="sto/a1")


def test_without_files_links_are_open_and_with_a_secret_they_are_proved_by_it(tmp_path: Path) -> None:
    assert link_auth(tmp_path, AGGREGATOR) == {}
    make_link_secret(tmp_path)
    assert link_auth(tmp_path, AGGREGATOR)["mode"] == "secret"


def test_where_there_is_an_authority_everybody_has_a_certificate_of_their_own_and_keeps_it(tmp_path: Path) -> None:
    make_link_secret(tmp_path)
    make_link_authority(tmp_path)
    table = link_auth(tmp_path, AGGREGATOR)
    made = Path(table["certificate"]).read_bytes()
    assert link_auth(tmp_path, AGGREGATOR) == table
    assert Path(table["certificate"]).read_bytes() == made
    assert "segue://sto/aggregator/a1" in certificate_facts(made).names
    LinkAuth(msgspec.convert(table, LinkAuthOptions, strict=False, dec_hook=lambda kind, value: kind(value)))  # which believes it
    with pytest.raises(ConfigError, match="never overwritten"):
        make_link_authority(tmp_path)
