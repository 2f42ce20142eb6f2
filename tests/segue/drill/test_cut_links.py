"""Links that are cut."""

import asyncio

import pytest

from infra.kernel.frames import AnyFrame, Bye, Frame
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.wire import Wire
from segue.drill.cut_links import CutLinks
from tests.support.eventually import eventually


async def linked(links: CutLinks) -> tuple[Wire, list[str], Wire, list[str]]:
    """Returns the ends of a wire that "sto/a" has dialled to "lon/b", and what each hears; "lost" in the end."""
    accepted: list[Wire] = []
    await links.of("lon/b").listen("lon/b", accepted.append)
    here = await links.of("sto/a").dial("lon/b")
    heard: list[list[str]] = [[], []]

    def begin(wire: Wire, said: list[str]) -> None:
        def take(frames: list[AnyFrame]) -> None:
            said.extend(str(frame.reason) for frame in frames if isinstance(frame, Bye))

        wire.start(take, lambda reason: said.append("lost"))

    begin(here, heard[0])
    begin(accepted[0], heard[1])
    return here, heard[0], accepted[0], heard[1]


def word(text: str) -> list[Frame]:
    return [Bye(1, text)]


@pytest.mark.parametrize("pair", [("sto", "lon"), ("lon/b", "sto/a")])
async def test_what_is_sent_during_a_cut_arrives_after_it_in_order(pair: tuple[str, str]) -> None:
    links = CutLinks(MemoryNetwork())
    here, at_home, there, abroad = await linked(links)
    here.send(word("before"))
    links.cuts.part(*pair)
    here.send(word("during"))
    there.send(word("back"))
    await asyncio.sleep(0)
    assert (abroad, at_home) == (["before"], [])
    assert here.queued_bytes > 0
    with pytest.raises(OSError, match="cannot be reached"):
        await links.of("sto/a").dial("lon/b")
    links.heal()
    await asyncio.sleep(0)
    assert (abroad, at_home, here.queued_bytes) == (["before", "during"], ["back"], 0)


async def test_the_wires_of_a_node_break_without_a_word() -> None:
    links = CutLinks(MemoryNetwork())
    here, at_home, _, abroad = await linked(links)
    here.trust()
    assert here.far_end.is_local
    links.abort("lon/b")
    await eventually(lambda: at_home and abroad)
    assert (at_home, abroad) == (["lost"], ["lost"])
    links.abort("lon/b")
