"""Hub: which sessions want which topic, and the way of an event to all of them.

The two maps, session -> topics and topic -> sessions, are inverse at all times (SB-9). Each topic is stored once, as a
`Row`; its index is the handle that the aggregator names in deliveries. A row is itself the set of its sessions, and a
session remembers 32-bit row numbers: sixty subscriptions of a client cost it 300 bytes. To find one number among ten
thousand takes long, so those that it does not want any more stay until they are half of all; the row knows better.

The way of an event is the hottest code there is. No await between an event and its fan-out: a batch is sorted by topic,
each event is framed once, each topic's frames are joined once and appended to every outbox, and each session gets
one write (design 5.1, 5.2). Order is kept per topic, which is what is promised.

A topic with more than `BURST_FROM` sessions is served a slice at a time, in turn with other such topics, so that one
event to a million sessions does not hold up everybody else's (SB-56): see `step`.
"""

from array import array
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from infra.kernel.topics import Topic
from infra.kernel.websocket import text_frame

from .row import Burst, Member, NewsOf, Row

# With more sessions than this a topic is served in slices. A slice costs about a millisecond of writing to sockets.
BURST_FROM: Final = 1024
SLICE: Final = 256
# With fewer dropped numbers than this it is not worth while to look at all numbers of a session.
COMPACT_FROM: Final = 16


class Hub:
    """All topics and sessions of one access point."""

    def __init__(self) -> None:
        self.topics: dict[Topic, Row] = {}
        self.subscriptions = 0
        self.received = self.deliveries = self.delivered_bytes = self.stale = self.shed = 0
        self._rows: list[Row | None] = []
        self._free: list[int] = []
        self._dirty: list[Member] = []
        self._bursting: deque[Row] = deque()

    def subscribe(self, member: Member, topic: Topic) -> Row | None:
        """Subscribes `member` to `topic`. Returns the row if nobody wanted it before: it must be announced."""
        return self.topics[topic] if self.subscribe_all(member, (topic,)) else None

    def subscribe_all(self, member: Member, topics: Iterable[Topic]) -> list[tuple[int, Topic]]:
        """Subscribes `member` to `topics`. Returns (handle, topic) of those that nobody wanted before: announce them."""
        rows, handles, news = self.topics, member.handles, []
        before = len(handles)
        for topic in topics:
            row = rows.get(topic)
            if row is None:
                row = self._new_row(topic)
            elif member in row:
                continue
            if not row:  # the row may be an old one that waits for its release; it is announced again all the same
                news.append((row.handle, topic))
            row.add(member)
            handles.append(row.handle)
        self.subscriptions += len(handles) - before
        return news

    def _new_row(self, topic: Topic) -> Row:
        # A number that was released comes first, so numbers stay small: every hop has tables that are indexed by them.
        handle = self._free.pop() if self._free else len(self._rows)
        row = self.topics[topic] = Row(handle, topic)
        if handle == len(self._rows):
            self._rows.append(row)
        else:
            self._rows[handle] = row
        return row

    def unsubscribe(self, member: Member, topic: Topic) -> Row | None:
        """Unsubscribes `member` from `topic`. Returns the row if nobody wants it any more: it must be withdrawn."""
        row = self.topics.get(topic)
        if row is None or member not in row:
            return None
        row.lose(member)
        member.dropped += 1
        if member.dropped > COMPACT_FROM and 2 * member.dropped > len(member.handles):
            self._compact(member)
        self.subscriptions -= 1
        if row:
            return None
        row.answer = None
        return row

    def _compact(self, member: Member) -> None:
        member.handles = array("I", [row.handle for row in self._rows_of(member)])
        member.dropped = 0

    def _rows_of(self, member: Member) -> list[Row]:
        """Returns the rows that `member` wants, each once: a number stands twice if it was dropped and came again."""
        rows = (self._rows[handle] for handle in dict.fromkeys(member.handles))
        return [row for row in rows if row is not None and member in row]

    def holds(self, member: Member, topic: Topic) -> bool:
        """Tells whether `member` wants `topic`."""
        return member in self.topics.get(topic, ())

    def held(self, member: Member) -> list[Topic]:
        """Returns what `member` wants."""
        return [row.topic for row in self._rows_of(member)]

    def count(self, member: Member) -> int:
        """Returns how many topics `member` wants."""
        return len(member.handles) - member.dropped

    def leave(self, member: Member) -> list[Row]:
        """Unsubscribes `member`, which is gone, from everything. Returns the rows that nobody wants any more (SB-10)."""
        last = []
        for row in self._rows_of(member):
            row.lose(member)
            if not row:
                row.answer = None
                last.append(row)
        self.subscriptions -= self.count(member)
        member.handles, member.dropped = array("I"), 0
        return last

    def release(self, handle: int, topic: Topic) -> None:
        """Lets `handle` be used again, if nobody wants `topic` again. No delivery under its old meaning may arrive any more."""
        row = self._rows[handle]
        # The number may have been released and given to another topic since, or the topic may be wanted again.
        if row is not None and row.topic == topic and not row:
            del self.topics[topic]
            self._rows[handle] = None
            self._free.append(handle)

    def wanted(self) -> Iterator[tuple[int, Topic]]:
        """Returns all (handle, topic) that some session wants."""
        return ((row.handle, topic) for topic, row in self.topics.items() if row)

    def deliver(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Gives each event of a batch to every session that wants it: `bodies[i]` to those of `handles[i]`. `flush` sends them off."""
        for row, run in self._by_topic(handles, bodies):
            if not row.is_held:
                self._run(row, run)

    def given(self, handles: Sequence[int], bodies: Sequence[bytes]) -> Iterator[tuple[Topic, bytes]]:
        """Returns which of the events of a batch `deliver` gives to anybody, each with its topic."""
        rows, known = self._rows, len(self._rows)
        for handle, body in zip(handles, bodies, strict=True):
            if handle < known and (row := rows[handle]) and not row.is_held:
                yield row.topic, body

    def _run(self, row: Row, run: list[bytes]) -> None:
        row.answer = None
        if row.burst is not None:
            self.shed += row.burst.add(run)
        elif len(row) > BURST_FROM:
            row.burst = Burst(row, run)
            self._bursting.append(row)
        else:
            self._give(row, row.served, run)
        if row.apart is not None:
            self._run_apart(row, row.apart, run)

    def _run_apart(self, row: Row, apart: dict[Member, NewsOf], run: list[bytes]) -> None:
        for member, news_of in list(apart.items()):
            if member not in (row.joining or ()) and (news := news_of(run)):
                self._give(row, [member], news)

    def _give(self, row: Row, members: Collection[Member], run: list[bytes]) -> None:
        chunk = text_frame(run[0]) if len(run) == 1 else b"".join(map(text_frame, run))
        dirty, copies = self._dirty, len(members)
        for member in members:
            chunks = member.chunks
            if chunks:  # it is in `dirty` already; one list for all members, and one append each
                chunks.append(chunk)
            elif chunks is not None:
                chunks.append(chunk)
                dirty.append(member)
            elif member.outbox is not None:
                member.outbox.add(row.handle, row.presence, run)
        self.deliveries += copies * len(run)
        self.delivered_bytes += copies * len(chunk)

    @property
    def bursting(self) -> bool:
        """Whether there is something for `step` to do."""
        return bool(self._bursting)

    def step(self) -> None:
        """Serves one slice of the next topic that has more sessions than one slice. `flush` sends it off."""
        row = self._bursting.popleft()
        burst = row.burst
        assert burst is not None
        # From the end: to cut a list there moves nothing.
        now = burst.left[-SLICE:]
        del burst.left[-SLICE:]
        # Who has left since the burst began gets nothing more; who has come since gets what is published from now on.
        joining = row.joining or ()
        self._give(row, [member for member in now if member in row and member not in joining], burst.run)
        if not burst.left:
            self._next_burst(row, burst)
        if row.burst is not None:
            self._bursting.append(row)

    def _next_burst(self, row: Row, burst: Burst) -> None:
        run = list(burst.later)
        for member, count in burst.has.items():
            if run[count:] and member in row and member not in (row.joining or ()) and member not in (row.apart or ()):
                self._give(row, [member], run[count:])
        row.burst = Burst(row, run, burst.has) if run else None

    # Those who come back.

    def hold(self, topics: Iterable[Topic]) -> None:
        """Gives nobody anything of `topics` before `go_on`: what comes is in what will be given then."""
        for topic in topics:
            self.topics[topic].is_held = True

    def go_on(self, topic: Topic, bodies: list[bytes]) -> None:
        """Gives everybody what was missed of `topic`, and what is live from now on."""
        row = self.topics.get(topic)
        if row is not None and row.is_held:
            row.is_held = False
            if bodies and row:
                self._run(row, bodies)

    def join_later(self, member: Member, topic: Topic, number: int) -> None:
        """Has `member` get nothing of `topic`, which it wants, before `join_now` under the same `number`."""
        row = self.topics[topic]
        row.joining = row.joining or {}
        row.joining[member] = number

    def join_at_once(self, member: Member, row: Row, bodies: list[bytes]) -> int:
        """Gives `member`, which wants the topic of `row`, what it has missed, and what is live from now on. Returns how many that were."""
        if row.joining is not None:
            row.join(member)
        if bodies:
            self._give(row, [member], bodies)
        return len(bodies)

    def join_now(self, member: Member, topic: Topic, number: int, bodies: list[bytes]) -> bool:
        """Gives `member` what it has missed, and what is live from now on. Returns False if it does not wait for `number` there."""
        row = self.topics.get(topic)
        if row is None or not self.is_joining(member, topic, number):
            return False
        row.join(member)
        if bodies:
            self._give(row, [member], bodies)
        row.has_got(member)  # what waits for others came before, so it is in `bodies`
        return True

    def part(self, member: Member, topic: Topic, news_of: NewsOf) -> None:
        """Has `member`, which has got all that has come of `topic` and wants it, get from now on only what `news_of` says."""
        row = self.topics[topic]
        row.apart = row.apart or {}
        row.apart[member] = news_of

    def unite(self, member: Member, topic: Topic) -> None:
        """Has `member` get again what all others do of `topic`, if that is not so."""
        if (row := self.topics.get(topic)) is not None and row.unite(member):
            row.has_got(member)

    def owes(self, member: Member) -> bool:
        """Tells whether events that have come here are still to be given to `member`."""
        return any(member in row for row in self._bursting)

    def is_joining(self, member: Member, topic: Topic, number: int) -> bool:
        """Tells whether `member` waits for `join_now` of `topic` under `number`."""
        row = self.topics.get(topic)
        return row is not None and row.joining is not None and row.joining.get(member) == number

    def _by_topic(self, handles: Sequence[int], bodies: Sequence[bytes]) -> Iterable[tuple[Row, list[bytes]]]:
        rows, known = self._rows, len(self._rows)
        touched: list[Row] = []
        self.received += len(handles)
        for handle, body in zip(handles, bodies, strict=True):
            row = rows[handle] if handle < known else None
            if not row:  # None, or a row that nobody wants any more
                self.stale += 1
            elif row.run is None:
                row.run = [body]
                touched.append(row)
            else:
                row.run.append(body)
        for row in touched:
            run, row.run = row.run, None
            assert run is not None
            yield row, run

    def flush(self) -> None:
        """Writes once to each session that got something since the last flush."""
        dirty, self._dirty = self._dirty, []
        for member in dirty:
            chunks = member.chunks
            if chunks:
                member.chunks = []
                member.write(chunks[0] if len(chunks) == 1 else b"".join(chunks))
