"""The channels as dispatch uses them: from notifications to one mail, or to one push (SB-42, SB-44)."""

from collections.abc import Callable, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from infra.kernel.errors import Refused
from infra.runtime.context import Context

from . import unsubscribe
from .email import EmailOptions, Mailer
from .letter import Line, compose, stable_message_id
from .outcome import Outcome, failed
from .push import Pusher, Subscription, collapse_key, push_payload
from .store import Device

# As long as a push service keeps a push for a device that is away.
PUSH_TTL_S: Final = 3 * 86_400


class Mail:
    """The mail channel: mails with an unsubscribe link.

    - `secret`: signs the link.
    - `url`: returns where the link leads.
    - `context`: the clock and the log.
    """

    def __init__(self, options: EmailOptions, secret: bytes, url: Callable[[], str], context: Context) -> None:
        self.mailer = Mailer(options, context.log)
        self._sender, self._secret, self._url, self._wall = options.sender, secret, url, context.wall

    async def mail(self, user: str, address: str, lines: Sequence[Line], zone: str) -> Outcome:
        """See `dispatch.MailChannel`."""
        now_s = self._wall()
        classes = {line.cls for line in lines}
        wish = unsubscribe.UnsubscribeWish(user, classes.pop() if len(classes) == 1 else unsubscribe.ALL)
        link = f"{self._url().rstrip('/')}/v1/unsubscribe/{unsubscribe.issue(self._secret, wish, now_s)}"
        id_ = stable_message_id(user, self._sender, [line.id for line in lines])
        try:
            mail = compose(user, address, self._sender, lines, link, id_, int(now_s * 1000), ZoneInfo(zone))
        except (ValueError, KeyError, Refused) as wrong:  # it would be as wrong the next time
            return failed(str(wrong))
        return await self.mailer.send(mail, address)


class Push:
    """The push channel: pushes to devices."""

    def __init__(self, pusher: Pusher) -> None:
        self._pusher = pusher

    async def push(self, device: Device, line: Line) -> Outcome:
        """See `dispatch.PushChannel`."""
        try:
            payload = push_payload(line)
        except Refused as wrong:
            return failed(str(wrong))
        return await self._pusher.send(Subscription(*device), payload, PUSH_TTL_S, topic=collapse_key(line.id))
