"""The webhook channel: messages on their way to endpoints that users have named, and an `Outcome` for each.

An endpoint is a stranger's URL: it is called at public addresses only, over TLS, without redirects, and little is read of the answer. One
that is slow holds up nobody (`HostCaller`).
"""

from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final

import msgspec

from infra.kernel.errors import Refused, Unavailable
from infra.runtime.outgoing.options import OutgoingOptions

from .host_caller import CallBounds, HostCaller
from .outcome import Outcome, delivered, failed, gone, retry
from .push import wait_s
from .webhook import Webhook, check_url, headers_of

MAX_WAITING: Final = 4096
MAX_WAITING_PER_HOST: Final = 64


class WebhookOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of webhooks.

    - `per_user`: how many a user may have; 0: there are none, and what is there is not called.
    - `timeout_s`: for one message, connecting included.
    - `max_connections`: messages under way at once; `max_connections_per_host` of them to one host, and half of them to all hosts that are
      not known to answer soon.
    """

    per_user: Annotated[int, msgspec.Meta(ge=0, le=20)] = 5
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=60)] = 10.0
    max_connections: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 32
    max_connections_per_host: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 4


class WebhookCaller:
    """The connections to endpoints. At most `max_connections` messages are under way, fewer to one host; others wait, in order.

    - `clock`: Unix time in seconds.
    - `outgoing`: where this process may call.

    `outcomes` counts attempts by how they ended.
    """

    def __init__(self, options: WebhookOptions, clock: Callable[[], float], outgoing: OutgoingOptions) -> None:
        self.outcomes: Counter[str] = Counter({"delivered": 0, "retry": 0, "failed": 0, "gone": 0})
        self.private = outgoing.networks()
        self._clock = clock
        bounds = CallBounds(
            under_way=options.max_connections,
            under_way_per_host=options.max_connections_per_host,
            here=MAX_WAITING,
            here_per_host=MAX_WAITING_PER_HOST,
            timeout_s=options.timeout_s,
        )
        self._caller = HostCaller(bounds, outgoing)

    async def call(self, webhook: Webhook, message_id: str, body: bytes) -> Outcome:
        """Makes one attempt to hand `body` over. Raises nothing for what a user said or an endpoint does.

        DELIVERED: the endpoint has answered 2xx. GONE: it has answered 410, and wants no more. FAILED: it may not be called. RETRY: all
        else, also silence for `timeout_s`; then it may get the message twice, with the same id. Cancelling closes the connection.
        """
        outcome = await self._call(webhook, message_id, body)
        self.outcomes[outcome.state.value] += 1
        return outcome

    async def close(self) -> None:
        """Waits for the messages under way (each has its timeout), and closes all connections. May be called twice.

        Cancelling closes them at once.
        """
        await self._caller.close()

    async def _call(self, webhook: Webhook, message_id: str, body: bytes) -> Outcome:
        try:
            url = check_url(webhook.url, self.private)
            answer = await self._caller.post(url, body, lambda: self._headers(webhook, message_id, body))
        except Refused as error:
            return failed(f"the webhook cannot be called: {error.reason}")
        except Unavailable as trouble:
            return retry(str(trouble))
        reason = f"{url.host} answers {answer.status} {answer.body.decode(errors='replace')}"
        return judge_webhook(answer.status, reason, wait_s(answer.headers.get("Retry-After"), self._clock()))

    def _headers(self, webhook: Webhook, message_id: str, body: bytes) -> dict[str, str]:
        now_s = self._clock()
        return headers_of(message_id, webhook.secrets_at(int(now_s * 1000)), now_s, body)


def judge_webhook(status: int, reason: str, retry_after_s: float | None) -> Outcome:
    """Returns what the HTTP `status` of an endpoint means, with `reason` (Standard Webhooks: all but 2xx failed, 410 wants no more)."""
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return delivered(reason)
    return gone(reason) if status == HTTPStatus.GONE else retry(reason, retry_after_s)
