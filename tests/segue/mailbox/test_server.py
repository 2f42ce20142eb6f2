"""A mail server that takes every mail."""

import asyncio
from collections.abc import Sequence
from email.message import EmailMessage

import aiosmtplib
import pytest

from segue.mailbox.server import MAX_CONNECTIONS, MAX_MAIL_BYTES, MAX_RECIPIENTS, MailServer


def letter(text: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", "Hello"
    mail.set_content(text)
    return mail


async def first_byte(reader: asyncio.StreamReader) -> bytes:
    """Returns what the other side says first, one byte of it; nothing where it ends the connection."""
    try:
        return await reader.read(1)
    except ConnectionError:
        return b""


async def test_a_mail_is_taken_with_all_who_it_was_sent_to() -> None:
    taken: list[tuple[Sequence[str], bytes]] = []
    async with MailServer(lambda addresses, mail: taken.append((list(addresses), mail))) as server:
        await aiosmtplib.send(letter("Post"), recipients=["b@example.org", "c@example.org"], hostname="127.0.0.1", port=server.port)
    ((addresses, mail),) = taken
    assert (addresses, b"Subject: Hello" in mail, b"Post" in mail) == (["b@example.org", "c@example.org"], True, True)


async def test_a_mail_that_is_too_large_and_one_address_too_many_are_refused() -> None:
    taken: list[bytes] = []
    async with MailServer(lambda _, mail: taken.append(mail)) as server:
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=server.port) as client:
            with pytest.raises(aiosmtplib.SMTPResponseException):
                await client.send_message(letter(("x" * 70 + "\n") * (MAX_MAIL_BYTES // 70)))
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=server.port) as client:
            many = [f"{n}@example.org" for n in range(MAX_RECIPIENTS + 1)]
            refused, _ = await client.send_message(letter("Post"), recipients=many)
    assert list(refused) == [many[-1]]
    assert len(taken) == 1


async def test_more_connections_than_there_are_places_are_closed() -> None:
    async with MailServer(lambda *_: None) as server:
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(MAX_CONNECTIONS)]
        for reader, _ in opened:
            assert (await reader.readline()).startswith(b"220 ")
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert await first_byte(reader) == b""
        for each in (writer, *(writer for _, writer in opened)):
            each.close()


async def test_it_listens_at_the_port_that_it_is_given_or_says_that_it_cannot() -> None:
    async with MailServer(lambda *_: None) as server:
        with pytest.raises(OSError, match="in use"):
            async with MailServer(lambda *_: None, server.port):
                pass
