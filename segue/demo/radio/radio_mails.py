"""The mails that came for users of Segue Radio, which a page shows."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

from segue.mailbox.letters import Letters

from .news import RadioNews

MOST_MAILS: Final = 50


class RadioMails:
    """The newest mails of each user. Open pages are told of each by `news`. `wall`: Unix time in seconds."""

    def __init__(self, news: RadioNews, wall: Callable[[], float]) -> None:
        self._news = news
        self._letters: defaultdict[str, Letters] = defaultdict(lambda: Letters(wall, MOST_MAILS))

    def take(self, addresses: Sequence[str], mail: bytes) -> None:
        """Takes a mail to `addresses`, whose local parts are users."""
        for address in addresses:
            user = address.partition("@")[0]
            self._letters[user].take([address], mail)
            self._news.tell(user, "mail", self.of(user)[0])

    def of(self, user: str) -> list[dict[str, Any]]:
        """Returns the mails of `user`, newest first."""
        letters = self._letters[user]
        found = (letters.get(each.id) for each in letters.summaries())
        return [
            {"id": each.id, "from": each.sender, "to": each.to[0], "subject": each.subject, "text": each.text.strip(), "ts_ms": each.ts}
            for each in found
            if each is not None
        ]
