"""The notification module of one user, as small as its contract allows: a list of items and the marks of their clients.

It counts unread items and cuts pages in the simplest way, so that it can be trusted.
"""

import copy
from typing import Any

TS_MS = 1_790_000_000_000
ALBUM = "hm://notifications/feed/bjork%new-album/"
INBOX = "hm://notifications/inbox/alice/"


class InboxModel:
    """The model. `items` are stored now, ascending; `last` is the mark that was given last; `epoch` names this history of marks."""

    def __init__(self) -> None:
        self.epoch = 1
        self.items: list[dict[str, Any]] = []
        self.last = 0
        self.read_mark = 0
        self.seen_marks: dict[str, int] = {}
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
        del self.items[:count]
        if not self.items:
            self.last = self.read_mark = 0
            self.seen_marks.clear()

    def backup(self) -> dict[str, Any]:
        """Returns a copy of the store."""
        return copy.deepcopy({name: vars(self)[name] for name in ("items", "last", "read_mark", "seen_marks")})

    def put_back(self, backup: dict[str, Any]) -> None:
        """Goes back to a copy: a new epoch begins."""
        vars(self).update(copy.deepcopy(backup))
        self.epoch += 1

    def unread(self) -> int:
        """Returns how many items a bell counts."""
        return sum("in-client" in item["types"] and item["mark"] > self.read_mark for item in self.items)

    def pull(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a pull."""
        since = message.get("since", self.seen_marks.get(client, 0))
        is_reset = since > self.last or ("since" in message and self._is_other(message))
        later = [item for item in self.items if is_reset or item["mark"] > since]
        page = later[: message.get("limit", 50)]
        has_more = len(page) < len(later)
        answer = {"op": "notifications", "id": message.get("id"), "next": page[-1]["mark"] if has_more else self.last, "more": has_more}
        answer["items"] = [item | {"read": item["mark"] <= self.read_mark} for item in page]
        return answer | self._marks(client) | ({"reset": True} if is_reset else {})

    def seen(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a seen."""
        if not self._is_other(message):
            self.seen_marks[client] = min(self.last, max(self.seen_marks.get(client, 0), message["mark"]))
        return {"op": "marks", "id": message.get("id"), **self._marks(client)}

    def read(self, client: str, message: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to a read."""
        if not self._is_other(message):
            self.read_mark = max(self.read_mark, min(self.last, message.get("mark", self.last)))
        return {"op": "marks", "id": message.get("id"), **self._marks(client)}

    def read_elsewhere(self) -> dict[str, Any]:
        """Returns the payload of the live event that tells all devices of the read mark."""
        return {"epoch": self.epoch, "read": self.read_mark, "unread": self.unread()}

    def _is_other(self, message: dict[str, Any]) -> bool:
        return bool(message.get("epoch", self.epoch) != self.epoch)

    def _marks(self, client: str) -> dict[str, Any]:
        return {"epoch": self.epoch, "seen": self.seen_marks.get(client, 0), "read": self.read_mark, "unread": self.unread()}
