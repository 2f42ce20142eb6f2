"""What a social service knows and answers, in a few lines: the twin that access points are tested with, and against."""

from collections import defaultdict

import msgspec

from infra.kernel.access import AccessFacts, AccessRule, Listening, Relation, verdict
from infra.kernel.frames import NOBODY, Barred, Call, Frame, Reply
from infra.kernel.topics import Topic, kind_of, owner_of, user_topic


class SocialTwin:
    """A graph of users and their settings. What changes it returns the frame that takes back earlier answers."""

    def __init__(self, listening: Listening = Listening.FRIENDS) -> None:
        self.follows: set[tuple[str, str]] = set()
        self.blocks: set[tuple[str, str]] = set()
        self.listening: defaultdict[str, Listening] = defaultdict(lambda: listening)
        self.private: dict[tuple[str, str], int] = {}

    def relation(self, asker: str, owner: str) -> Relation:
        """Returns what `asker` is to `owner`."""
        if asker == owner:
            return Relation.SELF
        if {(asker, owner), (owner, asker)} & self.blocks:
            return Relation.BLOCKED
        if (asker, owner) not in self.follows:
            return Relation.STRANGER
        return Relation.FRIENDS if (owner, asker) in self.follows else Relation.FOLLOWER

    def rule(self, asker: str, topic: Topic) -> AccessRule | None:
        """Returns the rule that forbids it, if any does."""
        owner = owner_of(topic)
        return verdict(kind_of(topic), AccessFacts(relation=self.relation(asker, owner), listening=self.listening[owner]))

    def befriend(self, one: str, other: str) -> Barred:
        """Lets two follow each other."""
        self.follow(one, other)
        return self.follow(other, one)

    def follow(self, asker: str, owner: str) -> Barred:
        """Lets `asker` follow `owner`."""
        self.follows.add((asker, owner))
        return both(asker, owner)

    def unfollow(self, asker: str, owner: str) -> Barred:
        """Ends that."""
        self.follows.discard((asker, owner))
        return both(asker, owner)

    def block(self, blocker: str, other: str) -> Barred:
        """Lets `blocker` block `other`; neither follows the other after that."""
        self.follows -= {(blocker, other), (other, blocker)}
        self.blocks.add((blocker, other))
        return both(blocker, other)

    def unblock(self, blocker: str, other: str) -> Barred:
        """Ends that."""
        self.blocks.discard((blocker, other))
        return both(blocker, other)

    def show(self, owner: str, listening: Listening) -> Barred:
        """Sets who sees what `owner` plays."""
        self.listening[owner] = listening
        return Barred([owner], [NOBODY])

    def hide(self, user: str, client: str, until_ms: int) -> Barred:
        """Makes a device private until then."""
        self.private[user, client] = until_ms
        return Barred([user], [user])

    def answer(self, call: Call) -> bytes:
        """Returns the body of the reply to a call."""
        match call.op:
            case "may-see":
                topics = msgspec.msgpack.decode(call.body, type=list[bytes])
                rules = [self.rule(call.user, Topic(topic)) for topic in topics]
                return msgspec.msgpack.encode([0 if rule is None else rule.number for rule in rules])
            case "who-may-see":
                topic, users = msgspec.msgpack.decode(call.body, type=tuple[bytes, list[str]])
                found = [self.rule(user, Topic(topic)) for user in users]
                return bytes(0 if rule is None else rule.number for rule in found)
            case "followed":
                owners, _ = msgspec.msgpack.decode(call.body, type=tuple[list[str], str])
                followed = sorted(owner for asker, owner in self.follows if asker == call.user)
                return msgspec.msgpack.encode(([user_topic(each) for each in followed if not owners or each in owners], None))
            case "is-private":
                return msgspec.msgpack.encode(self.private.get((call.user, call.client), 0))
            case "private":
                said = msgspec.json.decode(call.body)
                until_ms = (1 << 53) - 1 if said["on"] else 0
                self.private[call.user, call.client] = until_ms
                return msgspec.json.encode({"op": "private", "id": said.get("id"), "on": said["on"], "until_ms": until_ms})
        return b""


def both(one: str, other: str) -> Barred:
    """Returns the frame about what each of two may see of the other."""
    return Barred([one, other], [other, one])


class TwinOutlet:
    """The link of an access point to `twin`, which answers when the test says so."""

    def __init__(self, twin: SocialTwin) -> None:
        self.twin = twin
        self.calls: list[Call] = []

    def send(self, frame: Frame) -> None:
        """Keeps a call."""
        assert isinstance(frame, Call)
        self.calls.append(frame)

    def replies(self) -> list[Reply]:
        """Returns the answers to all that was asked, by what holds now, and forgets the calls."""
        calls, self.calls = self.calls, []
        return [Reply(call.n, "", "", self.twin.answer(call)) for call in calls]
