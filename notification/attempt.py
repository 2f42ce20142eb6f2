"""The attempts to send what is due: each is decided once more before it goes (spec 8, SB-41, SB-42)."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from infra.kernel.errors import Unavailable
from rule_engine.verdict import Way

from .core import EMAIL, LIVE, PUSH, UNKNOWN, Decider, postponed, preferences_of
from .letter import Line
from .module_context import ModuleContext
from .notice import Notice
from .online import Online
from .outcome import Outcome, OutcomeState, gone
from .owned import Owned
from .retelling import Retelling
from .retries import next_delay_s
from .stand import DELETED, deleted_events
from .store import Device, Person, Sent, Task
from .webhook import CHANNEL as WEBHOOK
from .webhook import Webhook, body_of, message_id_of, webhook_id_of

# Questions to the store and to presence that are under way for each channel, and mails. Pushes have places of their own (`Pusher`).
PARALLEL: Final = 16
KEPT_TIMES: Final = 32
ASK_AGAIN_MS: Final = 2000


class MailChannel(Protocol):
    """A channel that sends one mail about one or several notifications."""

    async def mail(self, user: str, address: str, lines: Sequence[Line], zone: str) -> Outcome:
        """Makes one attempt for `user`: a mail to `address` about `lines`, with times in `zone`."""


class PushChannel(Protocol):
    """A channel that sends one push to one device."""

    async def push(self, device: Device, line: Line) -> Outcome:
        """Makes one attempt."""


class WebhookChannel(Protocol):
    """A channel that posts one message to one webhook."""

    async def call(self, webhook: Webhook, message_id: str, body: bytes) -> Outcome:
        """Makes one attempt."""


class Job(NamedTuple):
    """The tasks that go out as one: a push, a mail, or all that is due for a user's digest."""

    user: str
    channel: str
    tasks: list[Task]


class _Decided(NamedTuple):
    """The decision about a job: which of its tasks are sent, which have ended unsent, and what it was decided by."""

    job: Job
    ended: list[Sent]
    notices: dict[str, Notice]
    person: Person
    now_ms: int


class Attempts:
    """The maker of attempts: one for each job.

    - `module`, `owned`: the store, and what is owned of it.
    - `decider`, `online`: what decides once more.
    - `mail`, `push`, `webhooks`: the channels. Tasks of a channel that is None are dropped, and `why` says so.
    - `retelling`: takes the tasks that are live copies.

    `ended` counts how tasks ended, by state.
    """

    def __init__(
        self,
        module: ModuleContext,
        owned: Owned,
        decider: Decider,
        online: Online,
        mail: MailChannel | None,
        push: PushChannel | None,
        webhooks: WebhookChannel | None,
        retelling: Retelling,
    ) -> None:
        self.ended: dict[str, int] = {"delivered": 0, "dropped": 0, "dead": 0, "retried": 0, "pruned": 0}
        self._module, self._store, self._logger = module, module.store, module.context.log
        self._owned, self._agenda = owned, owned.agenda
        self._decider, self._online, self._mail, self._push, self._retelling = decider, online, mail, push, retelling
        self._webhooks = webhooks
        self._slots: dict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(PARALLEL))

    async def make(self, job: Job) -> bool:
        """Makes one attempt for `job`; returns whether the other side failed for now. Raises Unavailable when the store does.

        A job that cannot be done because of a defect becomes dead letters: it must not hold up the others of its shard. Of several tasks
        each is tried by itself first, since perhaps only one of them is at fault.
        """
        try:
            return await self._make(job)
        except Unavailable:
            raise
        except Exception as defect:
            self._logger.exception("a mail or push could not be made", channel=job.channel, events=[task.event for task in job.tasks])
            if len(job.tasks) > 1:
                return any([await self.make(job._replace(tasks=[task])) for task in job.tasks])
            reason, now_ms = f"a defect of ours: {defect!r:.200}", self._module.now_ms()
            await self._store.record([Sent(task.user, task.event, task.channel, "dead", reason, now_ms) for task in job.tasks])
            self.ended["dead"] += len(job.tasks)
            return False

    async def put_off(self, tasks: Iterable[Task]) -> None:
        """Puts `tasks` on the agenda for a moment later. It counts as no attempt. Raises Unavailable."""
        due_ms = self._module.now_ms() + ASK_AGAIN_MS
        await self._agenda.add([task._replace(due_ms=due_ms) for task in tasks])

    async def _make(self, job: Job) -> bool:
        async with self._slots[kind_of(job.channel)]:
            self._agenda.check()
            decided = await self._decide(job)
            if not is_alone(job.channel):
                return await self._carry_out(decided)
        return await self._carry_out(decided)  # a push service or an endpoint that is slow holds no place that others need to decide

    async def _decide(self, job: Job) -> _Decided:
        """Returns what is to be sent of `job`. What is to wait is on the agenda again, and what is live has been told."""
        now_ms = self._module.now_ms()
        person = (await self._owned.people.get([job.user]))[job.user]
        notices = await self._store.notices({task.event for task in job.tasks})
        online = (await self._online.ask([job.user]))[job.user]
        deleted = await deleted_events(self._store, job.user, [task.event for task in job.tasks])
        ended = [Sent(task.user, task.event, task.channel, "dropped", DELETED, now_ms) for task in job.tasks if task.event in deleted]
        job = job._replace(tasks=[task for task in job.tasks if task.event not in deleted])
        decided = _Decided(job._replace(tasks=[]), ended, notices, person, now_ms)
        if not job.tasks:
            return decided
        if online & UNKNOWN:  # a user who is online may not be mailed: wait until that is known
            await self.put_off(job.tasks)
        elif job.channel == LIVE:
            await self._store.record(await self._retelling.tell(job.tasks, person, notices, online, now_ms))
        else:
            await self._sort(job, decided, online)
        return decided

    async def _sort(self, job: Job, decided: _Decided, online: int) -> None:
        """Puts each task where it belongs: to what is sent, to what has ended, or on the agenda again."""
        person, now_ms = decided.person, decided.now_ms
        for task in job.tasks:
            verdict = self._verdict(task, decided.notices.get(task.event), person, online, now_ms)
            if not isinstance(verdict, Way):  # a way is a text, too
                decided.ended.append(Sent(task.user, task.event, task.channel, "dropped", verdict, now_ms))
            elif (later := postponed(task, verdict, preferences_of(person), now_ms)) is not None:
                await self._agenda.add([later])
            else:
                decided.job.tasks.append(task)

    async def _carry_out(self, decided: _Decided) -> bool:
        """Sends what is to be sent, and stores what has ended; returns whether the other side failed for now."""
        ended, is_late = decided.ended, False
        if decided.job.tasks:
            sent, is_late = await self._send(decided.job, decided.notices, decided.person, decided.now_ms)
            ended = [*ended, *sent]
        if ended:
            await self._store.record(ended)
        for each in ended:
            self.ended[each.state] += 1
        return is_late

    def _verdict(self, task: Task, notice: Notice | None, person: Person, online: int, now_ms: int) -> Way | str:
        """Returns the way that the rules want the task to go now, or why it is not to go at all."""
        kind = kind_of(task.channel)
        if {PUSH: self._push, WEBHOOK: self._webhooks}.get(kind, self._mail) is None:
            return f"no way to send a {kind} is configured here"
        if notice is None:
            return "it has expired"
        verdict = self._decider.verdict(notice, person, 0, online, now_ms)
        channel, way = {PUSH: (PUSH, verdict.push), WEBHOOK: (WEBHOOK, verdict.webhook)}.get(kind, (EMAIL, verdict.email))
        if way is Way.NO:
            return " ".join(reason for reason in verdict.reasons if f"-{channel}:" in reason) or f"no rule grants {channel} now"
        return way

    async def _send(self, job: Job, notices: dict[str, Notice], person: Person, now_ms: int) -> tuple[list[Sent], bool]:
        """Returns what has ended, and whether the other side failed for now."""
        outcome = await self._hand_over(job, [notices[task.event] for task in job.tasks], person)
        if outcome.state is OutcomeState.RETRY:
            return await self._again(job, outcome, now_ms), True
        if outcome.state is OutcomeState.DELIVERED:
            await self._count(person, job.channel, now_ms)
        state = {OutcomeState.DELIVERED: "delivered", OutcomeState.GONE: "dropped", OutcomeState.FAILED: "dead"}[outcome.state]
        return [Sent(task.user, task.event, task.channel, state, outcome.reason, now_ms) for task in job.tasks], False

    async def _hand_over(self, job: Job, notices: Sequence[Notice], person: Person) -> Outcome:
        """Makes one attempt on the channel of `job`."""
        if kind_of(job.channel) == WEBHOOK:
            return await self._call_webhook(person, webhook_id_of(job.channel), notices[0])
        lines = list(map(_line, notices))
        return await (self._send_push(person, lines[0]) if job.channel == PUSH else self._send_mail(person, lines))

    async def _call_webhook(self, person: Person, webhook_id: str, notice: Notice) -> Outcome:
        """Posts to one webhook. One that wants no more is removed."""
        assert self._webhooks is not None
        webhook = next((each for each in await self._store.webhooks(person.user) if each.id == webhook_id), None)
        if webhook is None:
            return gone("the webhook was removed")
        message_id, body = message_id_of(person.user, webhook_id, notice.id), body_of(person.user, notice)
        outcome = await self._webhooks.call(webhook, message_id, body)
        if outcome.state is OutcomeState.GONE:
            await self._store.remove_webhook(person.user, webhook_id)
            self.ended["pruned"] += 1
            person.webhooks = tuple(each for each in person.webhooks if each != webhook_id)
        return outcome

    async def _send_mail(self, person: Person, lines: Sequence[Line]) -> Outcome:
        preferences = preferences_of(person)
        assert self._mail is not None
        assert preferences.email is not None  # the rules grant no mail without an address
        return await self._mail.mail(person.user, preferences.email, lines, preferences.tz)

    async def _send_push(self, person: Person, line: Line) -> Outcome:
        """Pushes to every device. It is delivered if any device took it, and is tried again only if none did."""
        assert self._push is not None
        outcomes = []
        for device in await self._store.devices(person.user):
            outcome = await self._push.push(device, line)
            outcomes.append(outcome)
            if outcome.state is OutcomeState.GONE:
                await self._store.remove_device(person.user, device.endpoint)
                self.ended["pruned"] += 1
                person.has_devices = bool(await self._store.devices(person.user))
        best = (OutcomeState.DELIVERED, OutcomeState.RETRY, OutcomeState.FAILED, OutcomeState.GONE)
        return min(outcomes, key=lambda each: best.index(each.state), default=Outcome(OutcomeState.GONE, "no device is left"))

    async def _again(self, job: Job, outcome: Outcome, now_ms: int) -> list[Sent]:
        """Puts the job on the agenda again. When it was tried too often, returns dead letters instead, which an operator may replay."""
        first = job.tasks[0]
        delay_s = next_delay_s(first.attempt, first.started_ms, now_ms, self._module.context.rng, outcome.retry_after_s or 0.0)
        if delay_s is None:
            return [Sent(t.user, t.event, t.channel, "dead", f"{t.attempt} attempts: {outcome.reason}", now_ms) for t in job.tasks]
        due_ms = now_ms + int(delay_s * 1000)
        await self._agenda.add([task._replace(due_ms=due_ms, attempt=task.attempt + 1) for task in job.tasks])
        self.ended["retried"] += len(job.tasks)
        return []

    async def _count(self, person: Person, channel: str, now_ms: int) -> None:
        """Remembers when something was sent, for the throttle; it is for people, so messages to webhooks do not count."""
        if kind_of(channel) == WEBHOOK:
            return
        if channel == PUSH:
            person.pushes = (*person.pushes, now_ms)[-KEPT_TIMES:]
        else:
            person.mails = (*person.mails, now_ms)[-KEPT_TIMES:]
        await self._store.save_sent_times(person.user, person.mails, person.pushes)


def kind_of(channel: str) -> str:
    """Returns the kind of a task's channel: the channel itself, but one kind for all webhooks."""
    return WEBHOOK if webhook_id_of(channel) else channel


def is_alone(channel: str) -> bool:
    """Returns whether what goes out on `channel` does so one by one, at the places of whoever takes it."""
    return kind_of(channel) in (PUSH, WEBHOOK)


def jobs_of(tasks: Iterable[Task]) -> list[Job]:
    """Returns jobs. Mails of one user that are due at the same moment are one mail; whatever `is_alone` is one by itself."""
    jobs: list[Job] = []
    for (_, user, channel), same in groupby(tasks, key=lambda task: (task.due_ms, task.user, task.channel)):
        together = list(same)
        jobs.extend([Job(user, channel, together)] if not is_alone(channel) else [Job(user, channel, [task]) for task in together])
    return jobs


def _line(notice: Notice) -> Line:
    return Line(
        topic=notice.topic,
        cls=notice.class_,
        kind=notice.kind,
        ts_ms=notice.ts_ms,
        id=notice.id,
        payload=msgspec.json.decode(notice.payload, type=dict[str, Any]),
    )
