"""Who is online: through devices that come and go, access points and presence services that die, and several sites."""

import asyncio
from collections.abc import Callable

import msgspec

from accesspoint.options import AccessPointOptions
from infra.kernel.frames import Call, Gone, Here, Reply
from infra.kernel.link_timing import LinkTiming
from segue.cluster.role_spec import RoleOptions
from services.presence.options import PresenceOptions
from tests.support.cluster import DEADLINE_S, FAST, Cluster
from tests.support.peer import Peer
from tests.support.user import feed

DESKTOP, MOBILE = 1, 2


def knowing(*sites: str, nodes: int = 1, grace_s: float = 0.2, link: LinkTiming = FAST) -> Callable[[RoleOptions], RoleOptions]:
    """Returns a `change`: presence of these sites ask each other, and access points know all presence nodes of their site."""
    peers = {site: [f"{site}/p{n + 1}" for n in range(nodes)] for site in sites}

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, PresenceOptions):
            return msgspec.structs.replace(options, peers=peers, grace_s=grace_s, jitter_s=0.1, peer_s=0.2, link=link)
        if isinstance(options, AccessPointOptions):
            return msgspec.structs.replace(options, services={"presence": peers[options.site]})
        return options

    return change


class Asker(Peer):
    """The notification module of a site, which asks its presence who is where."""

    def __init__(self, c: Cluster, site: str = "sto") -> None:
        super().__init__(c, "notification", f"{site}/n1")
        self.cluster = c
        self.presence = f"{site}/p1"
        self.asked = 0

    async def connect(self) -> "Asker":
        """Links to presence, or links anew."""
        await self.dial(self.presence, "presence")
        return self

    async def ask(self, *users: str) -> Reply:
        self.asked += 1
        n = self.asked
        self.send(self.presence, Call(n, "notification", "", "whereabouts", msgspec.msgpack.encode(users)))
        await self.cluster.until(lambda: any(reply.n == n for reply in self.replies))
        return next(reply for reply in self.replies if reply.n == n)

    @property
    def replies(self) -> list[Reply]:
        return [frame for frame in self.heard if isinstance(frame, Reply)]

    async def whereabouts(self, *users: str) -> list[int]:
        """Returns who is online on what; what a node that has just started does not know yet is asked again."""
        while (reply := await self.ask(*users)).code:
            assert reply.code == "unavailable"
        return list(reply.body)

    async def until(self, expected: dict[str, int]) -> None:
        """Asks until everybody is where they should be."""
        async with asyncio.timeout(DEADLINE_S):
            while await self.whereabouts(*expected) != list(expected.values()):
                pass


async def test_a_user_is_online_on_each_of_his_devices_until_the_last_connection_of_its_kind_has_gone(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=knowing("sto")) as c, Asker(c) as asker:
        await asker.connect()
        assert await asker.whereabouts("ann", "bob") == [0, 0]
        async with c.user("ann", client="phone", device="mobile") as phone, c.user("bob", client="pc"):
            await asker.until({"ann": MOBILE, "bob": DESKTOP})
            async with c.user("ann", client="pc"), c.user("ann", client="pc") as tab:
                await asker.until({"ann": DESKTOP | MOBILE, "bob": DESKTOP})
                tab.kill()
                await c.until(lambda: len(c.of("accesspoint")[0].core.sessions) == 3)
                assert c.frames(Gone) == []  # the other tab is still there
                phone.kill()
                await asker.until({"ann": DESKTOP, "bob": DESKTOP})
        await asker.until({"ann": 0, "bob": 0})


async def test_who_reconnects_within_the_grace_was_never_offline(tcp: bool) -> None:
    async with Cluster(sites=1, accesspoints=2, tcp=tcp, change=knowing("sto", grace_s=60.0)) as c, Asker(c) as asker:
        await asker.connect()
        for point in (0, 1, 0):
            async with c.user("ann", point=point, client="pc"):
                await asker.until({"ann": DESKTOP})
                here, gone = len(c.frames(Here)), len(c.frames(Gone))
            await c.until(lambda gone=gone: len(c.frames(Gone)) > gone)  # type: ignore[misc]
            assert await asker.whereabouts("ann") == [DESKTOP]
        assert here == 3


async def test_clients_of_a_dead_access_point_who_come_back_stay_online_and_the_others_end(tcp: bool) -> None:
    """No ghosts after a crash, and nobody who is back is taken for offline."""
    users = [f"u{n}" for n in range(6)]
    async with Cluster(sites=1, accesspoints=2, tcp=tcp, change=knowing("sto", grace_s=0.8)) as c, Asker(c) as asker:
        await asker.connect()
        for user in users:
            await c.user(user, point=1).__aenter__()
        await asker.until(dict.fromkeys(users, DESKTOP))
        await c.crash("sto/ap2")
        assert await asker.whereabouts(*users) == [DESKTOP] * 6
        back = [await c.user(user, point=0).__aenter__() for user in users[:3]]
        expected = dict.fromkeys(users[:3], DESKTOP) | dict.fromkeys(users[3:], 0)
        while (found := await asker.whereabouts(*users)) != list(expected.values()):
            assert found[:3] == [DESKTOP] * 3
        for client in back:
            await client.__aexit__()


async def test_a_presence_service_that_crashed_is_rebuilt_and_says_nothing_wrong_meanwhile(tcp: bool) -> None:
    """Access points announce everybody when it is back; until they had time to, it does not call anybody offline."""
    slow = msgspec.structs.replace(FAST, redial_cap_s=0.5)  # so long it waits for access points
    async with Cluster(sites=1, accesspoints=2, tcp=tcp, change=knowing("sto", link=slow)) as c, Asker(c) as asker:
        await asker.connect()
        async with c.user("ann", point=0, device="mobile"), c.user("bob", point=1):
            await asker.until({"ann": MOBILE, "bob": DESKTOP})
            await c.crash("sto/p1")
            await c.until(lambda: "sto/p1" not in asker.up)
            await c.restart("sto/p1")
            await c.until(lambda: "sto/p1" in asker.up)
            assert (await asker.ask("ann", "bob")).code == "unavailable"
            await asker.until({"ann": MOBILE, "bob": DESKTOP})


async def test_users_move_between_presence_services_without_ghosts_and_without_being_missed(tcp: bool) -> None:
    """Each user is held by one node of the site, by the ring; any node answers for all."""
    users = [f"u{n}" for n in range(20)]
    c = Cluster(sites=1, tcp=tcp, change=knowing("sto", nodes=2))
    c.options["sto/p2"] = msgspec.structs.replace(c.options["sto/p1"], node="p2", listen="sto/p2")
    async with c, Asker(c) as asker:
        await asker.connect()
        connected = [await c.user(user).__aenter__() for user in users]
        everybody, nobody = dict.fromkeys(users, DESKTOP), dict.fromkeys(users, 0)
        await asker.until(everybody)
        held = [len(node.leases) for node in c.of("presence")]
        assert min(held) > 0
        assert sum(held) == 20
        await c.crash("sto/p2")
        await asker.until(everybody)
        await c.restart("sto/p2")
        await c.until(lambda: len(c.roles["sto/p2"].leases) == held[1])
        assert await asker.whereabouts(*users) == list(everybody.values())
        for client in connected:
            await client.__aexit__()
        await asker.until(nobody)


async def test_a_cut_between_an_access_point_and_presence_ends_its_leases_and_the_return_renews_them(tcp: bool) -> None:
    """Heartbeats are the renewal: a lease lives as long as they come, whatever has become of sockets and processes."""
    async with Cluster(sites=1, tcp=tcp, change=knowing("sto")) as c, Asker(c) as asker, c.user("ann"):
        await asker.connect()
        await asker.until({"ann": DESKTOP})
        c.partition("sto/ap1", "sto/p1")
        await asker.until({"ann": 0})
        c.heal()
        await asker.until({"ann": DESKTOP})


async def test_who_is_online_at_another_site_is_online_and_a_site_that_does_not_answer_is_not_waited_for(tcp: bool) -> None:
    async with Cluster(sites=3, tcp=tcp, change=knowing("sto", "lon", "ash")) as c, Asker(c) as asker:
        await asker.connect()
        async with c.user("ann", "ash", device="mobile"), c.user("ann", "lon"), c.user("bob", "ash"):
            await asker.until({"ann": DESKTOP | MOBILE, "bob": DESKTOP, "cyd": 0})
            before = c.of("presence", "sto")[0].counters()["presence_unanswered_total"]
            c.partition("sto", "ash")
            assert await asker.whereabouts("ann", "bob", "cyd") == [DESKTOP, 0, 0]
            assert c.of("presence", "sto")[0].counters()["presence_unanswered_total"] > before
            c.heal()
            await asker.until({"ann": DESKTOP | MOBILE, "bob": DESKTOP, "cyd": 0})


async def test_who_has_no_business_with_presence_is_turned_away(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp, change=knowing("sto")) as c, Asker(c) as asker:
        await asker.connect()
        await asker.until({"ann": 0})
        node, before = c.of("presence", "sto")[0], len(asker.replies)
        for op in ("dance", "whereabouts"):
            asker.send("sto/p1", Call(0, "ann", "", op, b'{"kind":"play","topics":[]}'))
        await c.until(lambda: len(asker.replies) == before + 2)
        assert [reply.code for reply in asker.replies[before:]] == ["unknown-op", "bad-field"]
        for n, wrong in enumerate((Call(0, "ann", "", "act", b"{}"), Call(0, "ann", "", "last", b"{}"), Here(["ann"], [""], [1])), 1):
            await c.until(lambda: bool(asker.node.links))
            asker.send("sto/p1", wrong)
            await c.until(lambda n=n: len(asker.lost) == n)  # type: ignore[misc]
        assert [reason.partition(":")[0] for reason in asker.lost] == ["forbidden", "forbidden", "bad-link-frame"]
        refused = node.links.refused
        for role, name in (("notification", "lon/n2"), ("aggregator", "sto/a7"), ("presence", "lon/p7")):
            async with Peer(c, role, name) as stranger:
                stranger.node.dial("sto/p1", "presence", "sto")
                await c.until(lambda refused=refused: node.links.refused > refused)  # type: ignore[misc]
                refused = node.links.refused
        assert len(node.leases) == 0


async def test_no_presence_event_ever_reaches_the_notification_module(tcp: bool) -> None:
    """SB-30: what users do is published, kept for `last` and goes nowhere else."""

    def change(options: RoleOptions) -> RoleOptions:
        options = knowing("sto")(options)
        if isinstance(options, AccessPointOptions):
            return msgspec.structs.replace(options, services=options.services | {"notification": ["sto/n1"]})
        return options

    def answer(call: Call) -> bytes:
        return b'{"op":"notifications","id":null,"items":[]}'

    async with Cluster(sites=1, tcp=tcp, change=change) as c, Peer(c, "notification", "sto/n1", answer) as stored:
        await c.until(lambda: c.of("accesspoint")[0].core.calls.has("notification"))
        async with c.user("ann") as ann, c.user("bob") as bob:
            await bob.follow("ann")
            assert (await ann.ask("act", kind="play", track="a secret track"))["op"] == "ok"
            await bob.heard(1)
            (event,) = (await bob.ask("last", topics=[feed("ann")]))["events"]
            assert event["payload"] == {"track": "a secret track"}
            await c.until(lambda: len(stored.of(Call)) == 2)
            assert {call.op for call in stored.of(Call) if isinstance(call, Call)} == {"pull"}
        to_notification = [each.frame for each in c.plan.log if each.target == "sto/n1"]
        assert to_notification
        assert not any(b"secret" in msgspec.msgpack.encode(frame) for frame in to_notification)
