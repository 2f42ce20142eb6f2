"""Makes `docs/authorization.md` from the policy: `.venv/bin/python -m tests.deploy.authorization_page`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from infra.kernel.access import RULES, AccessFacts, AccessRule, Listening, Relation, Visibility, edit_verdict, verdict
from infra.kernel.topics import Kind
from tests.deploy.http_rights import section

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "authorization.md"

_INTRODUCTION: Final = """\
# Authorization

Who may see what of whom, and what can a user set? [tokens.md](tokens.md) says who somebody is. This page says what they may see then.

Everything is decided by one policy, in `infra/kernel/access.py`. A user who asks has a relation to the owner of what they ask for:

| relation | |
|---|---|
| self | it is the same user |
| friends | both follow each other |
| follower | the user follows the owner, and not the other way round |
| stranger | the user does not follow the owner |
| blocked | one of the two blocks the other |

## What an owner can set

| setting | values | at first |
|---|---|---|
| who sees what I play | `everyone`, `followers`, `friends`, `nobody` | `friends`; the option `default_listening` of the social service |
| who sees a playlist of mine | `public`, `followers`, `private` | `public`; the option `default_playlist` |
| who edits a collaborative playlist of mine | a list of editors, at most 500; without one, all who see it | no list |
| whom I block | at most 10,000 users | nobody |
| on which device nobody sees what I play | a private session, until I end it or for some hours | none |

With `segue up` in another shell:

```sh
segue privacy listening followers --user ann
segue privacy playlist summer private --editor bob --user ann
segue privacy session phone --hours 6 --user ann
segue block eve --user ann
segue privacy show --user ann
```

The SDK has the same as `segue.Social`, and [openapi-social.json](openapi-social.json) describes the HTTP API under it. The social
service keeps the settings, with SQLite or Cassandra. A playlist can be made private before it is created: the setting is kept under
its id. An editor sees the playlist, whatever its visibility is. When the last editor is taken off the list there is no list, and all
who see the playlist edit it again; make it not collaborative to prevent that.

**A change counts at once.** Every access point hears of it, asks again about what clients hold, ends what is forbidden now, and tells
the client (see [client-protocol.md](client-protocol.md)). What was delivered before stays delivered, and what is in an inbox stays
there. Follows of a playlist end for everybody who may not see it any more, so no notification about it is stored for them. When they
may see it again, they have to follow it again.

**Nobody is told that they are blocked.** The answer is the same as for somebody whom a setting keeps out. A blocked user who tries to
follow the other is refused, and may guess why.

## The table

`seen`, or the rule that forbids it. Rows are settings of the owner.
"""

_RULES: Final = """
## The rules

| id | rule |
|---|---|
"""

_REST: Final = """
## Where it is asked

| what | who asks the policy |
|---|---|
| a subscription, `last`, `history` | the access point, when the client asks and when something has changed. Never per event |
| a playlist over HTTP: itself, its followers, following it, changing it | the playlist service |
| lists of playlists: what a user owns, what they follow | the playlist service. They leave out what the asker may not see |
| what a user follows, and who follows a playlist | the playlist service: told to those who may see what that user plays (AUTH-5) |
| all followers of a playlist | told to its owner |
| a notification about a playlist | the playlist service, for each follower, at the time of the notification |
| following all playlists of an owner | the playlist service, for each playlist |
| a line in a friend feed or a post on a wall about a playlist | the playlist service: for public playlists only |
| friends by an address book | the social service: [how](friends.md#linking-an-address-book) |
| who is subscribed to a user's feed | the social service: told to that user and to services |
| what a user owns in the notification module: inbox, preferences, devices, why | nobody: each request is about the user of the token |

Services with a token of their own see every playlist.

## When nobody can be asked

While the social service cannot be reached, what stands stands: subscriptions go on. A new one waits, and is then `unavailable`. So is
every request at the playlist service for which social would have to be asked. Owners go on with what is theirs, and everybody with
artists.

A playlist service whose option `social` is empty has nobody to ask, at any time. There all playlists are public, and everybody edits a
collaborative one. Who sees what users play is then decided by the access points alone, by their option `policy`:

| `policy` | who decides |
|---|---|
| `social` | the social service, as above |
| `token` | [tokens](tokens.md): users see what theirs name |
| `hook` | a server of yours, which is [asked](hook.md) |
| `open` | nobody: everybody sees everything |

Under each of them users see what is theirs, and nobody names an inbox.

This page is made from the policy and from the table of doors (`tests/deploy/http_rights.py`) by `tests/deploy/authorization_page.py`.
Tests compare them, and walk both tables through all these doors (`tests/security/test_rights.py`: every route with every kind of token).
"""


class Case(NamedTuple):
    """A row of the table: a topic under a setting of its owner, and what it takes to see it or to edit it."""

    kind: Kind
    name: str
    facts: AccessFacts
    is_edit: bool = False
    has_editors: bool = False

    def verdict(self, relation: Relation) -> AccessRule | None:
        """Returns the rule that forbids it to a user in this relation."""
        facts = self.facts._replace(relation=relation)
        if self.is_edit:
            return edit_verdict(facts, collaborative=True, has_editors=self.has_editors)
        return verdict(self.kind, facts)


def cases() -> Iterator[Case]:
    """Yields all rows."""
    nobody = AccessFacts(Relation.STRANGER)
    for listening in Listening:
        yield Case(Kind.USER, f"what a user plays: `{listening}`", nobody._replace(listening=listening))
    for visibility in reversed(Visibility):
        yield Case(Kind.PLAYLIST, f"a playlist: `{visibility}`", nobody._replace(visibility=visibility))
    private = nobody._replace(visibility=Visibility.PRIVATE, is_editor=True)
    yield Case(Kind.PLAYLIST, "a playlist: `private`, for its editors", private)
    for visibility in reversed(Visibility):
        name, facts = f"edit a collaborative playlist: `{visibility}`", nobody._replace(visibility=visibility)
        yield Case(Kind.PLAYLIST, f"{name}, no list of editors", facts, is_edit=True)
        yield Case(Kind.PLAYLIST, f"{name}, not on the list", facts, is_edit=True, has_editors=True)
        yield Case(Kind.PLAYLIST, f"{name}, on the list", facts._replace(is_editor=True), is_edit=True, has_editors=True)
    yield Case(Kind.SOCIAL, "which friends of a user have joined", nobody)
    yield Case(Kind.ARTIST, "an artist", nobody)
    yield Case(Kind.INBOX, "an inbox, by its name", nobody)


def render() -> str:
    """Returns the whole page."""
    head = "\n| | " + " | ".join(Relation) + " |\n|---|" + "---|" * len(Relation) + "\n"
    rules = "".join(f"| {rule.id} | {rule.text} |\n" for rule in RULES)
    return _INTRODUCTION + head + "".join(map(_row, cases())) + _RULES + rules + section() + _REST


def _row(case: Case) -> str:
    seen = "yes" if case.is_edit else "seen"
    return f"| {case.name} | " + " | ".join(_word(case.verdict(relation), seen) for relation in Relation) + " |\n"


def _word(rule: AccessRule | None, seen: str) -> str:
    return seen if rule is None else rule.id


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
