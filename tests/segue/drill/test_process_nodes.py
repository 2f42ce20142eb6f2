"""The nodes of a drill as real processes."""

import random

import msgspec
import pytest

from segue.drill.nodes import SHAPE
from segue.drill.process_nodes import ProcessNodes

TINY = msgspec.structs.replace(SHAPE, sites=SHAPE.sites[:1], brokers=1, aggregators=1, accesspoints=1)


@pytest.mark.slow
async def test_processes_are_killed_stopped_held_up_and_started_again_at_their_doors() -> None:
    async with ProcessNodes(random.Random(1), TINY) as nodes:
        await nodes.ready()
        assert nodes.names() == ["sto/b1", "sto/a1", "sto/ap1"]
        doors = nodes.doors("broker", "sto")
        await nodes.kill("sto/b1")
        await nodes.stop("sto/a1")
        assert nodes.names() == ["sto/ap1"]
        for name in ("sto/b1", "sto/a1"):
            await nodes.start(name)
        nodes.hang("sto/ap1")
        nodes.go_on("sto/ap1")
        await nodes.ready()
        assert nodes.doors("broker", "sto") == doors
        nodes.heal()
        with pytest.raises(NotImplementedError, match="without --processes"):
            nodes.cut("sto/b1", "sto/a1")
        with pytest.raises(NotImplementedError, match="without --processes"):
            nodes.clock("sto/b1", 5.0)
        nodes.hang("sto/ap1")  # leaving ends it all the same
