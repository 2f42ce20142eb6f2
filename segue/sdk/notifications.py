"""The bell of a device: what it shows of its user's notifications, what it pulls, and how far it has seen. Pure.

Rule 1: `held` is the mark up to which there is no gap. A live item right after it moves it. One further on shows a gap,
which is pulled. A pull answers with everything between the mark it asked for and its `next`.
Rule 2: an item is shown once. Marks decide, and ids where a server that counts anew (`reset`) repeats itself.
Rule 3: the seen mark is what was taken from the queue, so it never passes a gap nor an item that waits.
Rule 4: an item that finds the queue full is left to a later pull, so the queue is bounded and nothing is lost.
Rule 5: the read mark and the number of the last change only rise; what an older answer says of them and of the unread count is passed
over.
Rule 6: marks of another epoch stand for other items. Whatever bears one leads to a pull with `held` and its own epoch; the
server answers that with `reset`, and the device begins again.
"""

from collections import deque
from typing import Final, NamedTuple

from segue.sdk.client_options import ClientOptions
from segue.sdk.notification_messages import Marks, Notification, Pulled, ReadElsewhere

RECOUNT_EVERY_S: Final = 1.0
IDS_KEPT: Final = 4096
PAGE: Final = 50


class NextPull(NamedTuple):
    """A pull to be made.

    - `since`: after which mark. None leaves that to the server, which knows the seen mark of this client.
    - `limit`: how many items at most.
    - `epoch`: the epoch to which `since` belongs; None if that is not known.
    """

    since: int | None
    limit: int
    epoch: int | None = None


class Bell:
    """The bell of one device.

    `held` is the mark where it stood when it ended last time, None if it does not know; `epoch` is the epoch of that mark. Times are
    seconds of one clock.
    """

    def __init__(self, options: ClientOptions, held: int | None = None, epoch: int | None = None) -> None:
        self.held, self.epoch = held, epoch
        self.read = 0
        self.unread = 0
        self._read_before = self._changed_before = 0
        self._options = options
        self._queue: deque[Notification] = deque()
        self._ids: dict[str, None] = {}
        self._seen_by_hand = (held or 0) if options.seen_by_hand else None
        self._seen_told = 0
        self._seen_not_before_s = 0.0
        self._is_connected = False
        self._is_synced = False
        self._has_more = False
        self._has_missed = False
        self._is_count_old = False
        self._pull_not_before_s = 0.0
        self._recount_not_before_s = 0.0

    def connected(self, now_s: float) -> None:
        """Takes note that a connection was welcomed. The access point pulls for the client, and its answer may have come already."""
        self._is_connected = True
        if not self._is_synced:
            self._pull_not_before_s = now_s + self._options.hello_pull_s

    def lost(self) -> None:
        """Takes note that the connection ended."""
        self._is_connected = self._is_synced = False
        self._seen_told = 0  # whether the last one arrived is unknown
        self._read_before = self._changed_before = 0  # what comes over the next connection is newer

    def failed(self, retry_at_s: float) -> None:
        """Takes note that the server could not answer a pull or a seen. Neither is asked again before `retry_at_s`."""
        self._has_missed = True
        self._pull_not_before_s = self._seen_not_before_s = retry_at_s

    def live(self, item: Notification, epoch: int | None = None) -> None:
        """Takes an item that came through the engine; its mark belongs to `epoch`."""
        if self._is_other(epoch):
            self._has_missed = True
        elif self.held is not None and item.mark == self.held + 1 and self._accept(item):
            self.unread += item.rings and item.mark > self.read
        elif self.held is None or item.mark > self.held or item.id not in self._ids:
            self._has_missed = True  # a gap; or an old mark of a new event: the server may count anew

    def read_elsewhere(self, marks: ReadElsewhere) -> None:
        """Takes over a read mark that rose, or the count after a change, on whatever device."""
        if self._is_other(marks.epoch):
            self._has_missed = True
        elif marks.read >= self._read_before and marks.changed >= self._changed_before:
            self.read = self._read_before = marks.read
            self._changed_before = marks.changed
            self.unread = marks.unread

    def marked(self, marks: Marks, held_when_asked: int | None) -> None:
        """Takes the answer to a seen or a read; `held_when_asked` is `held` when it was asked."""
        self.read_elsewhere(ReadElsewhere(marks.read, marks.unread, marks.epoch, marks.changed))
        if self._is_other(marks.epoch):
            return
        self._seen_told = max(self._seen_told, marks.seen)
        self._is_count_old |= self.held != held_when_asked  # an item came meanwhile; was it counted?

    def pulled(self, answer: Pulled, pull: NextPull | None = None) -> None:
        """Takes the answer to `pull`, or to the pull that the access point made at hello (None)."""
        since = None if pull is None else pull.since
        start = 0 if answer.reset else answer.seen if since is None else since
        self._is_synced = True
        self._pull_not_before_s = 0.0
        if self.held is None or (answer.reset and since is not None):
            self._begin(start, answer.epoch)
        elif self._is_other(answer.epoch):
            self._has_missed = True
            return
        assert self.held is not None
        self.epoch = answer.epoch or self.epoch
        self._seen_told = max(self._seen_told, min(answer.seen, answer.next))
        self.read_elsewhere(ReadElsewhere(answer.read, answer.unread, answer.epoch, answer.changed))
        is_whole = start <= self.held and self._append(answer)
        is_overtaken = answer.next < self.held  # by live copies; or, at hello, the server counts anew
        self._has_more = not is_whole or answer.more or (is_overtaken and since is None)
        self._is_count_old = is_overtaken and since is not None

    def take(self) -> Notification | None:
        """Returns the next item to show, ascending by mark; None if there is none now."""
        return self._queue.popleft() if self._queue else None

    def see(self, mark: int) -> None:
        """Takes note that the application has dealt with everything up to `mark`."""
        if self._seen_by_hand is not None:
            self._seen_by_hand = max(self._seen_by_hand, mark)

    @property
    def seen(self) -> int | None:
        """The seen mark to keep and to tell; None while nothing is known."""
        if self.held is None:
            return None
        taken = min([self.held, *(item.mark - 1 for item in self._queue)])
        return taken if self._seen_by_hand is None else min(taken, self._seen_by_hand)

    def pull_due(self, now_s: float) -> NextPull | None:
        """Returns the pull to make now, None if there is none. One at a time: ask again when `pulled` or `failed` was called."""
        due_s = self._pull_due_s()
        if due_s is None or due_s > now_s:
            return None
        self._has_missed = False  # what is missed from here on, this pull may not know
        self._recount_not_before_s = now_s + RECOUNT_EVERY_S
        return NextPull(self.held, min(PAGE, self._room), self.epoch)

    def seen_due(self, now_s: float) -> int | None:
        """Returns the seen mark to tell now, None if there is none. It counts as told."""
        due_s = self._seen_due_s()
        if due_s is None or due_s > now_s:
            return None
        self._seen_not_before_s = now_s + self._options.seen_every_s
        self._seen_told = self.seen or 0
        return self._seen_told

    def next_due_s(self) -> float | None:
        """Returns when to ask `pull_due` and `seen_due` again, unless something happens before; None: only then."""
        return min((due_s for due_s in (self._pull_due_s(), self._seen_due_s()) if due_s is not None), default=None)

    @property
    def _room(self) -> int:
        return self._options.inbox_items - len(self._queue)

    def _pull_due_s(self) -> float | None:
        is_behind = self._has_more or self._has_missed or not self._is_synced
        has_room = self._room >= min(PAGE, (self._options.inbox_items + 1) // 2)  # not a pull for each item that is taken
        if not self._is_connected or not has_room or not (is_behind or self._is_count_old):
            return None
        return self._pull_not_before_s if is_behind else max(self._pull_not_before_s, self._recount_not_before_s)

    def _seen_due_s(self) -> float | None:
        seen = self.seen
        return self._seen_not_before_s if self._is_connected and seen is not None and seen > self._seen_told else None

    def _is_other(self, epoch: int | None) -> bool:
        return self.held is not None and None not in (epoch, self.epoch) and epoch != self.epoch

    def _begin(self, held: int, epoch: int | None) -> None:
        self.held, self.epoch = held, epoch
        self._read_before = self._changed_before = self._seen_told = 0
        if self._seen_by_hand is not None:
            self._seen_by_hand = 0

    def _append(self, answer: Pulled) -> bool:
        assert self.held is not None
        if not all(item.mark <= self.held or self._accept(item) for item in answer.items):
            return False
        self.held = max(self.held, answer.next)
        return True

    def _accept(self, item: Notification) -> bool:
        """Moves past `item`, and queues it unless it was shown. Returns False where there is no room."""
        if item.id not in self._ids:
            if self._room <= 0:
                return False
            self._queue.append(item)
            self._remember(item.id)
        self.held = item.mark
        return True

    def _remember(self, event_id: str) -> None:
        self._ids[event_id] = None
        if len(self._ids) > IDS_KEPT:
            del self._ids[next(iter(self._ids))]
