"""Makes `docs/sdk-calls.md` from both clients, the commands and the scenarios: `.venv/bin/python -m tests.clients.calls_page`."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from segue import (
    ArtistClient,
    Client,
    NotificationInbox,
    Notifier,
    Operator,
    PlaylistClient,
    PlaylistReplica,
    Publisher,
    SettingsClient,
    Social,
)
from tests.architecture.sources import ROOT
from tests.clients.conformance.runner import SCENARIOS

PAGE: Final = ROOT / "docs" / "sdk-calls.md"
SOURCES: Final = ROOT / "clients" / "js" / "src"
# By the heading of its table: a class of the Python SDK, and the file of the client in TypeScript where its like is. None: it has none.
PARTS: Final[dict[str, tuple[type, str | None]]] = {
    "Client": (Client, "client.ts"),
    "NotificationInbox": (NotificationInbox, "inbox.ts"),
    "api.social": (Social, "social.ts"),
    "api.playlists": (PlaylistClient, "playlists.ts"),
    "PlaylistReplica": (PlaylistReplica, "playlist_replica.ts"),
    "api.artists": (ArtistClient, "artists.ts"),
    "api.settings": (SettingsClient, "preferences.ts"),
    "api.notifier": (Notifier, None),
    "Publisher": (Publisher, None),
    "api.operator": (Operator, None),
}
# Parts of the SDK use these, not applications.
INTERNAL: Final = {"Client.watch", "Client.unwatch", "Client.feed", "NotificationInbox.came", "NotificationInbox.heard"} | {
    "NotificationInbox.connected",
    "PlaylistReplica.heard",
    "PlaylistReplica.missed",
    "PlaylistReplica.ended",
}
# Where TypeScript has another word than the Python name in its own spelling.
IN_TYPESCRIPT: Final = {
    "Client.notifications": 'on("notification")',
    "NotificationInbox.changed": 'on("change")',
}
# What Python has in the place of what only TypeScript has.
IN_PYTHON: Final = {
    "Client.connect": "`async with`",
    "Client.on": "`on_state`, `on_gap`, …",
    "Client.state": "`on_state`",
    "Client.recent": "`list_notifications`",
    "NotificationInbox.load": "`async with`",
    "NotificationInbox.close": "`async with`",
    "PlaylistReplica.open": "`async with`",
}
# What the shell has for a call; some commands do several things.
COMMANDS: Final = {
    "Client.subscribe": "listen",
    "Client.follow": "listen --friends",
    "Client.act": "act",
    "Client.set_private": "privacy session",
    "Client.notifications": "listen --notifications",
    "Client.list_notifications": "inbox list",
    "Client.history": "history",
    "Client.last": "last",
    "NotificationInbox.mark_read": "inbox read",
    "NotificationInbox.mark_unread": "inbox unread",
    "NotificationInbox.archive": "inbox archive",
    "NotificationInbox.unarchive": "inbox unarchive",
    "NotificationInbox.delete": "inbox delete",
    "api.social.friends": "friends list",
    "api.social.followers": "friends followers",
    "api.social.follow": "friends add",
    "api.social.unfollow": "friends remove",
    "api.social.links": "links list",
    "api.social.link": "links add",
    "api.social.unlink": "links remove",
    "api.social.wall": "wall",
    "api.social.set_wall": "wall",
    "api.social.blocks": "privacy show",
    "api.social.block": "block",
    "api.social.unblock": "unblock",
    "api.social.privacy": "privacy show",
    "api.social.set_listening": "privacy listening",
    "api.social.begin_private": "privacy session",
    "api.social.end_private": "privacy session --off",
    "api.social.playlist": "privacy playlist",
    "api.social.set_playlist": "privacy playlist",
    "api.social.set_editor": "privacy playlist --editor",
    "api.playlists.create": "playlists create",
    "api.playlists.get": "playlists show",
    "api.playlists.owned_by": "playlists list",
    "api.playlists.followed_by": "playlists list --followed",
    "api.playlists.followers": "playlists followers",
    "api.playlists.follow": "playlists follow",
    "api.playlists.unfollow": "playlists unfollow",
    "api.playlists.rename": "playlists rename",
    "api.playlists.set_collaborative": "playlists collaborative",
    "api.playlists.add": "playlists add",
    "api.playlists.remove": "playlists remove",
    "api.playlists.reorder": "playlists reorder",
    "api.playlists.delete": "playlists delete",
    "api.artists.followed": "artists list",
    "api.artists.follow": "artists follow",
    "api.artists.unfollow": "artists unfollow",
    "api.settings.preferences": "prefs show",
    "api.settings.set_preferences": "prefs set",
    "api.settings.devices": "devices list",
    "api.settings.remove_device": "devices remove",
    "api.settings.webhooks": "webhooks list",
    "api.settings.add_webhook": "webhooks add",
    "api.settings.remove_webhook": "webhooks remove",
    "api.settings.rotate_webhook": "webhooks rotate",
    "api.settings.test_webhook": "webhooks test",
    "api.settings.why": "why",
    "api.notifier.notify": "notify",
    "Publisher.publish": "publish",
    "Publisher.publish_many": "publish --file",
    "api.operator.sessions": "admin sessions",
    "api.operator.disconnect": "admin disconnect",
    "api.operator.unsubscribe": "admin unsubscribe",
    "api.operator.announce": "admin announce",
    "api.operator.ban": "admin ban",
    "api.operator.unban": "admin unban",
    "api.operator.bans": "admin bans",
    "api.operator.revoke": "admin revoke",
    "api.operator.revocations": "admin revocations",
    "api.operator.ring": "ring status",
    "api.operator.change_ring": "ring run",
    "api.operator.stop_ring": "ring abort",
}
_INTRODUCTION: Final = """\
# What each client calls it

Which call of one client is which of the other, and which command does it? [sdk.md](sdk.md) and [browser.md](browser.md) say what the
calls do. The client for browsers has nothing for services and operators: their tokens do not belong in a page.

The last column counts the [scenarios](../clients/conformance/README.md) in which both clients make a call. What `api` has for users,
both also make at a real site: a test makes each of these calls there (`tests/clients/conformance/test_whole.py`). Decisions of a
replica have [scenarios of their own](../clients/conformance/README.md#the-replica-of-a-playlist).

This page is made by `tests/clients/calls_page.py`. A test compares it with the clients, the commands and the scenarios.
"""


def render() -> str:
    """Returns the whole page."""
    played = _played()
    return _INTRODUCTION + "".join(_table(part, played) for part in PARTS)


def calls(part: str) -> list[str]:
    """Returns what applications use of a part: its methods and properties, in the order of the code."""
    kind, _ = PARTS[part]
    names = [name for name, value in vars(kind).items() if not name.startswith("_") and (callable(value) or isinstance(value, property))]
    return [name for name in names if f"{part}.{name}" not in INTERNAL]


def in_typescript(part: str, name: str) -> str | None:
    """Returns what TypeScript calls it; None where it has nothing like it."""
    if PARTS[part][1] is None:
        return None
    return IN_TYPESCRIPT.get(f"{part}.{name}") or re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def named_in_typescript(part: str) -> set[str]:
    """Returns the methods and properties of the class of a part in TypeScript."""
    _, file = PARTS[part]
    text = (SOURCES / str(file)).read_text(encoding="utf-8")
    return set(re.findall(r"^  (?:override )?(?:async )?\*?(?:get )?([a-z]\w*)(?:<[^>]*>)?\(", text, re.MULTILINE)) - {"constructor"}


def _played() -> Mapping[str, set[str]]:
    """Returns the names of the scenarios in which each call is made."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for request in SCENARIOS["requests"]:
        found[f"api.{request['call']}"].add(request["name"])
    for scenario in SCENARIOS["scenarios"]:
        for call in _said(scenario["steps"]):
            found[f"{'NotificationInbox' if call in calls('NotificationInbox') else 'Client'}.{call}"].add(scenario["name"])
    return found


def _said(steps: list[dict[str, object]]) -> Iterator[str]:
    return (str(step["call"]) for step in steps if "call" in step)


def _table(part: str, played: Mapping[str, set[str]]) -> str:
    head = f"\n## {part}\n\n| Python | TypeScript | command | scenarios |\n|---|---|---|---|\n"
    begun = [
        f"| {python} | `{where.removeprefix(f'{part}.')}` |  |  |\n" for where, python in IN_PYTHON.items() if where.startswith(f"{part}.")
    ]
    return head + "".join([*begun, *(_row(part, name, played) for name in calls(part))])


def _row(part: str, name: str, played: Mapping[str, set[str]]) -> str:
    where = f"{part}.{name}"
    other, command = in_typescript(part, name), COMMANDS.get(where)
    cells = [f"`{name}`", f"`{other}`" if other else "", f"`segue {command}`" if command else "", str(len(played.get(where, ())) or "")]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
