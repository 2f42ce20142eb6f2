"""The reference workload, played again: what crosses the links of three sites, counted frame by frame.

The trace is the generator's: 24,500 subscribers, all of whom are there, at their sites, and a sample of what is published. In smaller
ones more crosses (docs/generator.md).
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow.dataset as ds
import pytest

from analytics.generator.job import generate
from analytics.generator.profile import profile
from analytics.trace import Trace
from infra.kernel.frames import Deliver
from infra.kernel.topics import format_topic
from segue.cli.replay.script import Script, ScriptStep, script, uri
from tests.support.cluster import Cluster
from tests.support.recording_session import RecordingSession

SCALE: Final = 1 / 200
SERVICES: Final = ("presence", "playlist", "artist", "social")
# Who publishes what. Who has joined is told on a user's feed (see `segue.cli.replay.script`), which is presence's.
TOKENS: Final = {"presence": "presence", "playlist": "playlist", "artist": "notification", "social": "presence"}
FORMS: Final = {"presence": "hm://presence/", "playlist": "hm://playlist/", "artist": "hm://notifications/feed/"}
BATCH: Final = 200


class Reference:
    """The trace, and the steps of its users by service. `sites`: of users and of what is published, by name."""

    def __init__(self, path: Path) -> None:
        generate(path, profile("spotify", SCALE, 1), publications=6_000, sessions=0, processes=1, progress=lambda *_: None)
        trace = Trace.open(path)
        self.scripts: dict[str, Script] = {
            service: script(trace, service=service, users=100_000, from_s=0, seconds=None, seed=1) for service in SERVICES
        }
        pairs, said = (
            ds.dataset(trace.files(table), format="parquet").to_table().to_pylist() for table in ("subscriptions", "publications")
        )
        self.site_of_user = {f"u{row['subscriber']}": row["site"] for row in pairs}
        self.site_of_topic = {uri(row["service"], row["topic"]): row["site"] for row in said}

    def steps(self, what: str) -> Iterator[tuple[str, ScriptStep]]:
        for service, each in self.scripts.items():
            yield from ((service, step) for step in each if step.what == what)


@pytest.fixture
def reference(tmp_path: Path) -> Reference:
    return Reference(tmp_path / "trace")


class Replay:
    """All users of the trace at the access points of their sites."""

    def __init__(self, c: Cluster, reference: Reference) -> None:
        self.c, self.reference = c, reference
        self.sessions: dict[str, RecordingSession] = {}

    def subscribe(self) -> None:
        for _, step in self.reference.steps("subscribe"):
            if step.user not in self.sessions:
                self._connect(step.user)
            self._tell(step.user, {"op": "subscribe", "id": 1, "topics": step.topics})

    def _connect(self, user: str) -> None:
        point = self.c.of("accesspoint", self.reference.site_of_user[user])[0]
        self.sessions[user] = RecordingSession(point.core, point.now())
        self._tell(user, {"op": "hello", "token": self.c.token(user)})

    def _tell(self, user: str, message: dict[str, object]) -> None:
        session = self.sessions[user]
        point = self.c.of("accesspoint", self.reference.site_of_user[user])[0]
        session.core.receive(session, json.dumps(message).encode(), point.now(), time.time())

    async def installed(self) -> None:
        """Tells whether all of it is installed at all sites."""
        announcers = [point.core.announcer for point in self.c.of("accesspoint")]
        await self.c.until(lambda: all(each.reached.get(site, 0) >= each.mark() for each in announcers for site in self.c.sites))

    def leave(self) -> None:
        for session in self.sessions.values():
            session.core.leave(session, "lost")

    async def publish(self) -> int:
        """Publishes everything where the trace has it, through a door of that site; returns how many events that were."""
        batches: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for service, step in self.reference.steps("publish"):
            event: dict[str, Any] = {"topic": step.topics[0], "kind": step.kind, "payload": {}}
            batches[self.reference.site_of_topic[step.topics[0]], TOKENS[service]].append(event)
        for (site, token), events in batches.items():
            for start in range(0, len(events), BATCH):
                status, answer = await self.c.post(events[start : start + BATCH], site=site, service=token)
                assert (status, answer["rejected"]) == (202, [])
        return sum(map(len, batches.values()))

    def copies(self) -> Iterator[tuple[str, str, str, str]]:
        """Returns, of each copy that a broker sent, its kind, the site of its origin, and from which site to which it went."""
        for each in self.c.plan.log:
            if isinstance(each.frame, Deliver) and "/b" in each.source:
                for body in each.frame.bodies:
                    event = json.loads(body)
                    yield event["kind"], event["site"], each.source.partition("/")[0], each.target.partition("/")[0]


@pytest.mark.slow
async def test_about_a_tenth_as_much_crosses_the_links_between_sites_as_those_within_and_most_of_it_is_presence(
    reference: Reference,
) -> None:
    """SB-27, SB-57: whatever the generator was told, what counts are copies on links, and subscriptions that sessions hold."""
    async with Cluster(sites=3, brokers=2) as c:
        replay = Replay(c, reference)
        replay.subscribe()
        await replay.installed()
        published = await replay.publish()
        brokers = [door.core for door in c.of("broker")]
        await c.until(lambda: sum(core.matched + core.unmatched for core in brokers) == published)
        await c.until(lambda: sum(core.site_events for core in brokers) == sum(core.site_copies for core in brokers))

        local, remote, services = 0, 0, Counter[str]()
        service_of = {step.kind: service for service, step in reference.steps("publish")}
        for kind, origin, source, target in replay.copies():
            local += origin == source == target
            remote += source != target
            services[service_of[kind]] += 1
        assert remote == sum(core.site_copies for core in brokers)
        assert (published > 5_000, local > 1_000) == (True, True)
        assert 0.05 <= remote / local <= 0.2
        assert services["presence"] > services.total() / 2
        assert set(services) == set(SERVICES)

        held = Counter[str]()
        for point in c.of("accesspoint"):
            for topic, row in point.core.hub.topics.items():
                held[next(service for service, form in FORMS.items() if format_topic(topic).startswith(form))] += len(row)
        pairs = {service: each.pairs for service, each in reference.scripts.items()}
        assert held == {service: pairs[service] for service in FORMS}  # who hears of a friend's joining follows the friend
        assert held["presence"] > sum(pairs.values()) / 2
        replay.leave()
