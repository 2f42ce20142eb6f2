"""The load of a drill: followers at every access point of every site, and services that publish all the time."""

import asyncio
import random
import time
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, Final, Self

from infra.kernel.backoff import Backoff
from infra.kernel.ring import Ring
from infra.kernel.roles import NOTIFICATION, PRESENCE
from infra.runtime.ending import end_tasks
from infra.runtime.issuing import issue
from segue.demo.until import until
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import SegueError
from segue.sdk.messages import Gap, Installed
from segue.sdk.position_file import PositionFile
from segue.sdk.publisher import Publisher, PublisherOptions

from .ledger import Arrival, DrillLedger
from .nodes import DrillNodes
from .tellings import DueTelling, Telling
from .travellers import DrillTravellers

# Kinds of topics: of users nothing is kept here, of playlists the last events are, and of artists an heir has them, too (`nodes.COPIES`).
NO_WINDOW: Final = "no window"
WINDOW: Final = "window"
COPIED: Final = "copies = 1"
KINDS: Final = (NO_WINDOW, WINDOW, COPIED)
# Of these somebody who was away may want what they missed.
KEPT_KINDS: Final = (WINDOW, COPIED)
TOPICS: Final = {
    NO_WINDOW: tuple(f"hm://presence/user/u{n}/" for n in range(6)),
    WINDOW: tuple(f"hm://playlist/user/u{n}/playlist/p/" for n in range(6)),
    COPIED: tuple(f"hm://notifications/feed/a{n}%new-album/" for n in range(6)),
}
# Who publishes on them.
SERVICES: Final = {NO_WINDOW: PRESENCE, WINDOW: NOTIFICATION, COPIED: NOTIFICATION}
KIND_OF: Final = {topic: kind for kind, topics in TOPICS.items() for topic in topics}
# Each follower follows so many topics of each kind; at each site there are so many followers for each access point.
FOLLOWS: Final = 3
FOLLOWERS: Final = 2
EVERY_S: Final = 0.15
# Tokens outlive a clock that is an hour off.
TOKEN_S: Final = 86_400.0


class DrillLoad:
    """The load on `nodes`: `async with DrillLoad(nodes, sites, rng) as load:`. `ledgers` are what came of it, by kind.

    With `travels` a follower of each site, who follows topics of which something is kept, can be sent away (`travellers`).
    Services do not repeat what no broker takes: it counts as refused, and the next broker gets the next event.
    """

    def __init__(self, nodes: DrillNodes, sites: tuple[str, ...], rng: random.Random, *, travels: bool = False) -> None:
        self._nodes, self._sites, self._rng = nodes, sites, rng
        names = [
            f"{site}-{point}-{n}" for site in sites for point in range(len(nodes.doors("accesspoint", site))) for n in range(FOLLOWERS)
        ]
        follows = {kind: {name: frozenset(rng.sample(topics, FOLLOWS)) for name in names} for kind, topics in TOPICS.items()}
        self._follows = {name: sorted(topic for each in follows.values() for topic in each[name]) for name in names}
        away = [f"{site}-traveller" for site in sites] if travels else []
        for kind in KEPT_KINDS:
            follows[kind] |= {name: frozenset(rng.sample(TOPICS[kind], FOLLOWS)) for name in away}
        self.ledgers = {kind: DrillLedger(each) for kind, each in follows.items()}
        theirs = {name: frozenset[str]().union(*(follows[kind][name] for kind in KEPT_KINDS)) for name in away}
        self.travellers = DrillTravellers(theirs, self._connected, self._listen, self._back)
        self._away = frozenset(away)
        self._publications: list[tuple[str, str, int]] = []
        self._publishers: dict[tuple[str, str], list[Publisher]] = {}
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._clients: list[Client] = []
        self._listening: list[asyncio.Task[None]] = []
        self._is_quiet = False

    async def __aenter__(self) -> Self:
        try:
            for name in self._follows:
                await self._follow(name)
            await self.travellers.start()
            for site in self._sites:
                await self._serve(site)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends it. May be called twice."""
        await end_tasks(*self._tasks, *self._listening)
        await self.travellers.close()
        await self._stack.aclose()

    async def calm(self, seconds: float) -> None:
        """Waits for so long, and until everybody knows a point. Raises ConnectionLost."""
        await asyncio.sleep(seconds)
        await asyncio.gather(*(client.ping() for client in self._clients))

    async def quiet(self, within_s: float) -> None:
        """Publishes nothing more, and waits until all that was accepted has arrived, or for so long. What is under way is answered."""
        self._is_quiet = True
        await asyncio.gather(*self._tasks)
        await until(lambda: not any(each.outstanding() for each in self.ledgers.values()), within_s)

    def mark(self) -> None:
        """Has what is measured from a moment on be measured from now on."""
        for each in self.ledgers.values():
            each.mark(time.monotonic())

    def expect(self, telling: DueTelling, ring: Ring | None) -> None:
        """Has who is not told what they are to be told be counted. `ring`: that of the site whose brokers are concerned."""
        for kind in KEPT_KINDS:
            ledger, has_heirs = self.ledgers[kind], kind == COPIED and len(self._sites) == 1
            due = telling.due(ledger.follows, self._away, ring, has_heirs=has_heirs)
            ledger.expect(due, telling.reason, telling.within_s)

    def weigh(self, memory: float) -> None:
        """Notes that the fullest window takes so many percent of what it may."""
        for kind in KEPT_KINDS:
            self.ledgers[kind].memory = max(self.ledgers[kind].memory, memory)

    async def repeat(self) -> None:
        """Publishes everything again, with its id, as services do that got no answer."""
        for topic, site, n in list(self._publications):
            with suppress(SegueError):
                await self._of(topic, site)[0].publish(topic, "said", {"n": n}, id=_id(topic, n))

    def _token(self, *, user: str | None = None, service: str | None = None) -> str:
        return issue(self._nodes.secret, user=user, service=service, ttl_s=TOKEN_S, now_s=time.time() - TOKEN_S / 2)

    def _connected(self, name: str, point: int, positions: PositionFile | None = None) -> Client:
        """Returns a client that goes to the access point number `point` of its site first, and then to the others."""
        doors = [f"ws://{door}" for door in self._nodes.doors("accesspoint", name.split("-")[0])]
        at = point % len(doors)
        options = ClientOptions(backoff=Backoff(base_s=0.2, cap_s=2.0), heartbeat_s=2.0)
        quiet: dict[str, Any] = {"on_state": lambda state: None, "on_gap": partial(self._tell, name)}
        return Client(
            doors[at:] + doors[:at],
            self._token(user=name),
            client=name,
            options=options,
            rng=self._draws(),
            position_file=positions,
            **quiet,
        )

    async def _follow(self, name: str) -> None:
        client = await self._stack.enter_async_context(self._connected(name, int(name.split("-")[1])))
        await client.subscribe(self._follows[name], wait="all")
        self._clients.append(client)
        self._listening.append(asyncio.create_task(self._listen(name, client)))

    def _tell(self, name: str, gap: Gap) -> None:
        for topic in gap.topics:
            self.ledgers[KIND_OF[topic]].tellings.append(Telling(name, topic, gap.reason, time.monotonic()))

    def _back(self, name: str, answer_s: float, answer: Installed) -> None:
        lost = {KIND_OF[each.topic] for each in answer.lost}
        for kind in KEPT_KINDS:
            is_recovered = answer.recovered is not None and kind not in lost
            self.ledgers[kind].back(name, time.monotonic() - answer_s, answer_s, is_recovered=is_recovered)

    async def _listen(self, name: str, client: Client) -> None:
        async for event in client:
            stream, n, now_s = (event.topic, event.site), int(event.payload["n"]), time.monotonic()
            arrival = Arrival(stream, event.epoch, event.seq, event.skipped, n, now_s, event.gap is None)
            self.ledgers[KIND_OF[event.topic]].arrived(name, arrival)

    async def _serve(self, site: str) -> None:
        options = PublisherOptions(tries=1, answer_timeout_s=1.0)
        for door in self._nodes.doors("broker", site):
            for service in sorted({*SERVICES.values()}):
                publisher = Publisher(f"http://{door}", self._token(service=service), options=options, rng=self._draws())
                self._publishers.setdefault((site, service), []).append(await self._stack.enter_async_context(publisher))
        self._tasks += [asyncio.create_task(self._publish(topic, site)) for topic in KIND_OF]

    async def _publish(self, topic: str, site: str) -> None:
        publishers, turn, ledger = self._of(topic, site), self._rng.randrange(2), self.ledgers[KIND_OF[topic]]
        await asyncio.sleep(EVERY_S * self._rng.random())
        while not self._is_quiet:
            n = ledger.sent(topic, site, time.monotonic())
            self._publications.append((topic, site, n))
            try:
                await publishers[turn % len(publishers)].publish(topic, "said", {"n": n}, id=_id(topic, n))
                ledger.accepted(n)
            except SegueError:
                turn += 1
            await asyncio.sleep(EVERY_S)

    def _of(self, topic: str, site: str) -> list[Publisher]:
        return self._publishers[site, SERVICES[KIND_OF[topic]]]

    def _draws(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))


def _id(topic: str, n: int) -> str:
    return f"drill-{KINDS.index(KIND_OF[topic])}-{n}"
