"""The decisions of the rule worker: which user is told what, under which mark, by which ways (spec 8). Pure.

Time, presence and everything stored are arguments; what is to be stored, told and scheduled comes back. A `Person` is the
worker's own: the last mark rises here, once for each stored item, so a follower's marks have no gap.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from infra.kernel.events import Event
from rule_engine.facts import Facts
from rule_engine.gather import Follower, Occasion, gather
from rule_engine.preferences import Preferences, digest_due_ms, quiet_until_ms
from rule_engine.rules import RuleSet
from rule_engine.verdict import Verdict, Way

from . import items
from .notice import Notice
from .shards import SHARDS, shard_of
from .store import FRIEND, SENT, Decision, LogRow, Person, Task
from .webhook import CHANNEL as WEBHOOK
from .webhook import channel_of

DESKTOP: Final = 1
MOBILE: Final = 2
# Nobody could say whether the user is online. They may get a live copy in vain; mails and pushes are decided again anyway.
UNKNOWN: Final = 4
# What tasks are for. A digest is a mail, too, but one that waits for its hour.
PUSH: Final = "push"
EMAIL: Final = "email"
DIGEST: Final = "digest"
# A live copy that goes again.
LIVE: Final = "live"
# Kept among the reasons of a decision after which a live copy went to the engine.
WENT_LIVE: Final = "+live"

_DECODE: Final = msgspec.json.Decoder(Preferences).decode
_DEFAULT: Final = Preferences()


class Plan(NamedTuple):
    """The consequences of a batch of rows.

    - `decided`: what to store.
    - `live`: what to tell the engine, once that is stored.
    - `tasks`: what to do later.
    """

    decided: list[tuple[Decision, Notice]]
    live: list[Event]
    tasks: list[Task]


class _Ruling(NamedTuple):
    """A verdict and what follows from it.

    - `types`: the notification types that the rules chose.
    - `is_kept`: it becomes an item. Whatever reaches a user by any way can be pulled later.
    - `is_live`: a copy goes to the engine.
    - `told`: what all followers are told alike.
    """

    verdict: Verdict
    types: tuple[str, ...]
    is_kept: bool
    is_live: bool
    has_tasks: bool
    told: bytes


# Event, flags, online, preferences, whether there are devices, and webhooks.
Alike = tuple[str, int, int, bytes, bool, bool]


class Patience(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The seconds until a mail or a push goes out. A user who comes online within them is told there instead."""

    email_s: float = 60.0
    push_s: float = 0.0


class Decider:
    """The rules and the patience, applied to batches of rows. `epoch()` is the store's, which live copies bear."""

    def __init__(self, rules: RuleSet, patience: Patience, epoch: Callable[[], int]) -> None:
        self.rules, self.patience, self.epoch = rules, patience, epoch
        self.verdicts = 0
        self._mandatory = frozenset(rules.settings.mandatory)
        self._window_ms = rules.settings.throttle_window_s * 1000

    def plan(
        self,
        rows: Iterable[LogRow],
        notices: Mapping[str, Notice],
        people: Mapping[str, Person],
        online: Mapping[str, int],
        known: Mapping[tuple[str, str], Decision],
        now_ms: int,
    ) -> Plan:
        """Decides each row.

        - `rows`: of owned shards, in order.
        - `notices`: what they are about. A row whose notice has expired meanwhile is passed over.
        - `people`: their users; their last marks rise.
        - `online`: the bits of each user.
        - `known`: what was decided already, which is only told again (SB-39, SB-62).
        - `now_ms`: Unix time.
        """
        plan = Plan([], [], [])
        fresh: set[tuple[str, str]] = set()
        alike: dict[Alike, _Ruling] = {}
        for row in rows:
            notice = notices.get(row.event)
            key = (row.user, row.event)
            if notice is None or key in fresh:  # two rows of one (user, event): the request was repeated, and both are in this batch
                continue
            person = people[row.user]
            ruling = self._ruling(notice, person, row.flags, online[row.user], now_ms, alike)
            decision = known.get(key)
            if decision is None:
                fresh.add(key)
                decision = _decision(person, notice, ruling, now_ms)
                plan.decided.append((decision, notice))
            if decision.mark and ruling.is_live:
                plan.live.append(items.live(row.user, decision.mark, self.epoch(), decision.types, notice, ruling.told))
            if ruling.has_tasks:
                plan.tasks.extend(self.tasks(decision, ruling.verdict, person, now_ms))
        return plan

    def _ruling(self, notice: Notice, person: Person, flags: int, online: int, now_ms: int, alike: "dict[Alike, _Ruling]") -> "_Ruling":
        """Returns what the rules say, worked out once for all followers of an event who differ in nothing that rules ask about.

        `alike`: the rulings of this batch so far. A user who was sent something lately is not like others, since their numbers differ.
        """
        key = (notice.id, flags & (FRIEND | SENT), online, person.preferences, person.has_devices, bool(person.webhooks))
        is_plain = not (person.mails or person.pushes)
        ruling = alike.get(key) if is_plain else None
        if ruling is None:
            verdict = self.verdict(notice, person, flags, online, now_ms)
            types = _types(verdict)
            is_kept = verdict.engine or bool(types)
            has_tasks = any(way is not Way.NO for way in (verdict.push, verdict.email, verdict.webhook))
            # What went live on its topic is not published there again, but the bell hears of the item that it became.
            is_told = verdict.engine or (flags & SENT != 0 and self.verdict(notice, person, flags & ~SENT, online, now_ms).engine)
            is_live = is_kept and (is_told or (online & UNKNOWN != 0 and verdict.in_client))
            ruling = _Ruling(verdict, types, is_kept, is_live, has_tasks, items.told(notice))
            if is_plain:
                alike[key] = ruling
        return ruling

    def verdict(self, notice: Notice, person: Person, flags: int, online: int, now_ms: int) -> Verdict:
        """Returns what the rules say at `now_ms` about `notice` for `person`; for `flags` and `online` see `facts`."""
        self.verdicts += 1
        return self.rules.decide(self.facts(notice, person, flags, online, now_ms))

    def facts(self, notice: Notice, person: Person, flags: int, online: int, now_ms: int) -> Facts:
        """Returns what the rules are told: of the row's `flags`, of the user's `online` bits, and of `notice` and `person` at `now_ms`."""
        since_ms = now_ms - self._window_ms
        follower = Follower(
            friend=flags & FRIEND != 0,
            sent=flags & SENT != 0,
            # With `UNKNOWN` nobody counts as online: a mail that is decided now is decided once more before it goes.
            desktop=online & (DESKTOP | UNKNOWN) == DESKTOP,
            mobile=online & (MOBILE | UNKNOWN) == MOBILE,
            mobile_known=person.has_devices,
            webhook_known=bool(person.webhooks),
            mails_recent=_recent(person.mails, since_ms),
            pushes_recent=_recent(person.pushes, since_ms),
        )
        return gather(preferences_of(person), _occasion(notice), follower, now_ms, self._mandatory)

    def tasks(self, decision: Decision, verdict: Verdict, person: Person, now_ms: int) -> Iterable[Task]:
        """Returns what `verdict` grants `person` after `decision`: mails, pushes, messages to webhooks; each at its time after `now_ms`."""
        patience = self.patience
        for channel, way, patience_s in ((PUSH, verdict.push, patience.push_s), (EMAIL, verdict.email, patience.email_s)):
            if way is not Way.NO:
                at_ms = now_ms + int(patience_s * 1000)
                task = Task(shard_of(decision.user) % SHARDS, at_ms, decision.user, channel, decision.event, 1, at_ms)
                yield postponed(task, way, preferences_of(person), at_ms) or task
        if verdict.webhook is not Way.NO:
            for webhook_id in person.webhooks:
                channel = channel_of(webhook_id)
                yield Task(shard_of(decision.user) % SHARDS, now_ms, decision.user, channel, decision.event, 1, now_ms)


def postponed(task: Task, way: Way, preferences: Preferences, now_ms: int) -> Task | None:
    """Returns `task` as it is to be done later, if `now_ms` is not its time; None if it is.

    `way` is what the rules say; the hours are those of `preferences`.
    """
    if way is Way.DIGEST and task.channel == EMAIL:
        due_ms = digest_due_ms(preferences, now_ms)
        return task._replace(channel=DIGEST, due_ms=due_ms, started_ms=due_ms)
    quiet_ms = quiet_until_ms(preferences, now_ms) if way is Way.AFTER_QUIET else None
    return None if quiet_ms is None else task._replace(due_ms=quiet_ms, started_ms=quiet_ms)


def _decision(person: Person, notice: Notice, ruling: _Ruling, now_ms: int) -> Decision:
    """Returns the decision, under the next mark of the follower; under 0 where nothing at all is stored for them."""
    if ruling.is_kept:
        # Raised before it is stored: the next row of this user, in this batch or in the one that is planned meanwhile, gets the next.
        person.last += 1
        person.shown += items.IN_CLIENT in ruling.types
    mark = person.last if ruling.is_kept else 0
    reasons = (*ruling.verdict.reasons, WENT_LIVE) if mark and ruling.is_live else ruling.verdict.reasons
    return Decision(person.user, notice.id, mark, person.shown, ruling.types, reasons, now_ms)


@lru_cache(maxsize=1 << 10)
def _types(verdict: Verdict) -> tuple[str, ...]:
    """Returns the notification types that the rules chose (SB-44)."""
    chosen = (
        (items.IN_CLIENT, verdict.in_client),
        ("push", verdict.push is not Way.NO),
        ("email", verdict.email is not Way.NO),
        (WEBHOOK, verdict.webhook is not Way.NO),
    )
    return tuple(name for name, is_chosen in chosen if is_chosen)


@lru_cache(maxsize=1 << 10)
def _occasion(notice: Notice) -> Occasion:
    return Occasion(topic=notice.compact, kind=notice.kind, producer=notice.producer)


def preferences_of(person: Person) -> Preferences:
    """Returns what a user prefers; the defaults for one who said nothing."""
    return _decoded(person.preferences) if person.preferences else _DEFAULT


_decoded: Final[Callable[[bytes], Preferences]] = lru_cache(maxsize=1 << 12)(_DECODE)


def _recent(times_ms: Iterable[int], since_ms: int) -> int:
    return sum(time_ms > since_ms for time_ms in times_ms)
