"""Dispatch: whoever does not answer keeps their own place, and nobody else's."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from notification import dispatch
from notification.dispatch import MAX_LINE
from notification.email import EmailOptions
from notification.push import PushOptions
from notification.shards import shard_of
from notification.store import Task
from tests.support.clocked import ClockedCluster
from tests.support.cluster import Cluster
from tests.support.faulty_stores import open_forgetful_store
from tests.support.push_receiver import HANG, PushReceiver
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, me, stored

EVE: Final = "eve"
# What they get is due in the same shard.
NEIGHBOUR: Final = next(name for name in (f"bob{n}" for n in range(1000)) if shard_of(name) == shard_of(EVE))
STRANGER: Final = "cyd"
DEVICES: Final = 20
EVENTS: Final = 20
PAUSE_S: Final = 0.2
# Nobody waits for that long: what hangs hangs until the test has ended.
PATIENT: Final = PushOptions(contact="mailto:ops@example.org", allow_loopback=True, timeout_s=600.0)


def mailing(smtp: ScriptedSmtp) -> EmailOptions:
    return EmailOptions(host="127.0.0.1", port=smtp.port, sender="n@example.org", starttls="never")


async def has_phones(c: Cluster, user: str, receiver: PushReceiver, count: int = 1) -> None:
    device = receiver.subscription()
    keys = {"p256dh": device.p256dh, "auth": device.auth}
    for number in range(count):
        status, _ = await me(c, user, "POST", "devices", {"endpoint": f"{device.endpoint}-{number}", "keys": keys})
        assert status == 201


async def test_endpoints_of_one_user_that_do_not_answer_hold_up_nobody_else(tmp_path: Path) -> None:
    """Twenty devices and twenty events of one user are one place. Others of the same shard and of others get mails and pushes."""
    async with (
        ScriptedSmtp() as smtp,
        PushReceiver() as silent,
        PushReceiver() as prompt,
        stored(tmp_path, push=PATIENT, email=mailing(smtp)) as c,
    ):
        silent.answers[:] = [(HANG, {}, "")] * DEVICES * EVENTS
        await has_phones(c, EVE, silent, DEVICES)
        await c.notify([album(number, EVE) for number in range(EVENTS)])
        await c.until(silent.hanging.is_set)
        for user in (NEIGHBOUR, STRANGER):
            await has_phones(c, user, prompt)
            await me(c, user, "PUT", "preferences", {"email": f"{user}@example.org"})
        await c.notify([album(number, NEIGHBOUR, STRANGER, artist="sigur") for number in range(3)])
        await c.until(lambda: len(prompt.pushes) == 6, lambda: f"{len(prompt.pushes)} pushes")
        await c.until(lambda: {to for to, _ in smtp.mails} == {f"{NEIGHBOUR}@example.org", f"{STRANGER}@example.org"})
        assert (silent.most_at_once, silent.requests) == (1, 1)
        silent.let_go()


async def test_what_waits_behind_a_push_that_failed_for_now_goes_later_and_nothing_is_lost(tmp_path: Path) -> None:
    """The first is refused for now; then the line is put off, longer than a line may be, and all goes when the clock has gone on."""
    async with PushReceiver() as receiver, ClockedCluster(tmp_path, push=PATIENT) as c:
        receiver.answers[:] = [(503, {}, "")]
        await has_phones(c, EVE, receiver)
        await c.notify([album(number, EVE) for number in range(MAX_LINE + 2)])
        await c.ended(retried=1)
        c.clock.ahead_s += 60
        await c.ended(delivered=MAX_LINE + 2)
        assert (receiver.most_at_once, receiver.requests) == (1, MAX_LINE + 3)


async def test_what_the_store_does_not_answer_is_tried_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when there is news all the time."""
    monkeypatch.setattr(dispatch, "PERIOD_S", PAUSE_S)
    async with ScriptedSmtp() as smtp, ClockedCluster(tmp_path, email=mailing(smtp), open_store=open_forgetful_store) as c:
        store, agenda = c.module.stored.store, c.module.stored.owned.agenda
        now_ms = int(c.clock() * 1000)
        await agenda.add([Task(shard_of(EVE), now_ms, EVE, "email", "e1", 1, now_ms)])
        await c.until(lambda: store.asked >= 1)
        asked, start_s = store.asked, asyncio.get_running_loop().time()
        await c.until(lambda: agenda.news.set() or store.asked >= asked + 5)
        assert asyncio.get_running_loop().time() - start_s >= 4 * PAUSE_S
