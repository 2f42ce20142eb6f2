"""`segue webhooks`, against a real notification module and a real endpoint."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.runtime.outgoing.options import OutgoingOptions
from segue.cli.command_line import cli
from tests.support.cluster import Cluster
from tests.support.webhook_receiver import WebhookReceiver, is_signed


@pytest.fixture
async def c(state: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=state / "store", outgoing=OutgoingOptions(private=["127.0.0.1"])) as c:
        yield c


async def test_an_endpoint_is_added_tested_and_removed(c: Cluster, state: Path) -> None:
    where = ("--user", "ann", "--url", f"http://{c.of('notification')[0].address}", "--state", str(state))

    async def run(*arguments: str, code: int = 0) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, cli, ["webhooks", *arguments, *where])
        assert result.exit_code == code, result.output
        return result.output

    async with WebhookReceiver() as receiver:
        webhook_id, secret = (await run("add", receiver.url)).split()
        assert await run("list") == f"{webhook_id} {receiver.url}\n"
        assert await run("test", webhook_id) == "delivered: 127.0.0.1 answers 204\n"
        assert is_signed(secret, *receiver.messages[0])
        rotated = (await run("rotate", webhook_id)).strip()
        receiver.answers = [500]
        assert await run("test", webhook_id, code=1) == "retry: 127.0.0.1 answers 500\n"
        assert is_signed(rotated, *receiver.messages[1])
        assert is_signed(secret, *receiver.messages[1])
    assert await run("remove", webhook_id) == "nothing more is posted there\n"
    assert await run("list") == ""
    assert "you have no such webhook" in await run("test", webhook_id, code=1)
    assert "is not on the public internet" in await run("add", "https://10.0.0.1/", code=1)
