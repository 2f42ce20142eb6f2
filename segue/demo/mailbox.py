"""The mail server of the demo, which reads the subjects of mails."""

from collections.abc import Callable, Sequence
from email.parser import BytesHeaderParser
from email.policy import SMTP
from typing import Final

from ..mailbox.server import MailServer

_HEADERS: Final = BytesHeaderParser(policy=SMTP)


class Mailbox(MailServer):
    """A mail server: `async with Mailbox(took) as mailbox:`. `took(address, subject)` is called for each address of each mail."""

    def __init__(self, took: Callable[[str, str], None]) -> None:
        super().__init__(self._read)
        self._told = took

    def _read(self, addresses: Sequence[str], mail: bytes) -> None:
        subject = str(_HEADERS.parsebytes(mail)["Subject"])
        for address in addresses:
            self._told(address, subject)
