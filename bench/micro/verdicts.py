"""`python -m bench.micro.verdicts CASES` times the rule engine under its default rules."""

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click
import msgspec

from infra.kernel.topics import parse_topic
from rule_engine.facts import CLASSES_OF, FACTS, Facts
from rule_engine.gather import Follower, Occasion, gather
from rule_engine.load import default_text, load
from rule_engine.preferences import Preferences, Quiet
from rule_engine.rules import RuleSet

ALBUM: Final = Occasion(topic=parse_topic("hm://notifications/feed/a1%new-album/"), kind="album", producer="a1")
NOW_MS: Final = 1_790_000_000_000
_FLAGS: Final = [fact.attribute for fact in FACTS.values() if fact.type is bool]

T = TypeVar("T")


class VerdictFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Verdicts a second.

    - `decided_per_s`: facts by chance, with no memory of earlier verdicts.
    - `remembered_per_s`: facts of followers, with the memory that the worker has.
    - `gathered_per_s`: the same from preferences on.
    """

    decided_per_s: float
    remembered_per_s: float
    gathered_per_s: float

    def plain(self) -> dict[str, float]:
        """Returns the figures by name."""
        return msgspec.structs.asdict(self)


def measure(cases: int) -> VerdictFigures:
    """Draws `cases` cases first, then decides them."""
    rng = random.Random(1)
    rules = load(default_text(), "default rules")
    fresh = RuleSet(rules.rules, rules.settings, remembered=0)
    followers = [_follower(rng) for _ in range(cases)]
    return VerdictFigures(
        decided_per_s=_rate([_facts(rng) for _ in range(cases)], fresh.decide),
        remembered_per_s=_rate([gather(*follower, NOW_MS) for follower in followers], rules.decide),
        gathered_per_s=_rate(followers, lambda follower: rules.decide(gather(*follower, NOW_MS))),
    )


def _rate(cases: Sequence[T], decide: Callable[[T], object]) -> float:
    started_s = time.perf_counter()
    for case in cases:
        decide(case)
    return len(cases) / (time.perf_counter() - started_s)


def _facts(rng: random.Random) -> Facts:
    """Returns facts of which each is true in half of all cases. So more rules match than in life."""
    topic = rng.choice(list(CLASSES_OF))
    known: dict[str, Any] = {flag: rng.random() < 0.5 for flag in _FLAGS}
    known |= {"mails_recent": rng.randrange(6), "pushes_recent": rng.randrange(14)}
    return Facts(topic=topic, cls=rng.choice(CLASSES_OF[topic]), **known)


def _follower(rng: random.Random) -> tuple[Preferences, Occasion, Follower]:
    """Returns one of the many followers of an artist. One of five is online, one of four has quiet hours."""
    preferences = Preferences(
        email="ann@example.org",
        channels={"new-album": {"email": False}} if rng.random() < 0.3 else {},
        tz=rng.choice(("Europe/Stockholm", "America/New_York", "Asia/Tokyo")),
        quiet=Quiet(since="22:00", until="07:00") if rng.random() < 0.25 else None,
    )
    follower = Follower(
        desktop=rng.random() < 0.1,
        mobile=rng.random() < 0.1,
        mobile_known=rng.random() < 0.5,
        mails_recent=rng.randrange(3),
        pushes_recent=rng.randrange(3),
    )
    return preferences, ALBUM, follower


if __name__ == "__main__":
    click.echo(msgspec.json.encode(measure(int(sys.argv[1]))))
