"""The client of the notification intake: what it sends, and what it makes of answers."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from infra.kernel.errors import Refused, Unavailable
from services.intake_client import Audience, IntakeClient, OutgoingNotification
from tests.services.recording_intake import RecordingIntake
from tests.support.samples import service_token

ALBUM = OutgoingNotification("ev-1", "hm://notifications/feed/a1%new-album/", "album", msgspec.Raw(b'{"title":"Takk"}'), "a1")


@pytest.fixture
async def intake() -> AsyncIterator[RecordingIntake]:
    async with RecordingIntake() as intake:
        yield intake


@pytest.fixture
async def notifier(intake: RecordingIntake) -> AsyncIterator[IntakeClient]:
    notifier = IntakeClient([intake.url], lambda: service_token("artist"))
    yield notifier
    await notifier.close()


async def pages(*audiences: Audience) -> AsyncIterator[Audience]:
    for audience in audiences:
        yield audience


async def test_an_audience_goes_out_page_by_page_behind_the_notification(intake: RecordingIntake, notifier: IntakeClient) -> None:
    audience = pages(Audience(["ann", "bob"], friend=True, sent=True), Audience(["cyd"]))
    assert (await notifier.notify(ALBUM, audience)).accepted == 3
    ((first, told),) = await intake.told(1)
    assert first == {"id": "ev-1", "topic": ALBUM.topic, "kind": "album", "payload": {"title": "Takk"}, "producer": "a1"}
    assert told == [{"followers": ["ann", "bob"], "friend": True, "sent": True}, {"followers": ["cyd"]}]
    assert intake.headers[0]["Authorization"].startswith("Bearer ")


async def test_a_large_audience_is_fetched_no_faster_than_it_is_taken(intake: RecordingIntake, notifier: IntakeClient) -> None:
    """Memory: pages that were made and not read yet are bounded by the buffers of the connection."""
    made = 0

    async def many() -> AsyncIterator[Audience]:
        nonlocal made
        for n in range(600):
            made += 1
            yield Audience([f"u{n:05d}-{m:040d}" for m in range(1000)])

    intake.gate.clear()
    telling = asyncio.ensure_future(notifier.notify(ALBUM, many()))
    for _ in range(2000):
        await asyncio.sleep(0)
    assert 0 < made < 400
    intake.gate.set()
    assert (await telling).accepted == 600_000


async def test_an_intake_that_does_not_answer_is_given_up(intake: RecordingIntake) -> None:
    impatient = IntakeClient([intake.url], lambda: "t", idle_s=0.05)
    intake.gate.clear()
    with pytest.raises(Unavailable, match="no answer in time"):
        await impatient.notify(ALBUM, pages(Audience(["ann"])))
    intake.gate.set()
    assert (await impatient.notify(ALBUM, pages(Audience(["ann"])))).accepted == 1
    await impatient.close()


@pytest.mark.parametrize(("status", "code"), [(400, "bad-field"), (403, "forbidden"), (409, "conflict"), (413, "too-large")])
async def test_what_will_never_be_taken_is_refused_with_the_code_of_the_intake(
    intake: RecordingIntake, notifier: IntakeClient, status: int, code: str
) -> None:
    intake.answer = lambda: (status, code)
    with pytest.raises(Refused, match=code):
        await notifier.notify(ALBUM, pages(Audience(["ann"])))


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_what_time_or_an_operator_can_mend_may_be_repeated(intake: RecordingIntake, notifier: IntakeClient, status: int) -> None:
    intake.answer = lambda: (status, "unavailable")
    with pytest.raises(Unavailable, match=str(status)):
        await notifier.notify(ALBUM, pages(Audience(["ann"])))
    intake.answer = lambda: (202, "")
    assert (await notifier.notify(ALBUM, pages(Audience(["ann"])))).accepted == 1


async def test_a_status_without_a_code_of_ours_is_refused_all_the_same(intake: RecordingIntake, notifier: IntakeClient) -> None:
    intake.answer = lambda: (400, "made-up")
    with pytest.raises(Refused, match="bad-request"):
        await notifier.notify(ALBUM, pages(Audience(["ann"])))


async def test_after_a_failure_the_next_intake_is_tried(intake: RecordingIntake) -> None:
    notifier = IntakeClient(["http://127.0.0.1:1", intake.url + "/"], lambda: "t")
    with pytest.raises(Unavailable):
        await notifier.notify(ALBUM, pages(Audience(["ann"])))
    assert (await notifier.notify(ALBUM, pages(Audience(["ann"])))).accepted == 1
    await notifier.close()


async def test_an_audience_that_breaks_off_is_not_taken_for_a_whole_one(intake: RecordingIntake, notifier: IntakeClient) -> None:
    async def broken() -> AsyncIterator[Audience]:
        yield Audience(["ann"])
        raise Unavailable("the store is away")

    with pytest.raises(Unavailable):
        await notifier.notify(ALBUM, broken())
    assert (await notifier.notify(ALBUM, pages(Audience(["ann", "bob"])))).accepted == 2
    assert [len(pages[0]["followers"]) for _, pages in intake.taken.values()] == [2]


async def test_without_an_intake_nothing_can_be_told() -> None:
    with pytest.raises(Unavailable, match="no notification intake"):
        await IntakeClient([], lambda: "t").notify(ALBUM, pages())
