"""The events of a client on their way from the socket to those who take them: the application, and watchers of single topics."""

from segue.sdk.errors import Misuse
from segue.sdk.inbox import Inbox
from segue.sdk.messages import Event
from segue.sdk.position_saver import PositionSaver
from segue.sdk.recoverer import Recoverer
from segue.sdk.watchers import Watchers


class EventReader:
    """The reader of one client's events: each reaches the application once, whatever connections have brought it.

    - `limit_bytes`: how much waits for the application.
    - `recoverer`: knows how far each topic has come.
    - `watchers`: hear of their topics, too.
    - `saver`: keeps what the application has taken.
    """

    def __init__(self, limit_bytes: int, recoverer: Recoverer, watchers: Watchers, saver: PositionSaver | None) -> None:
        self._inbox = Inbox(limit_bytes)
        self._recoverer, self._watchers, self._saver = recoverer, watchers, saver
        self._is_iterated = False

    async def hear(self, message: Event, size_bytes: int) -> None:
        """Takes an event from the socket. It waits for room if that is for the application."""
        is_alone = self._watchers.is_alone(message.topic)
        if not is_alone:
            await self._inbox.room()  # first: a position never moves past an event that nobody gets
        event = self._recoverer.take(message)
        if event is None:
            return
        self._watchers.heard(event)
        if not is_alone:
            self._inbox.put(event, size_bytes)
        else:
            self._taken(event)

    async def next(self) -> Event:
        """Returns the next event. Raises what `end` was given, and Misuse where another task waits already. Cancelling it takes none."""
        if self._is_iterated:
            raise Misuse("two tasks iterate over one client, so each event would reach only one of them; use one client each")
        self._is_iterated = True
        try:
            event = await self._inbox.get()
        finally:
            self._is_iterated = False
        self._taken(event)
        return event

    def end(self, error: BaseException) -> None:
        """Ends with `error`, after what has come."""
        self._inbox.end(error)

    def _taken(self, event: Event) -> None:
        if self._saver is not None:
            self._saver.kept.taken(event, is_followed=self._recoverer.is_followed(event.topic))
