"""Callers who have not shown yet who they are: they are linked, or told why not (`Reception`)."""

import pytest

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.kernel.frames import Bye, Hello, Published
from infra.runtime.wire.wire import Network
from tests.support.parties import QUICK, Make, answer, hello, stranger, until
from tests.support.wire_end import End


async def test_who_has_no_business_here_is_told_so(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    called.role.refuse = "admit"
    peer = await stranger(network, called, hello())
    assert await answer(peer) == Bye(BY_NAME["forbidden"].number, "not here")
    await peer.until_lost()
    assert (called.role.up, called.node.refused) == ([], 1)
    caller = make("b2").dial(called)
    await until(lambda: caller.log.of("peer unreachable"))
    assert caller.log.of("peer unreachable")[0]["reason"] == "forbidden: not here"


async def test_another_version_is_refused_by_whoever_sees_it(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    assert await answer(await stranger(network, called, hello(version=2))) == Bye(4401, "we speak version 1, the peer 2")
    ends: list[End] = []
    listener = await network.listen("127.0.0.1:0", lambda wire: ends.append(End(wire).start()))
    caller = make("b2")
    caller.node.dial(listener.address, "broker", "sto")
    await until(lambda: ends and ends[0].frames)
    ends[0].wire.send([hello(version=2)])
    assert (await ends[0].until_heard(2))[1] == Bye(4401, "we speak version 1, the peer 2")
    assert caller.role.up == []
    await listener.close()


async def test_a_caller_that_never_says_hello_is_turned_away(network: Network, make: Make) -> None:
    called = await make("b1", timing=QUICK).listen()
    mute = await stranger(network, called)
    assert await answer(mute) == Bye(BY_NAME["hello-timeout"].number, "no hello within 0.2 s")
    await mute.until_lost()
    assert (called.role.up, called.node.refused) == ([], 1)


async def test_a_caller_that_leaves_before_its_hello_leaves_a_line_in_the_log(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    (await stranger(network, called)).wire.close()
    await until(lambda: called.log.of("peer left before its hello"))
    assert called.node.refused == 0


async def test_who_does_not_begin_with_hello_is_refused(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    bye = await answer(await stranger(network, called, Published(1)))
    assert bye == Bye(BY_NAME["bad-link-frame"].number, "the next frame of the handshake must be Hello, not Published")
    assert called.role.up == []


async def test_who_comes_back_needs_no_room_beside_their_old_link(network: Network, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A role that is full would otherwise refuse everybody whose old link has not been found dead yet."""
    called = await make("b1").listen()

    def admit(hello: Hello) -> None:
        if called.role.links:
            raise Refused("overloaded")

    monkeypatch.setattr(called.role, "admit", admit)
    await stranger(network, called, hello(incarnation=7))
    await until(lambda: called.role.links)
    again = await stranger(network, called, hello(incarnation=7))
    await until(lambda: len(called.role.up) == 2)
    assert isinstance(await answer(again), Hello)
    other = await stranger(network, called, hello("b3"))
    said = await answer(other)
    assert isinstance(said, Bye)
    assert said.number == BY_NAME["overloaded"].number
