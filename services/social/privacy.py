"""Privacy: who may see what, decided from the graph and from what users have set. The facts are read, the policy decides."""

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from infra.kernel.access import (
    AccessFacts,
    AccessRule,
    Listening,
    Relation,
    Visibility,
    edit_verdict,
    is_everybodys,
    verdict,
)
from infra.kernel.topics import Kind, Topic, kind_of, owner_of, user_topic

from ..follows import FollowStore
from .privacy_store import PlaylistKey, PlaylistPrivacy, PrivacyStore, key_of

MAY_SEE: Final = 0
_UNSET: Final = PlaylistPrivacy()


class PrivacyDefaults(NamedTuple):
    """The settings that hold for users and playlists of which nothing is set."""

    listening: Listening = Listening.FRIENDS
    visibility: Visibility = Visibility.PUBLIC


class _Settings(NamedTuple):
    """The settings of owners, as far as a question needs them."""

    listening: dict[str, Listening]
    playlists: dict[PlaylistKey, PlaylistPrivacy]


class Privacy:
    """The answers about all users. All methods raise Unavailable when the store cannot answer now.

    However many topics are asked about, the store is asked five questions.
    """

    def __init__(self, store: PrivacyStore, follows: FollowStore, defaults: PrivacyDefaults) -> None:
        self._store, self._follows, self._defaults = store, follows, defaults

    async def rules(self, user: str, topics: Sequence[Topic]) -> list[int]:
        """Returns for each of `topics` the number of the rule that forbids `user` to see it; 0 if none does."""
        asked = [topic for topic in topics if _needs_facts(user, topic)]
        owners = list(dict.fromkeys(owner_of(topic) for topic in asked))
        relations, settings = await asyncio.gather(self.relations(user, owners), self._settings(asked))
        return [_number(verdict(kind_of(topic), self._facts(user, topic, relations, settings))) for topic in topics]

    async def edit_rule(self, user: str, topic: Topic) -> int:
        """Returns the number of the rule that forbids `user` to edit the collaborative playlist of `topic`; 0 if none does."""
        relations, settings = await asyncio.gather(self.relations(user, [owner_of(topic)]), self._settings([topic]))
        facts = self._facts(user, topic, relations, settings)
        editors = settings.playlists.get(key_of(topic), _UNSET).editors
        return _number(edit_verdict(facts, collaborative=True, has_editors=bool(editors)))

    async def audience(self, topic: Topic, users: Sequence[str]) -> list[tuple[bool, bool]]:
        """Returns for each of `users` whether they may see `topic`, and whether they follow its owner."""
        return [(number == MAY_SEE, follows) for number, follows in await self._judged(topic, users)]

    async def rules_of_users(self, topic: Topic, users: Sequence[str]) -> list[int]:
        """Returns for each of `users` the number of the rule that forbids them to see `topic`; 0 if none does."""
        return [number for number, _ in await self._judged(topic, users)]

    async def _judged(self, topic: Topic, users: Sequence[str]) -> list[tuple[int, bool]]:
        """Returns for each of `users` the number of the rule, and whether they follow the owner of `topic`."""
        owner = owner_of(topic)
        settings, blocked, follow, followed = await asyncio.gather(
            self._settings([topic]),
            self._store.blocked_among(owner, users),
            self._follows.follows(user_topic(owner), users),
            self._follows.followed(owner, [user_topic(user) for user in users]),
        )
        found: list[tuple[int, bool]] = []
        for user, follows in zip(users, follow, strict=True):
            relation = _relation(is_self=user == owner, is_blocked=user in blocked, follows=follows, back=user_topic(user) in followed)
            rule = verdict(kind_of(topic), self._facts(user, topic, {owner: relation}, settings))
            found.append((_number(rule), follows))
        return found

    async def relations(self, user: str, owners: Sequence[str]) -> dict[str, Relation]:
        """Returns what `user` is to each of `owners`."""
        others = [owner for owner in owners if owner != user]
        relations = dict.fromkeys(owners, Relation.SELF)
        if others:
            blocked, followed, back = await asyncio.gather(
                self._store.blocked_among(user, others),
                self._follows.followed(user, [user_topic(owner) for owner in others]),
                self._follows.follows(user_topic(user), others),
            )
            for owner, follows_back in zip(others, back, strict=True):
                follows = user_topic(owner) in followed
                relations[owner] = _relation(is_self=False, is_blocked=owner in blocked, follows=follows, back=follows_back)
        return relations

    async def listening(self, user: str) -> Listening:
        """Returns who sees what `user` plays."""
        return (await self._store.listening_of([user])).get(user, self._defaults.listening)

    async def playlist(self, playlist: PlaylistKey) -> PlaylistPrivacy:
        """Returns what holds for `playlist`."""
        found = (await self._store.playlists([playlist])).get(playlist, _UNSET)
        return found._replace(visibility=found.visibility or self._defaults.visibility)

    async def _settings(self, topics: Sequence[Topic]) -> _Settings:
        users = list(dict.fromkeys(owner_of(topic) for topic in topics if kind_of(topic) is Kind.USER))
        playlists = list(dict.fromkeys(key_of(topic) for topic in topics if kind_of(topic) is Kind.PLAYLIST))
        return _Settings(
            await self._store.listening_of(users) if users else {},
            await self._store.playlists(playlists) if playlists else {},
        )

    def _facts(self, user: str, topic: Topic, relations: dict[str, Relation], settings: _Settings) -> AccessFacts:
        owner, defaults = owner_of(topic), self._defaults
        relation = Relation.SELF if owner == user else relations.get(owner, Relation.STRANGER)
        if kind_of(topic) is not Kind.PLAYLIST:
            return AccessFacts(relation, settings.listening.get(owner, defaults.listening))
        playlist = settings.playlists.get(key_of(topic), _UNSET)
        return AccessFacts(relation, visibility=playlist.visibility or defaults.visibility, is_editor=user in playlist.editors)


def _needs_facts(user: str, topic: Topic) -> bool:
    return kind_of(topic) in (Kind.USER, Kind.PLAYLIST) and not is_everybodys(user, topic)


def _relation(*, is_self: bool, is_blocked: bool, follows: bool, back: bool) -> Relation:
    if is_self:
        return Relation.SELF
    if is_blocked:
        return Relation.BLOCKED
    if not follows:
        return Relation.STRANGER
    return Relation.FRIENDS if back else Relation.FOLLOWER


def _number(rule: AccessRule | None) -> int:
    return MAY_SEE if rule is None else rule.number
