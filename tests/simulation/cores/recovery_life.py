"""A life of what an access point decides when clients come back, and of what the owner of their topics answers: nothing missed, no copy.

Between the two there is one link, on which frames wait in order; where it breaks, what is on its way is lost.
"""

import json
import random
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, ClassVar, Final, NamedTuple

from msgspec.structs import replace

from accesspoint.core import AccessPointCore
from accesspoint.session import Session, SessionState
from broker.core import BrokerCore
from broker.recaller import Recaller, RecallingLink
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.errors import Refused
from infra.kernel.events import Event, numbering, opening_of
from infra.kernel.frames import (
    AnyFrame,
    Applied,
    Deliver,
    Frame,
    Heartbeat,
    Keeps,
    Lost,
    Recall,
    Recalled,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.topics import Kind, Topic, kind_of, parse_topic
from infra.runtime.tokens import Identity
from tests.support.bare_core import OPTIONS

from ..oracle import Violated
from .core_life import ODD_NUMBERS, CoreLife, read

URIS: Final = (
    *(f"hm://playlist/user/ann/playlist/p{n}/" for n in range(3)),
    *(f"hm://presence/user/u{n}/" for n in range(2)),
    "hm://notifications/feed/ann%new-album/",
)
TOPIC_OF: Final = {uri: parse_topic(uri) for uri in URIS}
BOUNDS: Final = {Kind.PLAYLIST: WindowBounds(events=10, seconds=6.0), Kind.USER: WindowBounds(keep="latest", seconds=6.0)}
KEEPS: Final = Keeps({kind: (bounds.keep, bounds.seconds) for kind, bounds in BOUNDS.items()})
EPOCH: Final = 7
TICK_S: Final = 0.25
INSTALL_S: Final = 2.0
# An event that is as old as its kind allows is kept for up to a tick longer, and a point is as old as the last sign of life.
AGE_S: Final = 6.0 - 4 * TICK_S
# The first event that must come on a topic of which nothing is installed yet.
NOT_YET: Final = 1 << 60


class ReturningSession(Session):
    """A connection of somebody, which hands on the text of each message."""

    def __init__(self, core: AccessPointCore, told: Callable[[bytes], None], now_s: float) -> None:
        super().__init__(now_s)
        self._core, self._told = core, told
        core.join(self)

    def write(self, data: bytes) -> None:
        """Reads what a server has written: frames of text, of three sizes."""
        at = 0
        while at < len(data):
            size, at = data[at + 1], at + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                size, at = int.from_bytes(data[at : at + width], "big"), at + width
            self._told(data[at : at + size])
            at += size

    def ping(self) -> None:
        """Answers at once."""
        self.heard_s, self.pinged = self.heard_s, False

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Leaves the access point."""
        self._core.leave(self, refused.code.name)


class AskedTopics(NamedTuple):
    """A message that asks for topics, after so many events at a time; whether it says numbers or a point, and whether a point.

    `point_s`, `before_point`: when that was given, and what had come by then.
    """

    uris: list[str]
    published: int
    has_said: bool
    has_point: bool
    now_s: float
    point_s: float
    before_point: frozenset[int]


UNASKED: Final = AskedTopics([], 0, has_said=False, has_point=False, now_s=0.0, point_s=0.0, before_point=frozenset())


class Returner:
    """Somebody who follows with `recover`, goes away and comes back. It looks at each message.

    - `wants`: topic -> the number of the first event that must come, where nothing is too old.
    - `got`: how often which event came. `repeatable`: those that may come again, since a point alone was said.
    - `lasts`: (uri, site) -> epoch and number of the last event.
    - `point`, `point_s`: the last point, and when it was given. `before_point`: what had come by then.
    - `on_way`: events that were on their way when somebody was told that nothing is missing. They come behind that.
    """

    def __init__(self, life: "RecoveryLife", name: str) -> None:
        self.life, self.name = life, name
        self.session: ReturningSession | None = None
        self.wants: dict[str, int] = {}
        self.got: Counter[int] = Counter()
        self.repeatable: set[int] = set()
        self.lasts: dict[tuple[str, str], tuple[int, int]] = {}
        self.point: str | None = None
        self.before_point: frozenset[int] = frozenset()
        self.point_s = 0.0
        self.asked: dict[int, AskedTopics] = {}
        self.on_way: set[int] = set()

    def heard(self, text: bytes) -> None:
        """Takes the text of one message. Raises Violated as `told`, and where it is none, unless somebody has made an event up."""
        try:
            message = json.loads(text)
        except ValueError:
            if not self.life.is_fooled:
                raise Violated(f"{self.name} gets {text!r}, which is no message") from None
            return
        self.told(message)

    def told(self, message: dict[str, Any]) -> None:
        """Takes one message. Raises Violated where it should not have come, or is not true."""
        match message["op"]:
            case "event" if not self.life.is_fooled:
                self._event(message)
            case "subscribed" if "recovered" in message:
                self._answered(message)
            case "gap":
                self.point = None
                self._given(message["point"])
                for uri in message["topics"]:
                    if uri in self.wants:
                        self.wants[uri] = len(self.life.published)
            case "pong":
                self._given(message.get("point"))
            case _:
                pass

    def _given(self, point: str | None) -> None:
        if point is not None:
            self.point, self.point_s, self.before_point = point, self.life.now_s, frozenset(self.got)

    def _event(self, message: dict[str, Any]) -> None:
        uri, n, site = message["topic"], message["payload"]["n"], message["site"]
        if uri not in self.wants:
            raise Violated(f"{self.name} gets an event of {uri}, which they do not follow")
        if self.life.published[n] != (uri, site):
            raise Violated(f"event {n} is {self.life.published[n]}, and comes as one of {uri} at {site}")
        if self.got[n] and n not in self.repeatable:
            raise Violated(f"{self.name} gets event {n} twice")
        self.repeatable.discard(n)
        self.got[n] += 1
        place, last = (message["epoch"], message["seq"]), self.lasts.get((uri, site), (0, 0))
        if place <= last:
            raise Violated(f"{self.name} gets {place} of {uri} after {last}")
        self.lasts[uri, site] = place
        self.life.looked_at["events"] += 1

    def _answered(self, message: dict[str, Any]) -> None:
        asked = self.asked.pop(message["id"], UNASKED)
        lost = {each["topic"]: each["reason"] for each in message["lost"]}
        if message["recovered"] != (not lost):
            raise Violated(f"{self.name} is told {message}")
        self._given(message["point"])
        for uri in asked.uris:
            if message["installed"] != "partial" and self.wants.get(uri) == NOT_YET:
                self.wants[uri] = len(self.life.published)
        for uri in asked.uris if asked.has_said else ():
            self.life.looked_at[lost.get(uri, "recovered")] += 1
            if uri in lost:
                if asked.has_point and not self.life.has_lied:
                    self._check_reason(uri, lost[uri], asked)
                if uri in self.wants:
                    self.wants[uri] = len(self.life.published)
                self.lasts = {key: place for key, place in self.lasts.items() if key[0] != uri}
            elif uri in self.wants and not self.life.has_lied:
                self._check_whole(uri, asked.published)

    def _check_whole(self, uri: str, first_unasked: int) -> None:
        owed = [n for n, (its, _) in enumerate(self.life.published[:first_unasked]) if its == uri and n >= self.wants[uri]]
        if kind_of(TOPIC_OF[uri]) is Kind.USER:  # the newest is enough, of all sites
            owed = owed[-1:]
            if owed and self.has_newer(owed[0]):
                return
        on_way = self.life.on_their_way()
        self.on_way.update(n for n in owed if n in on_way and not self.got[n])
        if missing := [n for n in owed if n not in on_way and not self.got[n]]:
            raise Violated(f"{self.name} is told that nothing of {uri} is missing, and lacks {missing}")

    def has_newer(self, n: int) -> bool:
        """Tells whether an event of a user that is no older than `n` has come: the newest is enough."""
        uri = self.life.published[n][0]
        return kind_of(TOPIC_OF[uri]) is Kind.USER and any(each >= n and self.life.published[each][0] == uri for each in self.got)

    def _check_reason(self, uri: str, reason: str, asked: AskedTopics) -> None:
        # What has come behind the point counts, too: whoever owns the topic does not know of it.
        behind = [n for n, (its, _) in enumerate(self.life.published) if its == uri and n not in asked.before_point]
        is_so = {
            "no-window": kind_of(TOPIC_OF[uri]) not in BOUNDS,
            "expired": self.life.now_s - asked.point_s > AGE_S,
            "too-much": len(behind) > BOUNDS[Kind.PLAYLIST].events,
            "late": self.life.now_s - asked.now_s >= INSTALL_S,
        }.get(reason, False)
        if not is_so:
            raise Violated(f"{self.name} is told without a cause that something of {uri} may be missing: {reason}")


class RecoveryLife(CoreLife):
    """An access point with some clients, and the owner of all topics.

    - `published`: (uri, site) of each event. `is_fooled`: what comes now is from somebody who lies; `has_lied`: they have said something.
    """

    KINDS: ClassVar[dict[str, int]] = {
        "subscribe": 14,
        "unsubscribe": 3,
        "go_away": 9,
        "come_back": 12,
        "ask": 8,
        "publish": 24,
        "relay": 8,
        "up": 24,
        "down": 30,
        "beat": 8,
        "tick": 6,
        "relink": 3,
        "turn": 4,
        "lie": 5,
    }

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.published: list[tuple[str, str]] = []
        self.is_fooled = self.has_lied = False
        self._steps: list[Callable[[], None]] = []
        options = replace(OPTIONS, install_s=INSTALL_S)
        self.point = AccessPointCore(options, lambda token, wall_s: Identity(token, 1e12), random.Random(1), self._steps.append)
        self.point.keeping.learn(KEEPS)
        self.point.announcer.set_view(View(1, ("a1",)))
        window = EventWindow(EPOCH, BOUNDS, 1 << 20)
        self.owner = BrokerCore("sto", EPOCH, window=window)
        self.window = window
        self.recaller = Recaller("sto", self.owner, Tenure("b1", EPOCH), is_alone=False)
        self._up_queue: deque[Frame] = deque()
        self._down_queue: deque[AnyFrame] = deque()
        self._bit = self.owner.open(self, far=False)
        self._ids = self._other_seq = self._n = 0
        self.returners = [Returner(self, f"u{n}") for n in range(3)]
        self.point.announcer.node_up("a1", self)
        self.point.recoveries.fed_by(self)
        self.point.recoveries.note(self._stamps())  # the first sign of life

    # The link, seen by the access point and by the owner.

    def send(self, frame: Frame) -> None:
        """Queues what the access point says."""
        self._up_queue.append(frame)

    def deliver(self, handle: int, body: bytes) -> None:
        """Queues what the owner gives."""
        self._down_queue.append(Deliver([handle], [body], self._stamps()))

    def _stamps(self) -> dict[int, int]:
        return self.owner.stamps(self._bit)

    def _up(self, count: int, *_: int) -> None:
        for _n in range(min(1 + count % 3, len(self._up_queue))):
            frame = self._up_queue.popleft()
            match frame:
                case Subscribe(n, handles, topics):
                    self.owner.subscribe(self._bit, [Topic(topic) for topic in topics], handles)
                    self._applied(n)
                case Unsubscribe(n, topics):
                    for row, topic in self.owner.unsubscribe(self._bit, [Topic(topic) for topic in topics])[1]:
                        self.owner.release(row, topic)
                    self._applied(n)
                case Recall():
                    self._down_queue.extend(self.recaller.answers(RecallingLink(self._bit, is_announced=True), frame))
                case _:
                    raise Violated(f"an owner is told {frame}")

    def _applied(self, n: int) -> None:
        self._n = n
        self._down_queue.append(Applied(n, {"sto": n}, self._stamps()))

    def _down(self, count: int, *_: int) -> None:
        for _n in range(min(1 + count % 4, len(self._down_queue))):
            self._take(self._down_queue.popleft())
        self._turn()

    def _take(self, frame: AnyFrame) -> None:
        recoveries = self.point.recoveries
        match frame:
            case Deliver(handles, bodies, stamps):
                self.point.hub.deliver(handles, bodies)
                recoveries.note(stamps)
            case Recalled():
                recoveries.answered(frame, self.now_s)
            case Lost(topics, reason):
                recoveries.lose([Topic(topic) for topic in topics], reason)
            case Applied(n, sites):
                self.point.announcer.applied("a1", n, sites)
                self.point.subscriptions.advance(self.now_s)
            case Heartbeat(stamps=stamps):
                recoveries.note(stamps)
            case _:
                raise Violated(f"an access point is told {frame}")

    def _beat(self, *_: int) -> None:
        self._down_queue.append(Heartbeat(View(0, ()), self._stamps()))

    def _relink(self, *_: int) -> None:
        """Breaks the link, and has the access point go on over another one."""
        self._up_queue.clear()
        self._down_queue.clear()
        self.point.hub.flush()
        for row, topic in self.owner.close(self._bit)[1]:
            self.owner.release(row, topic)
        self.point.announcer.node_down("a1")
        self.point.recoveries.fed_by(None)
        self._bit = self.owner.open(self, far=False)
        self.point.announcer.node_up("a1", self)
        self.point.recoveries.fed_by(self)
        self.point.recoveries.resume(self.now_s)

    # Clients.

    def _subscribe(self, who: int, first: int, count: int, _: int) -> None:
        returner = self.returners[who % len(self.returners)]
        if returner.session is None and not returner.wants:
            self._connect(returner)
        if returner.session is not None:
            self._follow(returner, [URIS[(first + n) % len(URIS)] for n in range(1 + count % 3)])

    def _connect(self, returner: Returner) -> None:
        session = ReturningSession(self.point, returner.heard, self.now_s)
        returner.session = session
        self._say(session, op="hello", token=returner.name, client="phone")
        if session.state is not SessionState.READY:
            raise Violated(f"{returner.name} cannot connect")

    def _say(self, session: ReturningSession, **message: Any) -> None:
        self.point.receive(session, json.dumps(message).encode(), self.now_s, self.now_s)

    def _follow(self, returner: Returner, uris: list[str], **fields: Any) -> None:
        assert returner.session is not None
        self._ids += 1
        for uri in uris:
            returner.wants.setdefault(uri, NOT_YET)
        asked = AskedTopics(
            list(uris), len(self.published), bool(fields), "point" in fields, self.now_s, returner.point_s, returner.before_point
        )
        returner.asked[self._ids] = asked
        self._say(returner.session, op="subscribe", id=self._ids, topics=uris, recover=True, wait="local", **fields)

    def _unsubscribe(self, who: int, first: int, *_: int) -> None:
        returner, uri = self.returners[who % len(self.returners)], URIS[first % len(URIS)]
        if returner.session is not None:
            returner.wants.pop(uri, None)
            returner.lasts = {key: place for key, place in returner.lasts.items() if key[0] != uri}
            self._ids += 1
            self._say(returner.session, op="unsubscribe", id=self._ids, topics=[uri])

    def _go_away(self, who: int, *_: int) -> None:
        returner = self.returners[who % len(self.returners)]
        if returner.session is not None:
            self.point.leave(returner.session, "lost")
            returner.session = None
            returner.asked.clear()
            returner.on_way.clear()

    def _come_back(self, who: int, said: int, *_: int) -> None:
        returner = self.returners[who % len(self.returners)]
        if returner.session is not None or not returner.wants:
            return
        fields: dict[str, Any] = {}
        if returner.point is not None and said % 3:
            fields["point"] = returner.point
        if said % 3 != 1 and returner.lasts:
            since: dict[str, dict[str, list[int]]] = {}
            for (uri, site), place in returner.lasts.items():
                since.setdefault(uri, {})[site] = list(place)
            fields["since"] = since
        if "since" not in fields:
            returner.repeatable = set(returner.got)
            returner.lasts.clear()
        known = {uri for uri, _ in returner.lasts}
        uris = list(returner.wants)
        for uri in uris:
            if "point" not in fields and uri not in known:  # they say nothing of it
                returner.wants[uri] = NOT_YET
        returner.repeatable |= {n for n in returner.got if self.published[n][0] not in known}
        self._connect(returner)
        self._follow(returner, uris, **fields)

    def _ask(self, who: int, *_: int) -> None:
        """Has somebody ask for a point."""
        if (session := self.returners[who % len(self.returners)].session) is not None:
            self._say(session, op="ping", point=True)

    # Events, and time.

    def _publish(self, which: int, count: int, *_: int) -> None:
        uri = URIS[which % len(URIS)]
        for _n in range(1 + count % 2):
            n = len(self.published)
            self.published.append((uri, "sto"))
            self.owner.publish(Event(TOPIC_OF[uri], b"", self._tail(uri, n)))

    def _relay(self, which: int, *_: int) -> None:
        uri = URIS[which % len(URIS)]
        row = self.owner.interest.rows.get(TOPIC_OF[uri])
        if row is not None:
            self.published.append((uri, "lon"))
            self._other_seq += 1
            self.owner.relay([row], [b"%b%d,%b" % (numbering("lon", 3), self._other_seq, self._tail(uri, len(self.published) - 1))])

    def on_their_way(self) -> set[int]:
        """Returns the events that the owner has given to the access point, and that it has not taken."""
        bodies = (body for frame in self._down_queue if isinstance(frame, Deliver) for body in frame.bodies)
        return {json.loads(body)["payload"]["n"] for body in bodies}

    def _tail(self, uri: str, n: int) -> bytes:
        return b'"topic":"%b","ts":1,"id":"x","kind":"play","payload":{"n":%d}}' % (uri.encode(), n)

    def _tick(self, count: int, *_: int) -> None:
        for _n in range(1 + count % 3):
            self.now_s += TICK_S
            for row, topic in self.owner.recorded.tick(self.now_s)[1]:
                self.owner.release(row, topic)
            self.point.tick(self.now_s, self.now_s)

    def _turn(self, *_: int) -> None:
        while self._steps:
            self._steps.pop(0)()
        self.point.subscriptions.advance(self.now_s)
        self.point.hub.flush()

    def _lie(self, what: int, number: int, which: int, how: int) -> None:
        """Has the aggregator say what no honest one does. Then what clients are told may be wrong; nothing here may break."""
        if not self.has_liars:
            return
        self.has_lied = self.is_fooled = True
        odd, topic = ODD_NUMBERS[number % len(ODD_NUMBERS)], TOPIC_OF[URIS[which % len(URIS)]]
        bodies = [b"", opening_of("sto"), b'{"op":"event"}'][: how % 4]
        lies = (
            Recalled(odd, [topic] * 2, ["", "no such reason"], [len(bodies), 0], bodies, {odd: odd}),
            Recalled(self._ids, [topic, b"Px/y"], ["", ""], [0, len(bodies)], bodies, {EPOCH: 0}),
            Recalled(1 + how % 8, list(TOPIC_OF.values()), ["evicted"] * len(TOPIC_OF), [0] * len(TOPIC_OF), [], {}),
            Deliver([how % 8, (1 << 32) - 1], [b'{"op":"event","x":1}', b""], {EPOCH: odd}),
            Deliver([], [], {EPOCH: how % 3}),
            Applied(odd, {"sto": odd, "nowhere": odd}),
            Lost([topic, b"Pnobody/x"], "no such reason"),
            Heartbeat(View(odd, ("x",)), {odd: odd}),
        )
        if (frame := read(lies[what % len(lies)])) is not None:
            self._take(frame)
            self.looked_at["lies"] += 1
        self.point.hub.flush()

    # What must hold.

    def check(self) -> None:
        """Looks whether the two maps of the hub are inverse, and whether each recovery that is open has somebody who waits."""
        hub = self.point.hub
        for returner in self.returners:
            if returner.session is not None:
                held = {topic for topic, row in hub.topics.items() if returner.session in row}
                if held != {*hub.held(returner.session)} or held != {TOPIC_OF[uri] for uri in returner.wants}:
                    raise Violated(f"{returner.name} wants {[*returner.wants]}, and the hub has {held}")
        if len(self.point.recoveries) != sum(len(returner.session.recoveries) for returner in self.returners if returner.session):
            raise Violated("a recovery is open that is nobody's")

    def settle(self) -> None:
        """Has everything arrive: all recoveries are over, and all are served as before."""
        for _ in range(3):
            self._arrive()
        for _ in range(int(2 * INSTALL_S / TICK_S)):
            self._tick(0)
            self._arrive()
        if len(self.point.recoveries):
            raise Violated("a recovery is never over")
        if any(row.joining or row.is_held for row in self.point.hub.topics.values()):
            raise Violated("somebody waits for ever")
        if self.has_lied:
            return
        for returner in self.returners:
            owed = [n for n in returner.on_way if n >= returner.wants.get(self.published[n][0], NOT_YET)]
            if missing := [n for n in owed if not returner.got[n] and not returner.has_newer(n)]:
                raise Violated(f"{returner.name} was told that nothing is missing, and {missing}, which were on their way, never came")
            for uri in list(returner.wants) if returner.session is not None else []:
                n = len(self.published)
                self._publish(URIS.index(uri), 0)
                self._arrive()
                if returner.got[n] != 1:
                    raise Violated(f"all is well, and {returner.name} gets an event of {uri} {returner.got[n]} times")

    def _arrive(self) -> None:
        while self._up_queue or self._down_queue:
            self._up(2)
            self._down(3)
        self._turn()
