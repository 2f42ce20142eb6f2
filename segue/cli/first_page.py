"""The first page of `segue up`, and the mailbox behind it."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from infra.kernel.errors import ConfigError, Unavailable
from infra.kernel.roles import ACCESSPOINT, NOTIFICATION, SOCIAL
from infra.runtime.address import Address
from infra.runtime.door_opener import DoorOpener
from infra.runtime.tokens import Keys
from notification.core import Patience
from notification.email import EmailOptions
from notification.notice import NoticeRequest

from ..cluster.process import Process
from ..cluster.shape import Shape
from ..home.server import HomePage
from ..home.site import ClientPlace, HomeSite
from ..mailbox.letters import Letters
from ..mailbox.server import HOST, MailServer

# Somebody tries it, and looks at the page: a minute, as elsewhere, is long then.
MAILBOX_PATIENCE: Final = Patience(email_s=3.0)


@asynccontextmanager
async def mailbox(shape: Shape, *, is_wanted: bool) -> AsyncIterator[tuple[Shape, Letters | None]]:
    """Runs a mailbox while the block runs, if it is wanted; yields `shape` with mails that go there. Raises ConfigError."""
    if not is_wanted:
        yield shape, None
        return
    letters = Letters(time.time)
    server = MailServer(letters.take, shape.mail_port)
    try:
        await server.__aenter__()
    except OSError as taken:
        raise ConfigError(f"--mail cannot listen on {HOST}:{shape.mail_port} ({taken.strerror}); --port-base N moves all ports") from taken
    try:
        email = EmailOptions(host=HOST, port=server.port, sender="Segue <segue@example.org>", starttls="never")
        yield msgspec.structs.replace(shape, email=email, patience=MAILBOX_PATIENCE), letters
    finally:
        await server.__aexit__()


@asynccontextmanager
async def first_page(
    process: Process, shape: Shape, keys: Keys, doors: DoorOpener, letters: Letters | None
) -> AsyncIterator[HomePage | None]:
    """Serves the first page while the block runs. None where nobody can connect, or where other machines reach this one's doors."""
    points = process.of(ACCESSPOINT)
    if keys.secret is None or not points or not Address(shape.host, 0).is_loopback:
        yield None
        return
    http, ws = doors.scheme("http"), doors.scheme("ws")
    places = {point.site: f"{ws}://{point.address}/v1/connect" for point in reversed(points)}
    services = {name: f"{http}://{found[0].address}" for name in (SOCIAL, NOTIFICATION) if (found := process.of(name))}
    site = HomeSite(
        clients=[ClientPlace(name, places[name]) for name in shape.sites],
        social=services.get(SOCIAL),
        notification=services.get(NOTIFICATION),
        policy=shape.effective_policy,
        mail=letters is not None,
    )

    async def notify(topic: str, kind: str, payload: Mapping[str, Any], followers: Sequence[str], notice_id: str) -> None:
        stored = process.of(NOTIFICATION)[0].stored
        if stored is None:
            raise Unavailable("the notification module is not ready")
        content = msgspec.Raw(msgspec.json.encode(payload))
        request = NoticeRequest(id=notice_id, topic=topic, kind=kind, payload=content, followers=list(followers))
        await stored.intake.take(request, "artist")

    told = notify if NOTIFICATION in services else None
    async with HomePage(keys.secret, site, told, letters, doors, Address(shape.host, shape.page_port)) as page:
        yield page
