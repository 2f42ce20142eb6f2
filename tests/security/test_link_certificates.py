"""Links by certificates: forged ones, those of others, those that have ended, and their renewal (DPS-24)."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from infra.kernel.errors import ConfigError
from infra.kernel.frames import Deliver, Subscribe
from infra.kernel.link_handshake import node_name
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions
from tests.security.test_link_auth import HELLO, Guarded, Stranger, until
from tests.support.certificate_folder import CertificateFolder
from tests.support.open_sockets import open_sockets

LONG_AGO_S = 1_600_000_000.0


@pytest.fixture
async def nodes() -> AsyncIterator[Callable[..., Any]]:
    """Makes nodes that are closed in the end."""
    everyone: list[Guarded] = []
    before = open_sockets()

    async def make(role: str, name: str, options: LinkAuthOptions, *, listens: bool = False) -> Guarded:
        everyone.append(Guarded(role, name, LinkAuth(options)))
        if listens:
            everyone[-1].address = await everyone[-1].node.listen("127.0.0.1:0")
        return everyone[-1]

    yield make
    # Whoever calls is closed first: asyncio leaves the socket open of a caller whom it accepts in the turn in which the server closes.
    for each in reversed(everyone):
        await each.node.close()
    await until(lambda: open_sockets() <= before)  # a goodbye of TLS takes its time, and a loop that ends would leave it open


def shown(folder: CertificateFolder, files: tuple[Path, Path], authority: Path | None = None) -> LinkAuthOptions:
    certificate, key = files
    trusted = authority or folder.path / "authority.crt"
    return LinkAuthOptions(mode="tls", certificate=certificate, key=key, authority=trusted)


async def test_nodes_with_certificates_are_linked_and_talk(nodes: Callable[..., Any]) -> None:
    """DPS-24: both sides show one, and both are checked."""
    folder = CertificateFolder()
    broker = await nodes("broker", "b1", folder.options("sto", "broker", "b1"), listens=True)
    aggregator = await nodes("aggregator", "a1", folder.options("sto", "aggregator", "a1"))
    aggregator.node.dial(broker.address, "broker", "sto")
    await until(lambda: broker.up and aggregator.up)
    aggregator.up[0].send(Subscribe(1, [], []))
    broker.up[0].send(Deliver([1], [b"{}"]))
    await until(lambda: broker.got and aggregator.got)


@pytest.mark.parametrize(
    "name", [node_name("sto", "presence", "a1"), node_name("lon", "aggregator", "a1"), node_name("sto", "aggregator", "a2")]
)
async def test_a_certificate_of_another_node_opens_nothing(nodes: Callable[..., Any], name: str) -> None:
    """DPS-24: swapped roles, another site, another name."""
    folder = CertificateFolder()
    broker = await nodes("broker", "b1", folder.options("sto", "broker", "b1"), listens=True)
    liar = await nodes("aggregator", "a1", shown(folder, folder.issue("liar", name)))
    liar.node.dial(broker.address, "broker", "sto")
    await until(liar.reasons)
    assert f"its certificate names {name}" in liar.reasons()[0]
    assert (broker.up, broker.node.refused > 0) == ([], True)


async def test_whoever_was_called_must_be_the_one_too(nodes: Callable[..., Any]) -> None:
    """DPS-24: a presence node that listens at a broker's address, with its own good certificate, gets no link."""
    folder = CertificateFolder()
    liar = await nodes("broker", "b1", folder.options("sto", "presence", "p1"), listens=True)
    caller = await nodes("aggregator", "a1", folder.options("sto", "aggregator", "a1"))
    caller.node.dial(liar.address, "broker", "sto")
    await until(caller.reasons)
    assert "link-not-proved" in caller.reasons()[0]
    assert caller.up == []


FLAWS = {
    "foreign": ("unable to get local issuer certificate", "unknown ca"),
    "ended": ("certificate has expired", "certificate expired"),
}


def flawed(flaw: str, role: str, node: str) -> tuple[CertificateFolder, CertificateFolder, LinkAuthOptions]:
    """Returns the folder of good certificates and a foreign one, which somebody must keep, and what a node with a bad one has."""
    folder, other = CertificateFolder(), CertificateFolder("Segue test")
    name = node_name("sto", role, node)
    files = other.issue(node, name) if flaw == "foreign" else folder.issue(node, name, days=1, now_s=LONG_AGO_S)
    return folder, other, shown(folder, files)


def refusals(logs: list[Any]) -> set[str]:
    return {line["reason"] for line in logs if line["event"] == "link refused"}


@pytest.mark.parametrize("flaw", FLAWS)
async def test_a_certificate_that_nobody_may_believe_ends_the_handshake_and_both_sides_say_why(
    nodes: Callable[..., Any], flaw: str
) -> None:
    """DPS-24: of a foreign authority with the right names, or one that has ended. Who was called said "garbled"."""
    folder, _other, options = flawed(flaw, "aggregator", "a1")
    broker = await nodes("broker", "b1", folder.options("sto", "broker", "b1"), listens=True)
    liar = await nodes("aggregator", "a1", options)
    with capture_logs() as logs:
        liar.node.dial(broker.address, "broker", "sto")
        await until(lambda: liar.reasons() and refusals(logs))
    ours, theirs = FLAWS[flaw]
    assert (broker.up, liar.up) == ([], [])
    assert refusals(logs) == {f"untrusted: its certificate is not believed: {ours}"}
    assert liar.reasons()[0] == f"our certificate is not believed there: {theirs}"


@pytest.mark.parametrize("flaw", FLAWS)
async def test_who_was_called_with_such_a_certificate_hears_why_too(nodes: Callable[..., Any], flaw: str) -> None:
    """DPS-24."""
    folder, _other, options = flawed(flaw, "broker", "b1")
    liar = await nodes("broker", "b1", options, listens=True)
    caller = await nodes("aggregator", "a1", folder.options("sto", "aggregator", "a1"))
    with capture_logs() as logs:
        caller.node.dial(liar.address, "broker", "sto")
        await until(lambda: caller.reasons() and refusals(logs))
    ours, theirs = FLAWS[flaw]
    assert (caller.up, liar.up) == ([], [])
    assert caller.reasons()[0] == f"its certificate is not believed: {ours}"
    assert refusals(logs) == {f"distrusted: our certificate is not believed there: {theirs}"}


async def test_plain_on_tls_and_tls_on_plain_get_nowhere(nodes: Callable[..., Any]) -> None:
    """DPS-24: no downgrade from either side."""
    folder = CertificateFolder()
    broker = await nodes("broker", "b1", folder.options("sto", "broker", "b1"), listens=True)
    stranger = (await Stranger.at(broker.address)).say(HELLO)
    with suppress(ConnectionError):
        assert await stranger.hear() is None
    stranger.writer.close()
    plain = await nodes("broker", "b2", LinkAuthOptions(mode="open"), listens=True)
    caller = await nodes("aggregator", "a1", folder.options("sto", "aggregator", "a1"))
    caller.node.dial(plain.address, "broker", "sto")
    await until(caller.reasons)
    assert (broker.up, plain.up, caller.up) == ([], [], [])


async def test_certificates_and_authority_are_renewed_while_links_stand(nodes: Callable[..., Any]) -> None:
    """DPS-24: after a reload the old authority is believed no more, and links that stand are not touched."""
    folder, other = CertificateFolder(), CertificateFolder("Another")
    options = folder.options("sto", "broker", "b1")
    auth = LinkAuth(options)
    broker = Guarded("broker", "b1", auth)
    address = await broker.node.listen("127.0.0.1:0")
    before = await nodes("aggregator", "a1", folder.options("sto", "aggregator", "a1"))
    before.node.dial(address, "broker", "sto")
    await until(lambda: broker.up)
    files = other.issue("b1", node_name("sto", "broker", "b1"))
    for new, old in zip((*files, other.path / "authority.crt"), (options.certificate, options.key, options.authority), strict=True):
        assert old is not None
        old.write_bytes(new.read_bytes())
    auth.reload()
    after = await nodes("aggregator", "a2", other.options("sto", "aggregator", "a2"))
    after.node.dial(address, "broker", "sto")
    await until(lambda: len(broker.up) == 2)
    late = await nodes("aggregator", "a3", shown(other, folder.issue("late", node_name("sto", "aggregator", "a3"))))
    late.node.dial(address, "broker", "sto")
    await until(late.reasons)
    assert [link.peer.node for link in broker.up] == ["a1", "a2"]
    assert auth.tls is not None
    assert options.certificate is not None
    options.certificate.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match="link_auth"):
        auth.reload()
    assert auth.tls.expires_s > time.time()
    await broker.node.close()
