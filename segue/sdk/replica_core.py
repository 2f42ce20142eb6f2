"""The decisions of a playlist replica: what a device holds of a playlist, what it shows, and what it asks for next (SB-33). Pure.

The state is the newest version that is known, and the user's own edits that are not made yet. What is shown is that version with the
edits on top. Each track of the list has a number of its own here, so an edit means the same tracks whatever others do meanwhile: it is
made anew for each version, and what is left of it is asked for.

| what comes | and then |
|---|---|
| an edit | it shows at once, and is asked for when its turn comes |
| the next version | it is applied, and the edits go on top |
| a version behind a gap | it waits; the playlist is fetched |
| the contents | they replace what is older; tracks keep their numbers as far as they are still there |
| our own version, by event or by answer | what was asked for is done |
| no answer | it is asked for again, at the same version: the service makes it at most once |
| a conflict | the versions in between are on their way; if they do not come, the playlist is fetched |
| a refusal | the edit is taken back and told |
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from segue.sdk.replica_edits import Change, OwnEdit, ReplicaItem, anchors, applied, change_of, edited

# Versions that wait for those before them. Beyond, the playlist is fetched anyway.
MAX_AHEAD: Final = 64
MAX_EDITS: Final = 1000


class SendEdit(msgspec.Struct, frozen=True):
    """A request: make this `change` to this `version`, under this `id`."""

    id: str
    version: int
    change: dict[str, Any]


class FetchContents(msgspec.Struct, frozen=True):
    """A request: fetch the playlist."""


class AwaitVersions(msgspec.Struct, frozen=True):
    """A request: say `late(version)` in a moment."""

    version: int


class RefusedEdit(msgspec.Struct, frozen=True):
    """News of an edit that was taken back. `code` is one of the table of codes, or `unsure`: nobody can say whether it was made."""

    id: str
    op: str
    code: str
    reason: str


Request = SendEdit | FetchContents | AwaitVersions | RefusedEdit


class ReplicaCore:
    """The replica of one playlist. Each method that takes news returns what is to be done; `make_id` makes ids for edits."""

    def __init__(self, make_id: Callable[[], str]) -> None:
        self.version = 0
        self.name, self.collaborative, self.is_gone = "", False, False
        self._make_id = make_id
        self._items: list[ReplicaItem] = []
        self._edits: deque[OwnEdit] = deque()
        self._sent: tuple[OwnEdit, SendEdit] | None = None
        self._ahead: dict[int, Change] = {}
        self._is_fetching = self._is_missing = False
        self._last_number = 0

    # What it shows.

    @property
    def tracks(self) -> list[str]:
        """The tracks with the user's own edits."""
        return [item.track for item in self._shown()]

    @property
    def shown_name(self) -> str:
        """The name with the user's own edits."""
        return next((str(edit.value) for edit in reversed(self._edits) if edit.op == "rename"), self.name)

    @property
    def waiting(self) -> int:
        """How many edits are not made yet."""
        return len(self._edits)

    def _shown(self) -> list[ReplicaItem]:
        items = self._items
        for edit in self._edits:
            items = edited(items, edit)
        return items

    # The user's edits.

    def add(self, tracks: Iterable[str], position: int | None = None) -> list[Request]:
        """Puts `tracks` at the end of what is shown, or before the one at `position`."""
        shown = self._shown()
        at = len(shown) if position is None else position
        _check(0 <= at <= len(shown), at, shown)
        return self._edit(OwnEdit(self._make_id(), "add", [self._numbered(track) for track in tracks], anchors(shown[at:])))

    def remove(self, position: int, count: int = 1) -> list[Request]:
        """Takes away `count` tracks of what is shown, from `position` on."""
        shown = self._shown()
        _check(position >= 0 and count >= 1 and position + count <= len(shown), position, shown)
        return self._edit(OwnEdit(self._make_id(), "remove", shown[position : position + count]))

    def reorder(self, position: int, to: int, count: int = 1) -> list[Request]:
        """Moves `count` tracks of what is shown, from `position` on, before the one that is at `to` now."""
        shown = self._shown()
        _check(position >= 0 and count >= 1 and position + count <= len(shown), position, shown)
        _check(0 <= to <= len(shown) and not position < to < position + count, to, shown)
        moved = shown[position : position + count]
        behind = [item for item in shown[to:] if item not in moved]
        return self._edit(OwnEdit(self._make_id(), "reorder", moved, anchors(behind)))

    def rename(self, name: str) -> list[Request]:
        """Calls the playlist `name`."""
        return self._edit(OwnEdit(self._make_id(), "rename", value=name))

    def set_collaborative(self, collaborative: bool) -> list[Request]:
        """Says whether editors may change it."""
        return self._edit(OwnEdit(self._make_id(), "collaborative", value=collaborative))

    def _edit(self, edit: OwnEdit) -> list[Request]:
        if self.is_gone or len(self._edits) >= MAX_EDITS:
            why = ("not-found", "the playlist is gone") if self.is_gone else ("rate-limited", f"{MAX_EDITS} edits are not made yet")
            return [RefusedEdit(edit.id, edit.op, *why)]
        self._edits.append(edit)
        return self._next()

    def _numbered(self, track: str) -> ReplicaItem:
        self._last_number += 1
        return ReplicaItem(self._last_number, track)

    # What the service says.

    def reload(self) -> list[Request]:
        """Asks for the contents: nothing is known, or something may be missing."""
        self._is_missing = True
        if self._is_fetching or self.is_gone:
            return []
        self._is_fetching = True
        return [FetchContents()]

    def loaded(self, version: int, name: str, collaborative: bool, tracks: Sequence[str]) -> list[Request]:
        """Takes the contents that were fetched."""
        self._is_fetching = self._is_missing = False
        if version > self.version:
            self._items = self._renumbered(tracks)
            self.version, self.name, self.collaborative = version, name, collaborative
        return self._catch_up()

    def not_loaded(self) -> list[Request]:
        """Notes that the contents could not be fetched."""
        self._is_fetching = False
        return [AwaitVersions(self.version)]

    def changed(self, payload: Change) -> list[Request]:
        """Takes an event of the playlist's topic."""
        version = payload["version"]
        if version <= self.version or self.is_gone:
            return []
        self._ahead[version] = payload
        if len(self._ahead) > MAX_AHEAD:
            del self._ahead[min(self._ahead)]  # the newest stays, and says that something is missing
        return self._catch_up()

    def late(self, version: int) -> list[Request]:
        """Notes that a moment has passed since the replica was at `version`, and more was on its way."""
        return self.reload() if self._is_missing or self.version == version else []

    def gone(self, code: str, reason: str) -> list[Request]:
        """Notes that the playlist is deleted, or may not be seen any more."""
        self.is_gone = True
        taken, self._sent = list(self._edits), None
        self._edits.clear()
        return [RefusedEdit(edit.id, edit.op, code, reason) for edit in taken]

    def answered(self, id: str, version: int) -> list[Request]:
        """Notes that the service has made the edit `id`, which makes `version`."""
        if self._sent is None or self._sent[1].id != id:
            return []  # the event was first
        edit, sent = self._sent
        if version == self.version + 1:
            self._make(sent.change, edit.items, version)
        self._done(edit, sent.change)
        return self._catch_up()

    def conflicted(self, id: str) -> list[Request]:
        """Notes that the playlist has another version by now, so the edit `id` was not made, or was made before."""
        if self._sent is None or self._sent[1].id != id:
            return []
        _, sent = self._sent
        self._sent = None
        return self._next() if self.version > sent.version else [AwaitVersions(sent.version)]

    def refused(self, id: str, code: str, reason: str) -> list[Request]:
        """Notes that the service refuses the edit `id`."""
        if self._sent is None or self._sent[1].id != id:
            return []
        edit, _ = self._sent
        self._sent = None
        self._edits.remove(edit)
        return [RefusedEdit(edit.id, edit.op, code, reason), *self._next()]

    def unanswered(self, id: str) -> list[Request]:
        """Notes that nobody has answered for the edit `id`: it may have been made. `retry` asks again."""
        if self._sent is None or self._sent[1].id != id:
            return []
        edit, sent = self._sent
        edit.tried, self._sent = sent.version, None
        return []

    def retry(self) -> list[Request]:
        """Asks again for what nobody has answered."""
        return self._next()

    # Versions.

    def _catch_up(self) -> list[Request]:
        self._ahead = {version: payload for version, payload in self._ahead.items() if version > self.version}
        while (payload := self._ahead.pop(self.version + 1, None)) is not None:
            change = payload.get("change") or self._own_change(payload)
            if change is None:
                return self.reload()  # it was too large to be told
            if change["op"] == "delete":
                return self.gone("not-found", "the playlist is deleted")
            self._take(payload, change)
        return [*(self.reload() if self._ahead or not self.version else []), *self._next()]

    def _own_change(self, payload: Change) -> Change | None:
        return self._sent[1].change if self._sent is not None and self._sent[1].id == payload.get("edit") else None

    def _take(self, payload: Change, change: Change) -> None:
        version, name = payload["version"], payload["name"]
        head = self._edits[0] if self._edits else None
        if head is not None and payload.get("edit") == head.request_id:
            self._make(change, head.items, version)
            self._done(head, change)
        else:
            self._make(change, [], version)
            if head is not None and head.tried == version - 1:
                head.tried = None  # it was another edit that made this version, so ours was not made
        self.name = name

    def _make(self, change: Change, own: Sequence[ReplicaItem], version: int) -> None:
        items = own if change["op"] == "add" and len(own) == len(change["tracks"]) else None
        if change["op"] == "create":
            self._items = [self._numbered(track) for track in change["tracks"]]
            self.collaborative = change["collaborative"]
        elif change["op"] == "add":
            self._items = applied(self._items, change, items or [self._numbered(track) for track in change["tracks"]])
        else:
            self._items = applied(self._items, change, ())
        if change["op"] == "rename":
            self.name = change["name"]
        if change["op"] == "collaborative":
            self.collaborative = change["collaborative"]
        self.version = version

    def _done(self, edit: OwnEdit, change: Change) -> None:
        """Takes off what `change` has made of `edit`."""
        self._sent, edit.tried = None, None
        edit.part += 1
        edit.items = edit.items[change.get("count", 1) :] if edit.op in ("remove", "reorder") else []
        if not edit.items:
            self._edits.remove(edit)

    def _renumbered(self, tracks: Sequence[str]) -> list[ReplicaItem]:
        """Returns `tracks` with the numbers that they had, as far as they were there: from both ends, then by name and order."""
        old, start, end = self._items, 0, 0
        most = min(len(old), len(tracks))
        while start < most and old[start].track == tracks[start]:
            start += 1
        while end < most - start and old[-1 - end].track == tracks[-1 - end]:
            end += 1
        left: defaultdict[str, deque[ReplicaItem]] = defaultdict(deque)
        for item in old[start : len(old) - end]:
            left[item.track].append(item)
        middle = [left[track].popleft() if left[track] else self._numbered(track) for track in tracks[start : len(tracks) - end]]
        return [*old[:start], *middle, *old[len(old) - end :]]

    def _next(self) -> list[Request]:
        """Returns the request for the first edit, if it can be asked for now. Edits of which nothing is left are done."""
        found: list[Request] = []
        while self._edits and self.version and self._sent is None and not self._is_fetching:
            edit = self._edits[0]
            if edit.tried is not None and edit.tried < self.version:
                self._edits.popleft()
                found.append(RefusedEdit(edit.id, edit.op, "unsure", "no answer came, and it cannot be told whether it was made"))
                continue
            change = change_of(edit, self._items)
            if change is None:
                self._edits.popleft()  # others have done the same
                continue
            self._sent = edit, SendEdit(edit.request_id, self.version, change)
            found.append(self._sent[1])
        return found


def _check(is_right: bool, position: int, shown: Sequence[ReplicaItem]) -> None:
    if not is_right:
        raise IndexError(f"the playlist shows {len(shown)} tracks; {position} is no place for this")
