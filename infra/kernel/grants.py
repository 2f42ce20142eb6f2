"""Grants: what a token allows its user to follow, as topics (with `*` for any id) and kinds of topic. Pure.

They narrow what a user may follow. They never widen it: the rules that need no grants (`check_may_see`) are asked first everywhere.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

from .errors import Refused
from .topics import Kind, Topic, format_topic, kind_of, parse_pattern

MAX_TOPICS: Final = 200
GRANTED_KINDS: Final = (Kind.USER, Kind.PLAYLIST, Kind.ARTIST, Kind.SOCIAL)


class Grants:
    """The topics and kinds of topic that a token allows to follow. Immutable, equal by value, and asked in constant time.

    Patterns are kept in the compact form of topics, with `*` for any id: `U*`, `Palice/*`, `A*%new-album`.
    """

    __slots__ = ("kinds", "patterns")

    def __init__(self, *, patterns: frozenset[bytes] = frozenset(), kinds: frozenset[Kind] = frozenset()) -> None:
        self.patterns = patterns
        self.kinds = kinds

    @classmethod
    def of(cls, *, topics: Any = None, kinds: Any = None) -> Self | None:
        """Returns the grants of the claims `topics` and `kinds`, None where a token has neither: it does not narrow anything.

        Raises `Refused("bad-token")` for claims that are no grants. An empty list allows nothing.
        """
        if topics is None and kinds is None:
            return None
        uris, names = _texts("topics", topics), _texts("kinds", kinds)
        return cls(patterns=frozenset(map(_pattern, uris)), kinds=frozenset(map(_kind, names)))

    def allows(self, topic: Topic) -> bool:
        """Returns whether `topic` may be followed."""
        return kind_of(topic) in self.kinds or topic in self.patterns or any(form in self.patterns for form in _forms(topic))

    def refusal(self, topic: Topic) -> Refused | None:
        """Returns why `topic` may not be followed; None if it may."""
        return None if self.allows(topic) else Refused("forbidden", f"your token does not allow you to see {format_topic(topic)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grants) and (self.patterns, self.kinds) == (other.patterns, other.kinds)

    def __hash__(self) -> int:
        return hash((self.patterns, self.kinds))

    def __repr__(self) -> str:
        return f"Grants(patterns={sorted(self.patterns)!r}, kinds={sorted(self.kinds)!r})"


class TopicsByPattern:
    """The `topics` of a question, by what would allow them: to ask many grants about many topics costs no more than both together."""

    __slots__ = ("_of_kind", "_of_pattern")

    def __init__(self, topics: Iterable[Topic]) -> None:
        self._of_kind: dict[Kind, list[Topic]] = {}
        self._of_pattern: dict[bytes, list[Topic]] = {}
        for topic in topics:
            self._of_kind.setdefault(kind_of(topic), []).append(topic)
            for form in (topic, *_forms(topic)):
                self._of_pattern.setdefault(form, []).append(topic)

    def allowed_by(self, grants: Grants) -> set[Topic]:
        """Returns those topics that `grants` allow."""
        found = [self._of_kind.get(kind, ()) for kind in grants.kinds]
        found += [self._of_pattern.get(pattern, ()) for pattern in grants.patterns]
        return set().union(*found)


def _forms(topic: Topic) -> Iterator[bytes]:
    """Yields the patterns with `*` that match `topic`."""
    tag, text = topic[:1], topic[1:]
    if kind_of(topic) is Kind.PLAYLIST:
        owner, _, playlist = text.partition(b"/")
        yield from (tag + owner + b"/*", tag + b"*/" + playlist, tag + b"*/*")
    else:
        _, percent, kind = text.partition(b"%")
        yield tag + b"*" + percent + kind


def _texts(claim: str, value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MAX_TOPICS or not all(isinstance(text, str) for text in value):
        raise Refused("bad-token", f"the claim `{claim}` must be a list of at most {MAX_TOPICS} strings")
    return value


def _pattern(uri: str) -> bytes:
    try:
        pattern = parse_pattern(uri)
    except Refused as refused:
        raise Refused("bad-token", f"the claim `topics` has a wrong entry: {refused.reason}") from None
    if kind_of(Topic(pattern)) is Kind.INBOX:
        raise Refused("bad-token", "the claim `topics` names an inbox, and nobody may name one")
    return pattern


def _kind(name: str) -> Kind:
    if name not in GRANTED_KINDS:
        raise Refused("bad-token", f"the claim `kinds` has {name!r:.40}; the kinds are {', '.join(GRANTED_KINDS)}")
    return Kind(name)
