"""The notification module of one user, as small as its contract allows: a list of items and the marks of their clients.

It counts unread items and cuts pages in the simplest way, so that it can be trusted.
"""

import copy
from collections.abc import Iterable
from typing import Any

TS_MS = 1_790_000_000_000
ALBUM = "hm://notifications/feed/bjork%new-album/"
INBOX = "hm://notifications/inbox/alice/"


class InboxModel:
    """The model. `items` are stored now, ascending; `last` is the mark that was given last; `epoch` names this history of marks.

    `states` has what was said of single items, and `news` what all devices are still to be told.
    """

    def __init__(self) -> None:
        self.epoch = 1
        self.items: list[dict[str, Any]] = []
        self.last = 0
        self.read_mark = 0
        self.seen_marks: dict[str, int] = {}
        self.states: dict[int, dict[str, bool]] = {}
        self.changed = 0
        self.news: list[dict[str, Any]] = []
        self._stored = 0

    def store(self, *, rings: bool = True, **fields: Any) -> dict[str, Any]:
        """Stores one more item and returns it as its live copy has it. All items are of the same millisecond."""
        self.last += 1
        self._stored += 1
        types = ["in-client", "push"] if rings else []
        item = {"mark": self.last, "topic": ALBUM, "kind": "album", "class": "new-album", "ts": TS_MS, "id": f"ev-{self._stored}"}
        item |= {"payload": {"artist": "Björk", "album": f"No. {self._stored}"}, "types": types} | fields
        self.items.append(item)
        return item | {"epoch": self.epoch}

    def expire(self, count: int) -> None:
        """Drops the `count` oldest items, which reach their age. When none is left the user is forgotten, and counting begins anew."""
        for item in self.items[:count]:
            self.states.pop(item["mark"], None)
        del self.items[:count]
        if not self.items:
            self.last = self.read_mark = 0
            self.seen_marks.clear()

    def backup(self) -> dict[str, Any]:
        """Returns a copy of the store."""
        return copy.deepcopy({name: vars(self)[name] for name in ("items", "last", "read_mark", "seen_marks", "states", "changed")})

    def put_back(self, backup: dict[str, Any]) -> None:
        """Goes back to a copy: a new epoch begins."""
        vars(self).update(copy.deepcopy(backup))
        self.epoch += 1

    def unread(self) -> int:
        """Returns how many items a bell counts."""
        return sum("in-client" in item["types"] and not (self._is_read(item) or self._is(item, "archived")) for item in self._there())

    def _there(self) -> list[dict[str, Any]]:
        return [item for item in self.items if not self._is(item, "deleted")]

    def _is(self, item: dict[str, Any], what: str) -> bool:
        return self.states.get(item["mark"], {}).get(what, False)

    def _is_read(self, item: dict[str, Any]) -> bool:
        return bool(self.states.get(item["mark"], {}).get("read", item["mark"] <= self.read_mark))

    def _told(self, item: dict[str, Any]) -> dict[str, Any]:
        return item | {"read": self._is_read(item)} | ({"archived": True} if self._is(item, "archived") else {})

    def pull(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a pull."""
        since = message.get("since", self.seen_marks.get(client, 0))
        is_reset = since > self.last or ("since" in message and self._is_other(message))
        later = [item for item in self.items if is_reset or item["mark"] > since]
        page = later[: message.get("limit", 50)]
        has_more = len(page) < len(later)
        answer = {"op": "notifications", "id": message.get("id"), "next": page[-1]["mark"] if has_more else self.last, "more": has_more}
        answer["items"] = [self._told(item) for item in page if not self._is(item, "deleted")]
        return answer | self._marks(client) | ({"reset": True} if is_reset else {})

    def seen(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a seen."""
        if not self._is_other(message):
            self.seen_marks[client] = min(self.last, max(self.seen_marks.get(client, 0), message["mark"]))
        return {"op": "marks", "id": message.get("id"), **self._marks(client)}

    def read(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a read."""
        if not self._is_other(message):
            mark = min(self.last, message.get("mark", self.last))
            has_risen, self.read_mark = mark > self.read_mark, max(self.read_mark, mark)
            if unread := [each for each, state in self.states.items() if each <= mark and state.get("read") is False]:
                self._change("read", unread, {"up_to": mark})
            elif has_risen:
                self.news.append(self.read_elsewhere())
        return {"op": "marks", "id": message.get("id"), **self._marks(client)}

    def list(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a list."""
        is_reset = "before" in message and self._is_other(message)
        before = self.last + 1 if is_reset else message.get("before", self.last + 1)
        fits = [item for item in reversed(self._there()) if item["mark"] < before and self._is(item, "archived") == message["archived"]]
        page = fits[: message.get("limit", 50)]
        answer = {"op": "list", "id": message.get("id"), "next": page[-1]["mark"] if len(page) < len(fits) else None}
        answer["items"] = [self._told(item) for item in page]
        return answer | self._marks(client) | ({"reset": True} if is_reset else {})

    def change(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a change."""
        action, there = message["action"], {item["mark"] for item in (self.items if message["action"] == "delete" else self._there())}
        done = [mark for mark in message["marks"] if mark in there and not self._is_other(message)]
        if done:
            self._change(action, done, {"marks": sorted(done)})
        rejected = [
            {"mark": mark, "code": "unknown-mark", "number": 4117, "reason": "none"} for mark in message["marks"] if mark not in done
        ]
        return {"op": "marks", "id": message.get("id"), **self._marks(client), "rejected": rejected}

    def _change(self, action: str, marks: Iterable[int], told: dict[str, Any]) -> None:
        name, value = {"unread": ("read", False), "archive": ("archived", True), "unarchive": ("archived", False)}.get(
            action, ("deleted", True) if action == "delete" else ("read", True)
        )
        for mark in marks:
            self.states.setdefault(mark, {})[name] = value
        after, self.changed = self.changed, self.changed + 10
        self.news.append({**self.read_elsewhere(), "after": after, "action": action, **told})

    def read_elsewhere(self) -> dict[str, Any]:
        """Returns the payload of the live event that tells all devices of the read mark."""
        return {"epoch": self.epoch, "read": self.read_mark, "unread": self.unread()} | self._changes()

    def _changes(self) -> dict[str, int]:
        return {"changed": self.changed} if self.changed else {}

    def _is_other(self, message: dict[str, Any]) -> bool:
        return bool(message.get("epoch", self.epoch) != self.epoch)

    def _marks(self, client: str) -> dict[str, Any]:
        return {
            "epoch": self.epoch,
            "seen": self.seen_marks.get(client, 0),
            "read": self.read_mark,
            "unread": self.unread(),
        } | self._changes()
