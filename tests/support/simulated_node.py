"""A node of the announced site, for tests of the announcing side: slow, forgetful, and in no network."""

from collections import deque

from infra.kernel.frames import Applied, Frame, Subscribe, Unsubscribe
from infra.kernel.topics import Topic

Delivery = tuple[int, Topic]


class SimulatedNode:
    """A broker as an announcer knows it, with other sites behind it. Both directions of its link are slow and in order.

    `behind`: site -> (change up to which everything is installed there, topics there). `inbox` leads to the node, `outbox`
    away from it; both are what a link loses when it breaks.
    """

    def __init__(self, site: str) -> None:
        self.site = site
        self.behind: dict[str, tuple[int, set[Topic]]] = {site: (0, set())}
        self.up = False
        self.reset()

    def reset(self) -> None:
        """Breaks the link: the node forgets what it was told on it."""
        self.inbox: deque[Frame] = deque()
        self.outbox: deque[Applied | Delivery] = deque()
        self.handles: dict[Topic, int] = {}
        self.n = 0
        self.behind = {site: (0, set()) for site in self.behind}

    def send(self, frame: Frame) -> None:
        """See `Outlet`."""
        assert self.up
        self.inbox.append(frame)

    def work(self) -> None:
        """Does the next change; the own site has it at once."""
        match self.inbox.popleft():
            case Subscribe(n, handles, topics):
                self.handles.update(zip(map(Topic, topics), handles, strict=True))
            case Unsubscribe(n, topics):
                for topic in topics:
                    self.handles.pop(Topic(topic), None)
        assert n > self.n, "changes are numbered, rising"
        self.n = n
        self.install(self.site)

    def install(self, site: str) -> None:
        """Lets a site behind catch up."""
        self.behind[site] = (self.n, set(self.handles))

    def lose(self, site: str) -> None:
        """Makes a site behind forget everything; whoever listens is told."""
        self.behind[site] = (0, set())
        self.say()

    def say(self) -> None:
        """Tells how far the node is."""
        self.outbox.append(Applied(self.n, {site: n for site, (n, _) in self.behind.items()}))

    def publish(self) -> None:
        """Sends an event of each topic that the node was told of, whether it owns the topic or not."""
        self.outbox.extend((handle, topic) for topic, handle in self.handles.items())

    def is_retracting(self, site: str, known: int) -> bool:
        """Returns whether word is on its way that less is installed at a site than is known over there."""
        said = [frame.sites.get(site, 0) for frame in self.outbox if isinstance(frame, Applied)]
        return any(n < known for n in said)
