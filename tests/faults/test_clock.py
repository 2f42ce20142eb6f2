"""A clock that is set an hour forward and back (SB-37, SB-48): nothing is lost, marks rise, nobody is asked or mailed too often."""

from pathlib import Path

import pytest

from notification.email import EmailOptions
from notification.retries import MAX_ATTEMPTS
from tests.support.clocked import ClockedCluster
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, decided, me

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
JUMPS = (HOUR_S, -HOUR_S, -HOUR_S, HOUR_S, HOUR_S, -HOUR_S)


def mailing(server: ScriptedSmtp) -> EmailOptions:
    return EmailOptions(host="127.0.0.1", port=server.port, sender="notify@example.org", starttls="never")


async def test_marks_rise_and_nothing_is_lost_while_the_clock_jumps(tmp_path: Path) -> None:
    """SB-48: also over a restart at a time that is before the last rows."""
    async with ClockedCluster(tmp_path) as c, c.user("ann") as ann:
        number = 0
        for jump_s in JUMPS:
            c.clock.ahead_s += jump_s
            for _ in range(5):
                assert (await c.notify(album(number, "ann", "bob")))[0] == 202
                number += 1
        await decided(c, 2 * number)
        c.clock.ahead_s -= HOUR_S
        await c.crash("sto/n1")
        await c.start("sto/n1")
        await c.settle()
        assert (await c.notify(album(number, "ann", "bob")))[0] == 202
        await ann.until(lambda: any(event["id"] == f"bjork-{number}" for event in ann.events))
        async with c.user("bob") as bob:
            for user in (ann, bob):
                items = (await user.pull(since=0, limit=500))["items"]
                assert [(item["mark"], item["id"]) for item in items] == [(n + 1, f"bjork-{n}") for n in range(number + 1)]


@pytest.mark.slow
async def test_retries_do_not_storm_while_the_clock_jumps(tmp_path: Path) -> None:
    """A mail server in trouble is asked once for each time that is due, and `MAX_ATTEMPTS` times in all."""
    async with ScriptedSmtp() as server:
        server.refused["bob@example.org"] = "451 later"
        async with ClockedCluster(tmp_path, email=mailing(server)) as c:
            await me(c, "bob", "PUT", "preferences", {"email": "bob@example.org"})
            await c.notify(album(1, "bob"))
            await c.ended(retried=1)
            for _ in range(MAX_ATTEMPTS + 2):
                c.clock.ahead_s += HOUR_S
                before = sum(c.endings.values())
                await c.until(lambda before=before: c.endings["dead"] > 0 or sum(c.endings.values()) > before)  # type: ignore[misc]
                c.clock.ahead_s -= HOUR_S / 2
                c.module.stored.owned.agenda.news.set()  # look now
            await c.ended(dead=1)
            assert c.endings["retried"] < MAX_ATTEMPTS
            assert len(server.was_encrypted) == c.endings["retried"] + 1


@pytest.mark.slow
async def test_a_digest_goes_out_once_though_its_hour_comes_twice(tmp_path: Path) -> None:
    """The clock passes eight o'clock, is set back, and passes it again; what comes meanwhile is in the next one."""
    async with ScriptedSmtp() as server, ClockedCluster(tmp_path, email=mailing(server)) as c:
        await me(c, "bob", "PUT", "preferences", {"email": "bob@example.org", "digest": "daily"})
        await c.notify([album(n, "bob") for n in range(3)])
        await c.until(lambda: c.module.stored.worker.scheduled == 3)
        c.clock.ahead_s += DAY_S
        await c.ended(delivered=3)
        c.clock.ahead_s -= DAY_S
        await c.notify(album(3, "bob"))
        await c.until(lambda: c.module.stored.worker.scheduled == 4)
        c.clock.ahead_s += 2 * DAY_S
        await c.ended(delivered=4)
        texts = [mail.get_body(("plain",)).get_content() for _, mail in server.mails]  # type: ignore[union-attr]
    assert [[f"Album {n}" in text for n in range(4)] for text in texts] == [[True, True, True, False], [False, False, False, True]]
