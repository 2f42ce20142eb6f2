"""The walk through a list that a server gives page by page. A server that is wrong or hostile keeps nobody for ever. Pure."""

from typing import Final

from segue.sdk.errors import ProtocolError

MOST_PAGES: Final = 10_000


class PageWalk:
    """The walk through the list that is called `what`. It ends after `MOST_PAGES`, and where a page leads to itself."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._after = ""
        self._pages = 0

    def behind(self, after: str) -> str:
        """Returns `after`, behind which the next page begins. Raises ProtocolError where the walk must end."""
        if after == self._after:
            raise ProtocolError(f"{self._what}: the page behind {after!r} leads there again, so the list would never end")
        self._after, self._pages = after, self._pages + 1
        if self._pages > MOST_PAGES:
            raise ProtocolError(f"{self._what} has more than {MOST_PAGES} pages; is there something else at this address?")
        return after
