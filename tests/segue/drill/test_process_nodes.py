"""The nodes of a drill as real processes."""

import msgspec
import pytest

from segue.demo.until import until
from segue.drill.nodes import SHAPE
from segue.drill.process_nodes import ProcessNodes

TINY = msgspec.structs.replace(SHAPE, sites=SHAPE.sites[:1], brokers=1, aggregators=1, accesspoints=1)


@pytest.mark.slow
async def test_processes_are_killed_stopped_held_up_and_started_again_at_their_doors() -> None:
    async with ProcessNodes(TINY) as nodes:
        await nodes.ready()
        assert nodes.names() == ["sto/b1", "sto/a1", "sto/ap1"]
        doors = nodes.doors("broker", "sto")
        await nodes.kill("sto/b1")
        await nodes.stop("sto/a1")
        assert nodes.names() == ["sto/ap1"]
        assert nodes.doors("broker", "sto") == []
        for name in ("sto/b1", "sto/a1"):
            await nodes.start(name)
        nodes.hang("sto/ap1")
        nodes.go_on("sto/ap1")
        await nodes.ready()
        assert nodes.doors("broker", "sto") == doors
        nodes.hang("sto/ap1")  # leaving ends it all the same


@pytest.mark.slow
@pytest.mark.parametrize("has_tls", [False, True])
async def test_links_of_processes_are_cut_and_healed_also_where_they_are_encrypted(has_tls: bool) -> None:
    """DPS-32: an access point that hears nothing of its only aggregator is not ready, until it does."""
    async with ProcessNodes(TINY, has_tls=has_tls) as nodes:
        await nodes.ready()
        nodes.cut("sto/a1", "sto/ap1")

        async def is_down() -> bool:
            return await nodes.unready() == ["sto/ap1"]

        assert await until(is_down, 30.0)
        nodes.heal()
        await nodes.ready()
